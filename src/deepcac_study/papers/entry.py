"""One row of the ledger: a printed cell with our numbers."""

from dataclasses import dataclass, field

SIGNED = {"signed": True}  # a number that is written with its sign


def as_number(text: str) -> float | None:
    """Read a number; None for anything else."""
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class Entry:
    """One row of ``ledger.csv``: numbers have the file's four decimals, None where it is empty."""

    # Where the cell is printed; ``authors`` are the logs of DeepCAC's authors.
    paper: str
    table: str
    # score, alpha, summary, data, other, log; what decides it: a run's score, its tuned alpha,
    # several runs, the data, a rule of its own.
    kind: str
    # Row and column as printed; `item` is the metric or the quantity.
    dataset: str
    method: str
    k: str
    item: str
    printed: str  # as printed: a number, a word, or empty where the paper leaves it out
    printed_sd: float | None
    # Our number, mean and sample standard deviation over the splits, in the unit of the paper.
    sound: float | None
    sound_sd: float | None
    as_published: float | None
    as_published_sd: float | None
    difference: float | None = field(metadata=SIGNED)  # our deciding number less the printed one
    # The largest difference that agrees, in the same unit; None where another rule decides.
    bound: float | None
    # ``agree``, ``differ``, ``not run``, ``not printed``, ``setting`` (it says what was tried),
    # ``data not rebuildable``, or the status of a run without a score.
    verdict: str
    needs: str  # what is missing where the cell was not run: a file to make, or access to data
    decided_by: str  # the only protocol that decides the cell (`printed.deciding_protocol`)
    run: str  # the record that decides, or the number of runs
    sound_verdict: str  # the same rule on our sound number
    derived: str  # why the cell is not independent evidence; empty for independent cells
    # Printed cells of the other methods in the same table, data set and metric, and how many of
    # them agree with our number too: the null rate of a count is the ratio of their sums.
    rivals: int | None
    rivals_agree: int | None
    note: str  # remarks on the printed entry and on ours

    @property
    def printed_value(self) -> float | None:
        """The printed entry as a number, None where it is not one."""
        return as_number(self.printed)
