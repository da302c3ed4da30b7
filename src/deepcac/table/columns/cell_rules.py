"""How cells of text are read: said by the user, or learnt from a table and kept in its model."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from deepcac.errors import ConfigError, DataError

MISSING = ("na", "n/a", "nan", "null", "none", "<na>", "?", ".", "-")
# What a spreadsheet shows where a formula failed, in several languages.
ERROR_CELLS = (
    "#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!",
    "#nv", "#wert!", "#bezug!", "#zahl!", "#valeur!", "#nombre!", "#nom?", "#¡valor!", "#¡ref!",
    "#¡num!", "#¿nombre?", "#¡div/0!", "#¡nulo!", "#n/d", "#nul!", "#valor!", "#núm!", "#nome?",
    "#valore!", "#rif!", "#n/b", "#waarde!", "#verw!", "#getal!", "#naam?", "#deel/0!",
)  # fmt: skip
ROW_NAMES = "(row names)"  # of a file whose header has no name for its first column
_PATIENT = (
    r"(.*[_ .-])?(patient|subject|person|participant|mrn|pat|subj)([_ .-]?(id|nr|no|num|number))?"
    r"|(.*[_ .-])?p?id"
)
# Names of a column that says whose row it is, and which row.
NAMES_A_PATIENT = re.compile(_PATIENT, re.IGNORECASE)
NAMES_A_ROW = re.compile(
    rf"{_PATIENT}|(.*[_ .-])?(nr|no|number|record|index)|unnamed.*", re.IGNORECASE
)
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
SPACES = "\u00a0\u2007\u2009\u202f"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_SPACES = re.compile(f"[{SPACES}\\s]+")


@dataclass(frozen=True)
class CellRules:
    """What is said of the cells of a table.

    Attributes
    ----------
    decimal : {".", ","} or None
        Sign before the decimals of numbers that are text; the other one stands between thousands.
        None judges by all columns of the file.
    keep_words : tuple of str
        Words that are texts like others, though they usually mean that a value is missing.
    missing : tuple of str
        Further texts or numbers that mean so; ``crp=-8`` is for one column. Without a column a
        number means so in no id, group, site or time.
    categories, numbers : tuple of str
        Columns whose cells are names, or numbers, where they may be either.
    sheet : str or None
        Of a spreadsheet.
    """

    decimal: str | None = None
    keep_words: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    sheet: str | None = None

    def __post_init__(self) -> None:
        for name in ("missing", "categories", "numbers"):
            object.__setattr__(self, name, tuple(map(uniform, getattr(self, name))))
        if self.decimal not in (None, ".", ","):
            raise ConfigError(f"the sign before decimals is . or ,, not {self.decimal!r}")
        both = set(self.categories) & set(self.numbers)
        if both:
            raise ConfigError(f"column {min(both)!r} cannot be both text and a number")

    def missing_words(self) -> tuple[str, ...]:
        """Return the words, in lower case, that mean in every column that a value is missing."""
        exempt = {uniform(word).lower() for word in self.keep_words}
        return tuple(word for word in (*MISSING, *ERROR_CELLS) if word not in exempt)

    def codes(self, column: str, *, names: bool = False) -> tuple[str, ...]:
        """Return the further texts that mean so in a column; numbers of any none of `names`."""
        prefix = f"{column}="
        return tuple(
            text.removeprefix(prefix)
            for text in self.missing
            if text.startswith(prefix)
            or ("=" not in text and not (names and as_number(text) is not None))
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what a model keeps, as JSON-ready data."""
        return {
            "decimal": self.decimal,
            "keep_words": list(self.keep_words),
            "missing": list(self.missing),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "CellRules":
        """Return the rules that `to_dict` wrote; impossible ones are a `DataError`."""
        words = [*content["keep_words"], *content["missing"]]
        if content["decimal"] not in (None, ".", ",") or not all(isinstance(w, str) for w in words):
            raise DataError("how its cells are read is no rule")
        return cls(content["decimal"], tuple(content["keep_words"]), tuple(content["missing"]))


def as_number(text: str) -> float | None:
    """Return the number that a text is, if any."""
    try:
        return float(text)
    except ValueError:
        return None


def uniform(text: str) -> str:
    """Return text in its composed form, without invisible characters, with plain single spaces."""
    seen = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    return _SPACES.sub(" ", seen).strip()


def uniform_names(names: Iterable[str]) -> list[str]:
    """Return names of columns as `uniform` has them."""
    return [uniform(str(name)) for name in names]
