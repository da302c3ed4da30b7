from deepcac_study.catalogue.record_kinds import GENERATED_RULES

# Features, splits, shared stages, records and scores of open origin, to the default DVC remote.
# They read nothing, so that no value of a data set can be in what they write.
origins = Origins(
    layout,
    jobs_of,
    generators={
        *("synthetic_grid", "skmeans_times", "skmeans_checks", *GENERATED_RULES),
        *(
            f"simulate_{known.id}"
            for known in registry.sources.values()
            if known.simulate
        ),
        *(
            f"features_{entry.id}"
            for entry in registry.datasets.values()
            if entry.features and entry.features.function.startswith("simulate.")
        ),
    },
)


rule share:
    input:
        lambda wildcards: [f for f in shared_files(layout) if not origins.closed(f)],
    log:
        "logs/share.log",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.jobs.sharing.share",
        given=lambda wildcards, input: {
            "root": ".",
            "files": list(input),
            "closed": {f: origins.closed(f) for f in (*input, *pointed_files("."))},
        },
    script:
        "../scripts/call.py"
