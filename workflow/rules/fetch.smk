rule fetch:
    output:
        raw="data/raw/{source}/{file}",
    log:
        "logs/fetch/{source}/{file}.log",
    wildcard_constraints:
        source="(?!demo_)[^/]+",
        file="[^/]+",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    params:
        # A changed digest in the registry fetches the file again.
        digest=lambda wildcards: registry.file(wildcards.source, wildcards.file).digest,
    script:
        "../scripts/fetch.py"
