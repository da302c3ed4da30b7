"""Disclosure control: counts of patients, and the one rule by which they are written.

The rule is that of health services. Counts of 1 to 7 are hidden, all others rounded to 5, and
percentages are whole numbers of rounded counts. Each total is rounded by itself, so parts need not
add up to it. This stops a reader who subtracts counts of a few patients from each other. It does
not stop one who knows all other patients: on a page of several columns, some count usually crosses
a rounding step with the last patient, and so reveals that patient's outcome.

Code that builds a page, a card or a message passes true counts as `Count`, `Share` and `Rate`, and
sentences with them as `Text`. As strings these have the protected form, so that nothing is
disclosed by mistake. Only the rendering of a page may use the exact form, for the data's owner.
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
        """Return which counts must be hidden: above 0, but below `few`."""
        counts = np.asarray(count)
        return np.asarray((counts > 0) & (counts < self.few))

    def count(self, count: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return counts rounded to `step`, NaN for hidden ones.

        >>> OTHERS.count([0, 3, 8, 62]).tolist()
        [0.0, nan, 10.0, 60.0]
        """
        return np.where(self.is_few(count), np.nan, rounded(count, self.step))

    def share(self, count: npt.ArrayLike, whole: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return rounded counts over rounded totals; NaN where one is hidden or the total 0.

        >>> OTHERS.share([30, 3, 0], [62, 62, 62]).tolist()
        [0.5, nan, 0.0]
        """
        wholes = self.count(whole)
        return self.count(count) / np.where(wholes > 0, wholes, np.nan)

    def show(self, text: str) -> str:
        """Return a `Text` in full for `OWNER`, protected otherwise; other strings as they are."""
        if not isinstance(text, Text):
            return text
        return text.exact if self == OWNER else str(text)


OTHERS, OWNER = RULES = Rule(FEW, STEP), Rule(1, 1)


class Text(str):
    """A text with counts of patients: as a string protected, with `exact` for the data's owner.

    Parameters
    ----------
    template : str
        With a pair of braces for each of the values, as `str.format` has them.
    *values
        Counts, texts and other values to insert.

    Examples
    --------
    >>> text = Text("{} of {} rows", Count(3), Count(62))
    >>> str(text), text.exact
    ('fewer than 8 of 60 rows', '3 of 62 rows')
    """

    exact: str

    def __new__(cls, template: str, *values: object) -> Self:
        """Fill the template in both forms."""
        return cls.by(
            lambda rule: template.format(
                *(rule.show(value) if isinstance(value, str) else value for value in values)
            )
        )

    @classmethod
    def by(cls, write: Callable[[Rule], str]) -> Self:
        """Return the text whose two forms a function writes, given each rule."""
        return cls.of(*map(write, RULES))

    @classmethod
    def of(cls, shown: str, exact: str) -> Self:
        """Return a text with these two forms."""
        text = str.__new__(cls, shown)
        text.exact = exact
        return text

    def __reduce__(self) -> Any:
        """Pickle both forms, for other processes."""
        return Text.of, (str(self), self.exact)

    def capitalize(self) -> "Text":
        """Return the text with a capital first letter, in both forms."""
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
    """A percentage of patients, of rounded counts; the exact form has one decimal.

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
    """A statistic of some patients, such as a quantile: withheld for fewer than `least`.

    >>> OfSome("61 (50 to 72)", 12, least=32), OfSome("icu", 9)
    ('withheld', 'icu')
    """

    def __new__(cls, text: str, patients: int, least: int = FEW, instead: str = WITHHELD) -> Self:
        """Write the text, or `instead` where it is withheld; empty for no patients."""
        exact = OWNER.show(text) if patients > 0 else instead
        return cls.of(str(text) if patients >= least else instead, exact)


@dataclass(frozen=True)
class Rate:
    """The share of patients with an outcome, with a 95 % interval (Wilson 1927).

    Attributes
    ----------
    events, rows : int
        Numerator and denominator of the share.
    patients : int
        Number of independent observations for the interval.
    hidden : bool
        Whether the protected form is withheld because another count is small.
    risk : (float, float, float) or None
        Share and interval by another estimator, for patients with follow-up.
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
    """Return a text whose form is withheld under rules for which `hidden` is true."""
    return Text.by(lambda rule: WITHHELD if hidden(rule) else rule.show(text))


def join_texts(separator: str, texts: Iterable[str]) -> Text:
    """Join texts with a separator, in both forms."""
    parts = list(texts)
    return Text.by(lambda rule: separator.join(map(rule.show, parts)))


NOTE = Text.of(
    f"Counts below {FEW} are withheld, all others rounded to {STEP}; percentages are of rounded "
    "counts. Parts need not add up.",
    "Counts are true, but for those in questions, which are as the description has them.",
)
