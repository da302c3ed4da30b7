rule physionet2019_simulate:
    output:
        archive="data/raw/demo_physionet2019/training_set{hospital}.archive",
    log:
        "logs/simulate/physionet2019_set{hospital}.log",
    benchmark:
        "logs/benchmarks/simulate/physionet2019_set{hospital}.tsv"
    wildcard_constraints:
        hospital="A|B",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        # Half of the records in each hospital system.
        n=config["demo_records"] // 2,
    script:
        "../scripts/physionet2019_simulate.py"


rule physionet2019_extract:
    input:
        A="data/raw/{demo}physionet2019/training_setA.archive",
        B="data/raw/{demo}physionet2019/training_setB.archive",
    output:
        tidy="data/tidy/{demo}physionet2019/hourly.parquet",
    log:
        "logs/tidy/{demo}physionet2019.log",
    benchmark:
        "logs/benchmarks/tidy/{demo}physionet2019.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 2
    resources:
        mem_mb=1500,
    script:
        "../scripts/physionet2019_extract.py"


rule physionet2019_sepsis:
    input:
        tidy="data/tidy/{demo}physionet2019/hourly.parquet",
    output:
        features="data/features/{variant}{demo}sepsis.parquet",
        cohort="data/tidy/{demo}physionet2019/{variant}cohort_sepsis.json",
    log:
        "logs/features/{variant}{demo}sepsis.log",
    benchmark:
        "logs/benchmarks/features/{variant}{demo}sepsis.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1500,
    script:
        "../scripts/physionet2019_sepsis.py"


rule physionet2019_sepsis_ts:
    input:
        tidy="data/tidy/{demo}physionet2019/hourly.parquet",
    output:
        features="data/features/{demo}sepsis_ts.parquet",
        cohort="data/tidy/{demo}physionet2019/cohort_sepsis_ts.json",
    log:
        "logs/features/{demo}sepsis_ts.log",
    benchmark:
        "logs/benchmarks/features/{demo}sepsis_ts.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/physionet2019_sepsis_ts.py"


rule physionet2019_sepsis_signature:
    input:
        tidy="data/tidy/{demo}physionet2019/hourly.parquet",
    output:
        features="data/features/{demo}sepsis_signature.parquet",
        cohort="data/tidy/{demo}physionet2019/cohort_sepsis_signature.json",
    log:
        "logs/features/{demo}sepsis_signature.log",
    benchmark:
        "logs/benchmarks/features/{demo}sepsis_signature.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        backend=config["signature_backend"],
    script:
        "../scripts/physionet2019_sepsis_signature.py"
