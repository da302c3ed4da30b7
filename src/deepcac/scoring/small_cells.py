"""Counts of patients, and the one rule by which they are written.

The rule is that of health services. Counts of 1 to 7 are hidden, all others rounded to 5, and
percentages are whole numbers of rounded counts. Each total is rounded by itself, so parts need not
add up to it. This stops a reader who subtracts counts of a few patients from each other. It does
not stop one who knows all other patients: some count of a page of several columns crosses a step
of rounding with the last one, and so usually tells that patient's outcome.

Whoever builds a page, a card or a message gives true counts as `Count`, `Share` and `Rate`, and
sentences with them as `Text`. These are strings for other readers, so that nothing is told by
mistake. Only what renders a page may ask for the other form, which is the owner's.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from deepcac.scoring.statistics import wilson
from deepcac.task import FEW, STEP, rounded
from deepcac.types import Flags

WITHHELD = "withheld"


@dataclass(frozen=True)
class Rule:
    """How counts of patients are written.

    Attributes
    ----------
    few : int
        Smaller counts are hidden.
    step : int
        All others are rounded to multiples of it.
    """

    few: int
    step: int

    def is_few(self, count: npt.ArrayLike) -> Flags:
        """Return which counts are of some patients, but too few to be written."""
        counts = np.asarray(count)
        return np.asarray((counts > 0) & (counts < self.few))

    def count(self, count: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return counts rounded to `step`; NaN in place of one of few patients.

        >>> OTHERS.count([0, 3, 8, 62]).tolist()
        [0.0, nan, 10.0, 60.0]
        """
        return np.where(self.is_few(count), np.nan, rounded(count, self.step))

    def share(self, count: npt.ArrayLike, whole: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return shares of rounded counts in rounded wholes; NaN where one is hidden or empty.

        >>> OTHERS.share([30, 3, 0], [62, 62, 62]).tolist()
        [0.5, nan, 0.0]
        """
        wholes = self.count(whole)
        return self.count(count) / np.where(wholes > 0, wholes, np.nan)

    def show(self, text: str) -> str:
        """Return a text as the rule has it."""
        if not isinstance(text, Text):
            return text
        return text.exact if self == OWNER else str(text)


OTHERS, OWNER = RULES = Rule(FEW, STEP), Rule(1, 1)


class Text(str):
    """A text with counts of patients: the string is for others, `exact` for their owner.

    Parameters
    ----------
    template : str
        With a pair of braces for each of the values, as `str.format` has them.
    *values
        Counts, texts and whatever else stands in it.

    Examples
    --------
    >>> text = Text("{} of {} rows", Count(3), Count(62))
    >>> str(text), text.exact
    ('fewer than 8 of 60 rows', '3 of 62 rows')
    """

    exact: str

    def __new__(cls, template: str, *values: object) -> Self:
        """Fill both forms."""
        return cls.by(
            lambda rule: template.format(
                *(rule.show(value) if isinstance(value, str) else value for value in values)
            )
        )

    @classmethod
    def by(cls, write: Callable[[Rule], str]) -> Self:
        """Return the text that a function writes by each of the two rules."""
        return cls.of(*map(write, RULES))

    @classmethod
    def of(cls, shown: str, exact: str) -> Self:
        """Return a text whose two forms are known."""
        text = str.__new__(cls, shown)
        text.exact = exact
        return text

    def __reduce__(self) -> Any:
        """Keep both forms on the way to another process."""
        return Text.of, (str(self), self.exact)

    def capitalize(self) -> "Text":
        """Return the text with a capital."""
        return Text.of(str(self).capitalize(), self.exact.capitalize())


class Count(Text):
    """A number of patients.

    >>> Count(1202), Count(3), Count(0)
    ('1,200', 'fewer than 8', '0')
    """

    def __new__(cls, count: int) -> Self:
        """Write the count by both rules."""
        return cls.by(
            lambda rule: f"fewer than {FEW}" if rule.is_few(count) else f"{rule.count(count):,.0f}"
        )


class Share(Text):
    """A percentage of patients: a whole number of rounded counts; with a digit for their owner.

    >>> Share(31, 62), Share(2, 62), Share(2, 62).exact
    ('50 %', 'withheld', '3.2 %')
    """

    def __new__(cls, count: int, whole: int) -> Self:
        """Write the percentage by both rules."""

        def write(rule: Rule) -> str:
            share = 100 * float(rule.share(count, whole))
            return WITHHELD if np.isnan(share) else f"{share:.{int(rule == OWNER)}f} %"

        return cls.by(write)


class OfSome(Text):
    """What is known of some patients, such as a quantile: others see it of `least` or more.

    >>> OfSome("61 (50 to 72)", 12, least=32), OfSome("icu", 9)
    ('withheld', 'icu')
    """

    def __new__(cls, text: str, patients: int, least: int = FEW, instead: str = WITHHELD) -> Self:
        """Write the text, or what stands instead of it; of nobody there is none."""
        exact = OWNER.show(text) if patients > 0 else instead
        return cls.of(str(text) if patients >= least else instead, exact)


@dataclass(frozen=True)
class Rate:
    """How often an outcome is, with a 95 % interval (Wilson 1927).

    Attributes
    ----------
    events, rows : int
        The share is that of these counts.
    patients : int
        As of so many independent ones is the interval.
    hidden : bool
        Whether others see none, because another count is of few patients.
    risk : (float, float, float) or None
        Share and interval by another estimator, for patients who are followed.
    """

    events: int
    rows: int
    patients: int
    hidden: bool = False
    risk: tuple[float, float, float] | None = None

    def under(self, rule: Rule) -> tuple[float, float, float]:
        """Return the share and the ends of its interval, NaN where they are hidden."""
        few = rule.is_few([self.events, self.rows, self.patients]).any()
        if few or not self.rows or (self.hidden and rule != OWNER):
            return (np.nan,) * 3
        if self.risk is not None:
            return self.risk
        share = np.atleast_1d(rule.share(self.events, self.rows))
        (low,), (high,) = wilson(share, rule.count([self.patients]))
        return float(share[0]), float(low), float(high)

    @property
    def text(self) -> Text:
        """The rate in percent."""

        def write(rule: Rule) -> str:
            share, low, high = (100 * end for end in self.under(rule))
            return WITHHELD if np.isnan(share) else f"{share:.0f} % ({low:.0f} to {high:.0f})"

        return Text.by(write)


def withheld(text: str, hidden: Callable[[Rule], bool]) -> Text:
    """Return a text, withheld where `hidden` by a rule."""
    return Text.by(lambda rule: WITHHELD if hidden(rule) else rule.show(text))


def join_texts(separator: str, texts: Iterable[str]) -> Text:
    """Return texts with a separator between them."""
    parts = list(texts)
    return Text.by(lambda rule: separator.join(map(rule.show, parts)))


NOTE = Text.of(
    f"Counts below {FEW} are withheld, all others rounded to {STEP}; percentages are of rounded "
    "counts. Parts need not add up.",
    "Counts are true, but for those in questions, which are as the description has them.",
)
