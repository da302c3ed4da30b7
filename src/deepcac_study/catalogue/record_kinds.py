"""Folders below ``results`` that hold records of other kinds than single runs.

A new question of the judge is declared here, with its rule in ``workflow/rules/judge.smk``.
"""

JUDGED = "judge"
# Folders of results with records of one kind, or with tables.
NO_RUNS = ("theory", "case_study", "decomposition", "bias_variance")
OTHERS = (*NO_RUNS, "sweeps", "skmeans")
# Folders of the judge; those of other names hold the trials of a data set.
JUDGE_FOLDERS = ("planted", "tables", "clinical", "by_size")
# Second runs of clinical tasks, in folders of `clinical`; no verdict of the plan reads them.
SECOND_RUNS = KNOWN_THEN, BY_PLACE = ("known_then", "by_place")
# Records of generated cohorts read no data, so they may be shared, and the rules that make them.
GENERATED_PLACES = ("judge/planted/",)
GENERATED_RULES = ("judge_planted",)
