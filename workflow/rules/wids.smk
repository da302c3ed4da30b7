rule wids_simulate:
    output:
        raw="data/raw/demo_wids/training_v2.csv",
    log:
        "logs/simulate/wids.log",
    benchmark:
        "logs/benchmarks/simulate/wids.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        n=config["demo_records"],
    script:
        "../scripts/wids_simulate.py"


# WiDS Datathon 2020: training_v2.csv is read where the user keeps it.
rule wids_extract:
    input:
        raw=lambda wildcards: f"{layout.raw_folder(wildcards.source)}/training_v2.csv",
    output:
        tidy="data/tidy/{source}/encounters.parquet",
    log:
        "logs/tidy/{source}.log",
    benchmark:
        "logs/benchmarks/tidy/{source}.tsv"
    wildcard_constraints:
        source="(demo_)?wids",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/wids_extract.py"


rule wids_mortality:
    input:
        tidy="data/tidy/{demo}wids/encounters.parquet",
    output:
        features="data/features/{demo}wid_mortality.parquet",
        cohort="data/tidy/{demo}wids/cohort_wid_mortality.json",
    log:
        "logs/features/{demo}wid_mortality.log",
    benchmark:
        "logs/benchmarks/features/{demo}wid_mortality.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/wids_mortality.py"
