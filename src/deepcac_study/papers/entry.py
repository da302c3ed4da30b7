"""One row of the ledger: a printed cell beside our numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One row of ``ledger.csv``; numbers as text, so that the file is the same bytes each time."""

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
    # The printed number and its standard deviation; empty where there is none.
    printed: str
    printed_sd: str
    # Our number, mean and sample standard deviation over the splits, in the unit of the paper.
    sound: str
    sound_sd: str
    as_published: str
    as_published_sd: str
    difference: str  # our deciding number less the printed one
    # The largest difference that agrees, in the same unit; empty where another rule decides.
    bound: str
    # ``agree``, ``differ``, ``not run``, ``not printed``, ``setting`` (it says what was tried),
    # ``data not rebuildable``, or the status of a run without a score.
    verdict: str
    needs: str  # what is missing where the cell was not run: a file to make, or access to data
    decided_by: str  # the cell's own protocol (`printed.deciding_protocol`); no other decides it
    run: str  # the record that decides, or the number of runs
    sound_verdict: str  # the same rule on our sound number
    derived: str  # why the cell is no evidence of its own; empty for independent cells
    # Printed cells of the other methods in the same table, data set and metric, and how many of
    # them agree with our number too: the null rate of a count is the ratio of their sums.
    rivals: str
    rivals_agree: str
    note: str  # remarks on the printed entry and on ours
