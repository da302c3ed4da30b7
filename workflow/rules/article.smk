# The article, from the tables that ship. Typst is not in the environment of the workflow: locks/article.txt.
rule article:
    input:
        text=project / "paper/article.typ",
        about=project / "paper/metadata.yaml",
        tables=collect(
            f"{project}/docs/results/{{name}}",
            name=[
                "summary.csv",
                "headline.csv",
                "judge_verdicts.csv",
                "judge_planted.csv",
                "judge_forest.svg",
            ],
        ),
    output:
        "results/article.pdf",
    log:
        "logs/article.log",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    script:
        "../scripts/article.py"
