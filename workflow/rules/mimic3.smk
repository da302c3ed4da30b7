rule mimic3_simulate:
    output:
        raw=directory("data/raw/demo_mimic3"),
    log:
        "logs/simulate/mimic3.log",
    benchmark:
        "logs/benchmarks/simulate/mimic3.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        n=config["demo_records"],
    script:
        "../scripts/mimic3_simulate.py"


# MIMIC-III: the credentialed tables are read where the user keeps them; the demo is open.
rule mimic3_extract:
    input:
        raw=lambda wildcards: Path(
            layout.raw_folder(wildcards.source),
            "mimic-iii-demo.archive" if wildcards.source == "mimic3_demo" else "",
        ),
    output:
        stays="data/tidy/{source}/stays.parquet",
        hourly="data/tidy/{source}/hourly.parquet",
        first_day="data/tidy/{source}/first_day.parquet",
        whole_stay="data/tidy/{source}/whole_stay.parquet",
        quality="data/tidy/{source}/quality.parquet",
    log:
        "logs/tidy/{source}.log",
    benchmark:
        "logs/benchmarks/tidy/{source}.tsv"
    wildcard_constraints:
        source="mimic3|mimic3_demo|demo_mimic3",
    conda:
        "../../envs/deepcac.yaml"
    threads: 2
    resources:
        mem_mb=4000,
    script:
        "../scripts/mimic3_extract.py"


# {sample} is "_demo" for the open demo: ards_demo comes from mimic3_demo, demo_ards is generated.
rule mimic3_ards:
    input:
        stays="data/tidy/{demo}mimic3{sample}/stays.parquet",
        first_day="data/tidy/{demo}mimic3{sample}/first_day.parquet",
        whole_stay="data/tidy/{demo}mimic3{sample}/whole_stay.parquet",
    output:
        features="data/features/{variant}{demo}ards{sample}.parquet",
        cohort="data/tidy/{demo}mimic3{sample}/{variant}cohort_ards{sample}.json",
    log:
        "logs/features/{variant}{demo}ards{sample}.log",
    benchmark:
        "logs/benchmarks/features/{variant}{demo}ards{sample}.tsv"
    wildcard_constraints:
        sample="(_demo)?",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=3000,
    script:
        "../scripts/mimic3_ards.py"


rule mimic3_ards_ts:
    input:
        stays="data/tidy/{demo}mimic3{sample}/stays.parquet",
        first_day="data/tidy/{demo}mimic3{sample}/first_day.parquet",
        hourly="data/tidy/{demo}mimic3{sample}/hourly.parquet",
    output:
        features="data/features/{demo}ards_ts{sample}.parquet",
        cohort="data/tidy/{demo}mimic3{sample}/cohort_ards_ts{sample}.json",
    log:
        "logs/features/{demo}ards_ts{sample}.log",
    benchmark:
        "logs/benchmarks/features/{demo}ards_ts{sample}.tsv"
    wildcard_constraints:
        sample="(_demo)?",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    script:
        "../scripts/mimic3_ards_ts.py"
