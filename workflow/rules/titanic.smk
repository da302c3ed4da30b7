rule titanic_extract:
    input:
        raw="data/raw/titanic/titanic3.csv",
    output:
        tidy="data/tidy/titanic/passengers.parquet",
        cohort="data/tidy/titanic/cohort_titanic.json",
    log:
        "logs/tidy/titanic.log",
    benchmark:
        "logs/benchmarks/tidy/titanic.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/titanic_extract.py"


rule titanic_features:
    input:
        tidy="data/tidy/titanic/passengers.parquet",
    output:
        features="data/features/titanic.parquet",
    log:
        "logs/features/titanic.log",
    benchmark:
        "logs/benchmarks/features/titanic.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        build="titanic",
    script:
        "../scripts/flat_features.py"
