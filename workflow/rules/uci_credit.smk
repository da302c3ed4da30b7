rule uci_credit_extract:
    input:
        raw="data/raw/uci_credit/UCI_Credit_Card.csv",
    output:
        tidy="data/tidy/uci_credit/clients.parquet",
        cohort="data/tidy/uci_credit/cohort_credit.json",
    log:
        "logs/tidy/uci_credit.log",
    benchmark:
        "logs/benchmarks/tidy/uci_credit.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/uci_credit_extract.py"


rule credit_features:
    input:
        tidy="data/tidy/uci_credit/clients.parquet",
    output:
        features="data/features/credit.parquet",
    log:
        "logs/features/credit.log",
    benchmark:
        "logs/benchmarks/features/credit.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        build="credit",
    script:
        "../scripts/flat_features.py"
