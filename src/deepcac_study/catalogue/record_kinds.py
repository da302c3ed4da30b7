"""Kinds of records that are no runs: the folder that tells each, and what makes it.

A new question of the judge is declared here, with its rule in ``workflow/rules/judge.smk``.
"""

from dataclasses import dataclass

JUDGED = "judge"
GENERATED = "planted_"  # how the names of records of generated cohorts begin
# Folders of results with records of one kind, or with tables.
NO_RUNS = ("theory", "case_study", "profiles", "decomposition", "bias_variance")
OTHERS = (*NO_RUNS, "sweeps", "skmeans")


@dataclass(frozen=True)
class JudgeKind:
    """Records of one question of the judge, below ``results/judge``.

    Attributes
    ----------
    folder : str
    maker : str
        Module of ``deepcac_study`` that makes them.
    generated : str or None
        How the names of those begin that are of generated cohorts; empty where all are. They read
        no data, so they may be shared.
    generator : str
        Module that makes these, if it is another.
    """

    folder: str
    maker: str
    generated: str | None = None
    generator: str = ""

    @property
    def place(self) -> str:
        """How the paths of the records begin, relative to ``results``."""
        return f"{JUDGED}/{self.folder}/"

    @property
    def makers(self) -> dict[str, str]:
        """What makes a record, by the beginning of its path; the first that fits counts."""
        planted = {self.place + (self.generated or ""): self.generator} if self.generator else {}
        return {**planted, self.place: self.maker}


JUDGE_KINDS = (
    JudgeKind("planted", "judge.power", generated=""),
    JudgeKind("tables", "judge.tables.table_trials"),
    JudgeKind("clinical", "judge.trial_files"),
    JudgeKind(
        "transfer",
        "judge.further.transfer",
        generated=GENERATED,
        generator="judge.further.planted_moves",
    ),
    JudgeKind("scorecards", "judge.further.scorecards", generated=GENERATED),
    JudgeKind("richer_labels", "judge.further.richer_labels"),
)
JUDGE_FOLDERS = tuple(kind.folder for kind in JUDGE_KINDS)
# How the paths of records of generated cohorts begin, and the rules that make them.
GENERATED_PLACES = tuple(
    kind.place + kind.generated for kind in JUDGE_KINDS if kind.generated is not None
)
GENERATED_RULES = tuple(
    f"judge_planted_{kind.folder}" if kind.generated else f"judge_{kind.folder}"
    for kind in JUDGE_KINDS
    if kind.generated is not None
)
