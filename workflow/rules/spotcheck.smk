# Shipped records, drawn at random and made again from raw files in a folder of their own.
# It has no output: a page that tells of a difference must outlive the failed job.
rule spotcheck:
    log:
        "logs/spotcheck.log",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    # `workflow.cores` would refuse every call without `--cores`, such as that of a cluster.
    threads: workflow.resource_settings.cores or 1
    params:
        project=str(project),
        folder="spotcheck",
        asked={name: config[name] for name in ("draws", "seed", "minutes")},
        places={
            name: config[name]
            for name in ("mirrors", "restricted", "signature_backend")
        },
    script:
        "../scripts/spotcheck.py"
