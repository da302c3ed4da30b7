"""Cells of every block in one form: the gate that all tables pass, whatever file they come from."""

from collections import Counter
from collections.abc import Collection, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.scoring.small_cells import format_count
from deepcac.table.columns.cell_rules import (
    ERROR_CELLS,
    INVISIBLE,
    SPACES,
    CellRules,
    as_number,
    uniform_names,
)
from deepcac.table.columns.cells import is_numeric, is_text
from deepcac.table.columns.column_types import plain_type
from deepcac.table.columns.decimal_signs import decimal_signs, with_points

_MINUS = "\u2212"
# Signs between thousands that can stand for nothing else: 1 234,5, 1'234.5, and 1,23,456 (lakh).
_SPACED = r"^[+-]?[1-9]\d{0,2}([ '\x{2019}]\d{3})+([.,]\d+)?$"
_LAKH = r"^[+-]?[1-9]\d?(,\d{2})+,\d{3}(\.\d+)?$"
_PLAIN_NUMBER = r"^-?(0|[1-9]\d*)(\.\d+)?$"  # 007 is a name
_AS_FORMULA = r'^="([^"]*)"$'  # how a spreadsheet keeps the zeros of a text


class CellReader:
    """Reads blocks by rules, and counts what was taken for missing.

    Texts get their composed form (Unicode NFC) without invisible characters and outer spaces;
    words that mean no value become null; numbers get a decimal point, and nothing stands between
    thousands.

    Parameters
    ----------
    rules : CellRules
    usual : {".", ","}, optional
        Sign before decimals where a fitted model saw it; cells that can have one reading only
        come first.
    unread : collection of str
        Columns whose numbers are not asked for, so that their signs are not judged.
    asked : collection of str, optional
        The only columns whose numbers are asked for; all but `unread` if None.
    names : collection of str
        Columns of ids, groups, sites and times, where a number is a code for no value only if it
        is said with its column.
    strict : bool
        Whether a column whose decimals cannot be told is a `DataError`; else it is left as it
        stands, and `mixed` says why.

    Attributes
    ----------
    mixed : dict
        Such columns, with the reason.
    absent : Counter
        (column, word) to the cells in which it was taken for missing; not what the rules name.
    notices : list of str
        Cells with another reading: for a terminal, not for a page.
    grouped : set of str
        Columns of numbers with a sign between thousands.
    """

    def __init__(
        self,
        rules: CellRules | None = None,
        usual: str | None = None,
        unread: Collection[str] = (),
        *,
        asked: Collection[str] | None = None,
        names: Collection[str] = (),
        strict: bool = True,
    ) -> None:
        self.rules = rules or CellRules()
        self.usual = usual
        self.unread = frozenset(unread)
        self.asked = None if asked is None else frozenset(asked)
        self.names = frozenset(names)
        self.strict = strict
        self.mixed: dict[str, str] = {}
        self.absent: Counter[tuple[str, str]] = Counter()
        self.notices: list[str] = []
        self.grouped: set[str] = set()
        self._used: set[str] = set()  # of the texts that are said to mean no value
        self._signs: dict[str, str] = {}
        self._decided = False
        self._judged: set[str] = set()  # columns with cells where the sign was decided
        self._rows = 0
        self._words = pa.array(self.rules.missing_words(), pa.string())

    @property
    def decimal(self) -> str | None:
        """Sign before decimals: as said, else as judged so far."""
        return self.rules.decimal or self.usual

    def read(self, block: pa.RecordBatch) -> pa.RecordBatch:
        """Return a block with its cells in one form."""
        names = uniform_names(block.schema.names)
        columns = [
            self._uniform_column(name, column)
            for name, column in zip(names, block.columns, strict=True)
        ]
        texts = {
            name: column
            for name, column in zip(names, columns, strict=True)
            if is_text(column.type) and self._is_asked(name)
        }
        if self.rules.decimal is None:
            self._judge(texts)
        self._rows += block.num_rows
        signs = self._signs if self.rules.decimal is None else dict.fromkeys(texts, self.decimal)
        read = [
            self._with_points(name, column, str(signs[name]))
            if name in signs and name in texts
            else column
            for name, column in zip(names, columns, strict=True)
        ]
        read = [
            self._without_number_codes(name, column) if name in texts else column
            for name, column in zip(names, read, strict=True)
        ]
        return pa.RecordBatch.from_arrays(read, names=names)

    def _judge(self, texts: dict[str, pa.Array]) -> None:
        """Judge the signs of a block; once one is decided, only of columns that had no cells."""
        if self._decided:
            texts = {
                name: column
                for name, column in texts.items()
                if name not in self._judged | self._signs.keys() and column.null_count < len(column)
            }
        if not texts:
            return
        judged = decimal_signs(texts, self._rows, self.usual, needed=self.asked is not None)
        self._signs |= judged.by_column
        self.usual = self.usual if self._decided else judged.usual or self.usual
        if self._signs and not self._decided:
            self._decided = True
            self._judged = {n for n, column in texts.items() if column.null_count < len(column)}
        self.notices += judged.notices
        self.mixed |= judged.mixed
        if self.strict and self.mixed:
            raise DataError(next(iter(self.mixed.values())))

    def sign(self, name: str) -> str:
        """Return the sign before the decimals of a column."""
        return self._signs.get(name) or self.rules.decimal or "."

    def _with_points(self, name: str, column: pa.Array, decimal: str) -> pa.Array:
        read = with_points(column, decimal)
        if pc.any(pc.greater(pc.utf8_length(column), pc.utf8_length(read))).as_py():
            self.grouped.add(name)
        return read

    def _is_asked(self, name: str) -> bool:
        return name not in self.unread and (self.asked is None or name in self.asked)

    def unused_codes(self) -> list[str]:
        """Return a line on texts that are said to mean no value, and that no cell has."""
        unused = [code for code in self.rules.missing if code not in self._used]
        return [f"No cell is {', '.join(map(repr, unused))}."] if unused else []

    def words_for_missing(self, names: Iterable[str]) -> list[str]:
        """Return a line on the words that were taken for missing in some columns."""
        wanted = set(names)
        absent = {
            (column, word): n
            for (column, word), n in sorted(self.absent.items())
            if column in wanted or word.lower() in ERROR_CELLS
        }
        if not absent:
            return []
        shown = [
            f"{word!r} in {column!r} ({format_count(n)} cells)"
            for (column, word), n in absent.items()
        ]
        rest = f" and {len(shown) - 6} more columns" if len(shown) > 6 else ""
        return [
            f"Read as no value: {', '.join(shown[:6])}{rest}; missingValues in the description "
            "says which words these are."
        ]

    def counted(self, column: str) -> str:
        """Return the words that were taken for missing in a column, with how to keep them."""
        words = {word: n for (name, word), n in self.absent.items() if name == column}
        if not words:
            return ""
        shown = ", ".join(f"{word!r} in {format_count(n)} rows" for word, n in words.items())
        return f" ({shown}; missingValues in the description says which words these are)"

    def _uniform_column(self, name: str, column: pa.Array) -> pa.Array:
        column = plain_type(name, column)
        if is_numeric(column.type):
            return self._without_codes(name, column)
        if not is_text(column.type):
            return column
        column = uniform_text(column.cast(pa.string()))
        lower = pc.utf8_lower(column)
        gone = pc.is_in(lower, value_set=self._words)
        if pc.any(gone).as_py():
            for count in pc.value_counts(column.filter(gone)).to_pylist():
                self.absent[name, count["values"]] += count["counts"]
        codes = self._codes(name)
        if codes:
            said = pc.is_in(column, value_set=pa.array(codes, pa.string()))
            for word in pc.unique(column.filter(said)).to_pylist():
                self._used |= {word, f"{name}={word}"}
            gone = pc.or_(gone, said)
        gone = pc.or_(gone, pc.equal(column, ""))
        return pc.if_else(pc.fill_null(gone, True), pa.scalar(None, pa.string()), column)

    def _without_codes(self, name: str, column: pa.Array) -> pa.Array:
        if pa.types.is_boolean(column.type):
            return column
        for text, code in self._number_codes(name):
            same = pc.fill_null(pc.equal(column.cast(pa.float64(), safe=False), code), False)
            self._used |= {text, f"{name}={text}"} if pc.any(same).as_py() else set()
            column = pc.if_else(same, pa.scalar(None, column.type), column)
        return column

    def _without_number_codes(self, name: str, column: pa.Array) -> pa.Array:
        """Return texts without the numbers that stand for no value: -9.0 is the code -9."""
        nothing = pa.scalar(None, pa.string())
        for text, code in self._number_codes(name):
            plain = pc.match_substring_regex(column, _PLAIN_NUMBER)
            values = pc.if_else(plain, column, nothing).cast(pa.float64())
            same = pc.fill_null(pc.equal(values, code), False)
            self._used |= {text, f"{name}={text}"} if pc.any(same).as_py() else set()
            column = pc.if_else(same, nothing, column)
        return column

    def _codes(self, name: str) -> tuple[str, ...]:
        return self.rules.codes(name, names=name in self.names)

    def _number_codes(self, name: str) -> list[tuple[str, float]]:
        """Return the texts that mean no value in a column and are numbers, with these."""
        pairs = ((text, as_number(text)) for text in self._codes(name))
        return [(text, code) for text, code in pairs if code is not None]


