rule synth_pairs:
    output:
        rows="data/features/synth_pairs.parquet",
        nodes="data/features/synth_pairs_nodes.parquet",
        columns="data/features/synth_pairs_columns.parquet",
        pairs="data/features/synth_pairs_pairs.parquet",
    log:
        "logs/features/synth_pairs.log",
    benchmark:
        "logs/benchmarks/features/synth_pairs.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/synth_pairs.py"


# The whole grid in one job: starting Python takes longer than generating a cell.
rule synthetic_cac:
    output:
        features=expand(
            "data/features/synthetic_cac_i{ics}_o{ocs}_c{clusters}{ratio}.parquet",
            ics=["000", "020", "050", "100", "150", "200"],
            ocs=["100", "150", "200"],
            clusters=[2, 3, 5, 10, 15, 20, 30],
            ratio=["", "_1to10"],
        ),
    log:
        "logs/features/synthetic_cac.log",
    benchmark:
        "logs/benchmarks/features/synthetic_cac.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/synthetic_cac.py"
