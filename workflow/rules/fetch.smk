rule fetch:
    output:
        raw="data/raw/{source}/{file}",
    log:
        "logs/fetch/{source}/{file}.log",
    wildcard_constraints:
        # Other folders there are people's own: restricted files may lie in data/raw as well.
        source="|".join(
            name for name, entry in registry.sources.items() if not entry.restricted
        ),
        file="[^/]+",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    params:
        # A changed digest in the registry fetches the file again.
        digest=lambda wildcards: registry.file(wildcards.source, wildcards.file).digest,
    script:
        "../scripts/fetch.py"