def uniform_text(column: pa.Array) -> pa.Array:
    """Do to a column what `uniform` does to a text, and give numbers a plain minus."""
    if not pc.all(pc.string_is_ascii(column)).as_py():
        column = pc.utf8_normalize(column, form="NFC")
        column = pc.replace_substring_regex(column, f"[{INVISIBLE}]", "")
        column = pc.replace_substring_regex(column, f"[{SPACES}]", " ")
        column = pc.replace_substring_regex(column, rf"^{_MINUS}(\d)", r"-\1")
    column = pc.utf8_trim_whitespace(column)
    if pc.any(pc.match_substring_regex(column, r"  |[\t\r\n\f\v]")).as_py():
        column = pc.replace_substring_regex(column, r"[ \t\r\n\f\v]+", " ")
    if pc.any(pc.starts_with(column, '="')).as_py():
        column = pc.replace_substring_regex(column, _AS_FORMULA, r"\1")
    for pattern, signs in ((_SPACED, " '\u2019"), (_LAKH, ",")):
        if pc.any(pc.match_substring_regex(column, f"[{signs}]")).as_py():
            apart = pc.match_substring_regex(column, pattern)
            column = pc.if_else(apart, pc.replace_substring_regex(column, f"[{signs}]", ""), column)
    return column
