"""A call that is refused ends with one line: the reason, the nearest names, the way out."""

import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from snakemake.exceptions import MissingInputException, MissingRuleException, WorkflowError

from deepcac.errors import DeepCACError
from deepcac_study.catalogue.near_names import nearest

# How Snakemake writes down what a function of a rule raised.
_RAISED = re.compile(r"^ *(\w+): (.+?)(?=\n *Wildcards:|\Z)", re.MULTILINE | re.DOTALL)
_CONSTRAINT = re.compile(r"\{(\w+),[^{}]*\}")
# Errors on a file that no rule makes, and where their text names it; of several files the first.
_NOT_MADE = {
    MissingRuleException: re.compile(r"No rule to produce (\S+)"),
    MissingInputException: re.compile(r"affected files:\n\s*(\S+)"),
}


class Refusals(logging.Filter):
    """Print errors that name their reason in one line, without Snakemake's traceback.

    Snakemake prints an exception while it handles it, wherever it was raised: in a rules file, in
    the function of a rule's inputs, of the workflow itself or of a module. With ``--verbose`` it
    still shows the traceback.

    Parameters
    ----------
    rules : callable
        Returns Snakemake's rules: their names and outputs are what can be asked for.
    """

    def __init__(self, rules: Callable[[], Iterable[Any]]) -> None:
        super().__init__()
        self._rules = rules

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True; the text of an error that names its reason is that reason."""
        error = sys.exc_info()[1]
        if record.levelno >= logging.ERROR and error is not None:
            line = self._line(error)
            if line:
                record.msg, record.args = f"error: {line}", ()
        return True

    def _line(self, error: BaseException) -> str:
        reason, pattern = reason_of(error), _NOT_MADE.get(type(error))
        match = pattern.search(str(error)) if pattern else None
        if reason or not match:
            return reason
        targets = (str(name) for rule in self._rules() for name in (rule.name, *rule.output))
        near = nearest(match[1], (_CONSTRAINT.sub(r"{\1}", target) for target in targets))
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
