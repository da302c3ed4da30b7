rule physionet2012_simulate:
    output:
        archives=expand(
            "data/raw/demo_physionet2012/set-{part}.archive", part=list("abc")
        ),
        outcomes=expand(
            "data/raw/demo_physionet2012/Outcomes-{part}.txt", part=list("abc")
        ),
        subtypes="data/raw/demo_physionet2012/subtypes.csv",
        notice="data/raw/demo_physionet2012/SYNTHETIC.txt",
    log:
        "logs/simulate/physionet2012.log",
    benchmark:
        "logs/benchmarks/simulate/physionet2012.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        n=config["demo_records"],
    script:
        "../scripts/physionet2012_simulate.py"


rule physionet2012_extract:
    input:
        archives=expand(
            "data/raw/{{demo}}physionet2012/set-{part}.archive", part=list("abc")
        ),
        outcomes=expand(
            "data/raw/{{demo}}physionet2012/Outcomes-{part}.txt", part=list("abc")
        ),
    output:
        events="data/tidy/{demo}physionet2012/events.parquet",
        outcomes="data/tidy/{demo}physionet2012/outcomes.parquet",
    log:
        "logs/tidy/{demo}physionet2012.log",
    benchmark:
        "logs/benchmarks/tidy/{demo}physionet2012.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 2
    resources:
        mem_mb=2000,
    script:
        "../scripts/physionet2012_extract.py"


rule physionet2012_features:
    input:
        events="data/tidy/{demo}physionet2012/events.parquet",
        outcomes="data/tidy/{demo}physionet2012/outcomes.parquet",
    output:
        features="data/features/{variant}{demo}{target}.parquet",
        cohort="data/tidy/{demo}physionet2012/{variant}cohort_{target}.json",
    log:
        "logs/features/{variant}{demo}{target}.log",
    benchmark:
        "logs/benchmarks/features/{variant}{demo}{target}.tsv"
    wildcard_constraints:
        target="cic|cic_los",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/physionet2012_features.py"
