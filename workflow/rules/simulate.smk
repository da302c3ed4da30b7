# Raw files of the demo's cohorts, in the formats of their sources.
for known in registry.sources.values():
    if known.simulate:
        raw_files = layout.generated_files(known.id)

        rule:
            name:
                f"simulate_{known.id}"
            output:
                raw_files or directory(layout.raw_folder(f"demo_{known.id}")),
            log:
                f"logs/simulate/{known.id}.log",
            benchmark:
                f"logs/benchmarks/simulate/{known.id}.tsv"
            conda:
                "../../envs/deepcac.yaml"
            resources:
                mem_mb=grows(known.simulate.mem_mb),
            params:
                code=step_code(known, known.simulate),
                step=known.simulate.model_dump(),
                fetched=False,
                n=config["demo_records"],
            script:
                "../scripts/transform.py"


# The whole grid in one job: starting Python takes longer than generating a cell.
rule synthetic_grid:
    output:
        features=expand(
            "data/features/synthetic_cac_i{ics}_o{ocs}_c{clusters}{ratio}.parquet",
            ics=["000", "020", "050", "100", "150", "200"],
            ocs=["100", "150", "200"],
            clusters=[2, 3, 5, 10, 15, 20, 30],
            ratio=["", "_1to10"],
        ),
    log:
        "logs/features/synthetic_grid.log",
    benchmark:
        "logs/benchmarks/features/synthetic_grid.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        code=code_digest("deepcac_study.simulate.synthetic_cac"),
        call="deepcac_study.simulate.synthetic_cac.write_cells",
        given=lambda wildcards, output: {"paths": list(output.features)},
    script:
        "../scripts/call.py"
