rule uci_adult_extract:
    input:
        train="data/raw/uci_adult/adult.data",
        test="data/raw/uci_adult/adult.test",
    output:
        tidy="data/tidy/uci_adult/people.parquet",
        cohort="data/tidy/uci_adult/cohort_adult.json",
    log:
        "logs/tidy/uci_adult.log",
    benchmark:
        "logs/benchmarks/tidy/uci_adult.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/uci_adult_extract.py"


rule adult_features:
    input:
        tidy="data/tidy/uci_adult/people.parquet",
    output:
        features="data/features/{variant}adult.parquet",
    log:
        "logs/features/{variant}adult.log",
    benchmark:
        "logs/benchmarks/features/{variant}adult.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/adult_features.py"
