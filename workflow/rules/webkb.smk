rule webkb_extract:
    input:
        archive="data/raw/webkb/webkb-data.archive",
    output:
        pages="data/tidy/webkb/pages.parquet",
        words="data/tidy/webkb/words.parquet",
        links="data/tidy/webkb/links.parquet",
    log:
        "logs/tidy/webkb.log",
    benchmark:
        "logs/benchmarks/tidy/webkb.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=2000,
    script:
        "../scripts/webkb_extract.py"


rule webkb_features:
    input:
        pages="data/tidy/webkb/pages.parquet",
        words="data/tidy/webkb/words.parquet",
        links="data/tidy/webkb/links.parquet",
    output:
        rows="data/features/webkb_{kind}.parquet",
        nodes="data/features/webkb_{kind}_nodes.parquet",
        columns="data/features/webkb_{kind}_columns.parquet",
        pairs="data/features/webkb_{kind}_pairs.parquet",
        cohort="data/tidy/webkb/cohort_webkb_{kind}.json",
    log:
        "logs/features/webkb_{kind}.log",
    benchmark:
        "logs/benchmarks/features/webkb_{kind}.tsv"
    wildcard_constraints:
        kind="[nl]",
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/webkb_features.py"
