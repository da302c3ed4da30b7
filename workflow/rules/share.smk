# Features, splits, shared stages, records and scores of open data, to the default DVC remote.
rule share:
    input:
        shared_files(layout),
    log:
        "logs/share.log",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    script:
        "../scripts/share.py"
