rule uci_magic_extract:
    input:
        raw="data/raw/uci_magic/magic04.data",
    output:
        tidy="data/tidy/uci_magic/events.parquet",
        cohort="data/tidy/uci_magic/cohort_magic.json",
    log:
        "logs/tidy/uci_magic.log",
    benchmark:
        "logs/benchmarks/tidy/uci_magic.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/uci_magic_extract.py"


rule magic_features:
    input:
        tidy="data/tidy/uci_magic/events.parquet",
    output:
        features="data/features/magic.parquet",
    log:
        "logs/features/magic.log",
    benchmark:
        "logs/benchmarks/features/magic.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        build="magic",
    script:
        "../scripts/flat_features.py"
