"""A call that is refused ends with one line: the reason, the nearest names, the way out."""

import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator

from snakemake.exceptions import MissingRuleException, WorkflowError

from deepcac.errors import DeepCACError
from deepcac_study.catalogue.near_names import nearest

# How Snakemake writes down what a function of a rule raised.
_RAISED = re.compile(r"^ *(\w+): (.+?)(?=\n *Wildcards:|\Z)", re.MULTILINE | re.DOTALL)
_CONSTRAINT = re.compile(r"\{(\w+),[^{}]*\}")
_NOT_MADE = re.compile(r"No rule to produce (\S+)")


class Refusals(logging.Filter):
    """Print errors that name their reason in one line, without Snakemake's traceback.

    Snakemake prints an exception while it handles it, wherever it was raised: in a rules file, in
    the function of a rule's inputs, of the workflow itself or of a module. With ``--verbose`` it
    still shows the traceback.

    Parameters
    ----------
    targets : callable
        Returns the names of rules and the files that they make.
    """

    def __init__(self, targets: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._targets = targets

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True; the text of an error that names its reason is that reason."""
        error = sys.exc_info()[1]
        if record.levelno >= logging.ERROR and error is not None:
            line = self._line(error)
            if line:
                record.msg, record.args = f"error: {line}", ()
        return True

    def _line(self, error: BaseException) -> str:
        reason = reason_of(error)
        if reason:
            return reason
        match = _NOT_MADE.match(str(error)) if isinstance(error, MissingRuleException) else None
        if not match:
            return ""
        near = nearest(match[1], (_CONSTRAINT.sub(r"{\1}", name) for name in self._targets()))
        hint = f"near names: {', '.join(near)}" if near else "snakemake --list lists the rules"
        return f"nothing makes {match[1]}; {hint}"


def reason_of(error: BaseException) -> str:
    """Return the text of an error of ours, or of that which Snakemake's was raised for; else ''."""
    text = str(error) if isinstance(error, DeepCACError) else ""
    if isinstance(error, WorkflowError):
        ours = {kind.__name__ for kind in _kinds(DeepCACError)}
        text = next((match[2] for match in _RAISED.finditer(str(error)) if match[1] in ours), "")
    return " ".join(text.split())


def _kinds(kind: type[DeepCACError]) -> Iterator[type[DeepCACError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)
