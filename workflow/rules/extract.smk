# Raw files to tidy tables, one job a source; restricted files are read where the user keeps them.
for known in registry.sources.values():
    for source in layout.with_demo(known) if known.extract else ():

        rule:
            name:
                f"extract_{source}"
            input:
                # Asked for when needed: the folder of restricted files may be missing.
                lambda wildcards, source=source: layout.raw_files(source),
            output:
                layout.tidy_files(source),
            log:
                f"logs/tidy/{source}.log",
            benchmark:
                f"logs/benchmarks/tidy/{source}.tsv"
            priority: FIRST
            conda:
                "../../envs/deepcac.yaml"
            threads: known.extract.threads
            resources:
                mem_mb=grows(known.extract.mem_mb),
            params:
                code=step_code(known, known.extract),
                step=known.extract.model_dump(),
                fetched=source == known.id and not known.restricted,
                n=None,
            script:
                "../scripts/transform.py"
