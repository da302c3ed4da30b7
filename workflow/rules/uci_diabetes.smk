rule uci_diabetes_simulate:
    output:
        archive="data/raw/demo_uci_diabetes/dataset_diabetes.archive",
    log:
        "logs/simulate/uci_diabetes.log",
    benchmark:
        "logs/benchmarks/simulate/uci_diabetes.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        n=config["demo_records"],
    script:
        "../scripts/uci_diabetes_simulate.py"


rule uci_diabetes_extract:
    input:
        archive="data/raw/{demo}uci_diabetes/dataset_diabetes.archive",
    output:
        tidy="data/tidy/{demo}uci_diabetes/encounters.parquet",
    log:
        "logs/tidy/{demo}uci_diabetes.log",
    benchmark:
        "logs/benchmarks/tidy/{demo}uci_diabetes.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/uci_diabetes_extract.py"


rule diabetes_features:
    input:
        tidy="data/tidy/{demo}uci_diabetes/encounters.parquet",
    output:
        features="data/features/{variant}{demo}{table}.parquet",
        cohort="data/tidy/{demo}uci_diabetes/{variant}cohort_{table}.json",
    log:
        "logs/features/{variant}{demo}{table}.log",
    benchmark:
        "logs/benchmarks/features/{variant}{demo}{table}.tsv"
    wildcard_constraints:
        table="diabetes|diabetes_full",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/diabetes_features.py"
