rule weka_uci_extract:
    input:
        raw=lambda wildcards: f"data/raw/weka_uci/{wildcards.name.replace('_', '-')}.arff",
    output:
        tidy="data/tidy/weka_uci/{name}.parquet",
        cohort="data/tidy/weka_uci/cohort_uci_{name}.json",
    log:
        "logs/tidy/weka_uci/{name}.log",
    benchmark:
        "logs/benchmarks/tidy/weka_uci/{name}.tsv"
    wildcard_constraints:
        name="[a-z_]+",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/weka_uci_extract.py"


rule uci20_features:
    input:
        tidy="data/tidy/weka_uci/{name}.parquet",
    output:
        features="data/features/uci_{name}.parquet",
    log:
        "logs/features/uci_{name}.log",
    benchmark:
        "logs/benchmarks/features/uci_{name}.tsv"
    wildcard_constraints:
        name="[a-z_]+",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        build="uci20",
    script:
        "../scripts/flat_features.py"
