rule everything:
    """The papers, our study and what decides no claim, with one report."""
    input:
        beside_the_papers(),
        rules.all.input,
    localrule: True


rule optional:
    """Raw files of the demo without which its real tables are left out."""
    input:
        layout.optional_files(),
    localrule: True


rule features:
    """The features of every configured data set."""
    input:
        layout.feature_files(),
    localrule: True


rule splits:
    """The splits of every configured data set."""
    input:
        layout.split_files(),
    localrule: True


rule cac:
    """The classical runs of the CAC papers."""
    input:
        run_files(layout.runs("cac")),
    localrule: True


rule deep:
    """The runs of networks."""
    input:
        run_files(layout.runs("deep")),
    localrule: True


rule skmeans:
    """The paper on supervised k-means."""
    input:
        to_make(layout.skmeans_files()),
    localrule: True


rule class_decomposition:
    """The paper on class decomposition."""
    input:
        to_make(layout.decomposition_files()),
    localrule: True


rule judge:
    """Our study: do clusters help a tuned model?"""
    input:
        to_make(study_files),
    localrule: True
