"""Faults of single columns: constant, unreadable, odd values, names of rows, unclear outcomes."""

import re
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.scoring.censored import FollowUp
from deepcac.scoring.small_cells import FEW, Count, Text
from deepcac.table.columns.cell_texts import NAMES_A_ROW, ROW_NAMES
from deepcac.table.columns.cells import as_texts, is_bytes, is_numeric, numbers, plain
from deepcac.table.columns.description import (
    DATES,
    EVENT,
    KEEP,
    LEAVE_OUT,
    MISSING_VALUES,
    SITE,
    TEXT,
    Outcome,
)
from deepcac.table.findings.examination import (
    DATE_NOTE,
    ExaminedTable,
    Finding,
    ask_to_leave_out,
    leave_out,
)
from deepcac.table.findings.label_leaks import names_a_status
from deepcac.table.reading.odd_numbers import missing_codes, plainly, two_units
from deepcac.table.reading.outcomes import BY_COUNT, BY_NUMBER, alike_spellings, unknown_classes
from deepcac.table.reading.table_encoder import ID_NOTE
from deepcac.types import Array, Flags, Ids

_MOST_LEVELS = 30  # of a column of which another one may be a level
_MOST_COLUMNS = 2_000  # that are compared with each other
_MOST_SPELLINGS = 100  # levels that are compared


def find_unreadable(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that the encoder refuses: an impossible number, two columns of one feature."""
    assert table.encoder  # it fills `unreadable`
    for name, why in table.unreadable.items():
        yield Finding(why, (name,), (LEAVE_OUT,))


def find_no_header(table: ExaminedTable) -> Iterator[Finding]:
    """Find a table in which most names could stand in their columns."""
    alike = [name for name in table.rows.column_names if _is_cell(table, name)]
    if len(alike) > table.rows.num_columns / 2:
        shown = ", ".join(map(repr, alike[:3]))
        text = f"The first line looks like a row ({shown}): is there no header? Add one."
        yield Finding(text, answers=(KEEP,))


def _is_cell(table: ExaminedTable, name: str) -> bool:
    """Return whether a column name looks like one of the column's values."""
    if re.fullmatch(r"[-+]?\d*[.,]?\d+", name):
        return not table.is_text(name)
    return table.is_text(name) and pc.index(table.cells(name), name).as_py() >= 0


def find_spellings(table: ExaminedTable) -> Iterator[Finding]:
    """Find levels that differ in case, spaces or signs only."""
    for name in filter(table.is_text, table.predictors):
        levels = pc.unique(table.cells(name)).drop_null().to_pylist()
        for texts in alike_spellings(levels) if len(levels) <= _MOST_SPELLINGS else ():
            text = (
                f"Column {name!r}: {', '.join(map(repr, texts))} are different levels. Spell them "
                "alike in the file, or keep them apart."
            )
            yield Finding(text, (name,), (KEEP, LEAVE_OUT))


def find_constants(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns of one value, and columns without any."""
    for name in table.predictors:
        values = table.keys(name)
        if values is not None and (values == values[0]).all():
            yield leave_out(name, "empty" if values[0] < 0 else "constant")


def find_duplicates(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that say what another one says, or whether it has one of its levels.

    Of two columns that say the same the last by name stays, wherever they stand in the file.
    """
    names_down = sorted(table.predictors, reverse=True)[:_MOST_COLUMNS]
    codes = {name: table.keys(name) for name in names_down}
    there = {name: values for name, values in codes.items() if values is not None}
    first: dict[bytes, str] = {}
    for name, values in there.items():
        # Levels are alike if they are numbered alike in the order of the rows. Values that are
        # different in most rows that have one are so by chance.
        alike = values if values.max() < np.sum(values >= 0) / 2 else _values(table, name)
        key = alike.tobytes()
        if key in first:
            yield leave_out(name, f"says the same as {first[key]!r}")
        first.setdefault(key, name)
    names = {*first.values()}
    levels: dict[bytes, str] = {}
    for name, values in there.items():
        if name in names and 2 <= values.max() < _MOST_LEVELS:
            for level in range(values.max() + 1):
                levels.setdefault((values == level).tobytes(), name)
    for name in first.values():
        if there[name].max() == 1 and there[name].min() == 0:
            yes = there[name].astype(bool)
            other = levels.get(yes.tobytes()) or levels.get((~yes).tobytes())
            if other is not None:
                yield leave_out(name, f"is one of the levels of {other!r}")


def _values(table: ExaminedTable, name: str) -> Ids:
    """Return a number for each cell that is equal for equal texts of any column."""
    texts = as_texts(table.cells(name)).to_pandas().astype(str).to_numpy()
    return pd.util.hash_array(texts).astype(np.int64)


_FEWEST_STEPS, _MOST_STEPS = 3, 5  # values of a column with a shared code
_FEWEST_COLUMNS, _SHARE = 3, 0.02  # that share it; of the rows
_FEW, _SOME = 0.02, 0.3  # shares of the rows that are above and below
_MOST_VALUES = 12  # that one answer can make missing
_DAY = r"[_ .-]?(\d{1,2}|baseline|bl|admission|first)?"  # weight_kg1, hrt1, age at admission
# Names of a measurement, and the numbers between which it lies in any unit.
_MEASURES = (
    (rf"(age|alter|edad|[aâ]ge){_DAY}", 0, 115),
    (rf"(pulse|puls|heart[_ .-]?rate|hr|hrt|heartrte){_DAY}", 5, 350),
    (rf"(sys(tolic)?[_ .-]?(bp)?|sbp|sysbp){_DAY}", 20, 370),
    (rf"(dia(stolic)?[_ .-]?(bp)?|dbp|diabp){_DAY}", 5, 300),
    (rf"(map|mean[_ .-]?bp|meanbp){_DAY}", 5, 330),
    (rf"(resp(iratory)?[_ .-]?(rate)?|rr){_DAY}", 1, 120),
    (rf"(weight[_ .-]?(kg|lb)?|gewicht|body[_ .-]?weight|wt[_ .-]?kg){_DAY}", 0.2, 1500),
    (rf"(height[_ .-]?(cm|m|in)?|gr[oö](ss|ß)e|ht[_ .-]?cm){_DAY}", 0.2, 280),
    (rf"(bmi){_DAY}", 5, 200),
    (rf"(temp(erature)?[_ .-]?[cf]?){_DAY}", 10, 120),
    (rf"(spo2|sao2|o2[_ .-]?sat){_DAY}", 5, 100),
    (r".*[_ .-](tat|hours?|hrs?)", -np.inf, 24 * 365.25 * 5),
)


def find_odd_values(table: ExaminedTable) -> Iterator[Finding]:
    """Find odd numbers among the predictors, the follow-up times and a label that is divided."""
    numbers = {name: table.numbers(name) for name in table.numeric}
    for name, values in numbers.items():
        yield from odd_values(name, values)
    yield from _shared_codes(numbers)
    if table.outcome is not None:
        yield from odd_outcomes(table.rows, table.description.outcome, table.outcome.follow)


def odd_outcomes(rows: pa.Table, asked: Outcome, follow: FollowUp | None) -> Iterator[Finding]:
    """Find odd follow-up times, and odd numbers in a label that is divided."""
    if asked.time is not None and follow is not None:
        yield from odd_values(asked.time, follow.time, needed=True, ended=follow.ended)
    if asked.above is not None:
        values = numbers(plain(rows[asked.field]), asked.field)
        yield from odd_values(asked.field, values, needed=True)


def odd_values(
    name: str, values: Array, *, needed: bool = False, ended: Flags | None = None
) -> Iterator[Finding]:
    """Find codes for no value, or else two units, among numbers (n,).

    A column that is `needed` (a follow-up time, a label that is divided) cannot be left out. Of
    times, `ended` tells which ones are to an event: many others may be the end of the study, long
    after these.
    """
    codes = missing_codes(name, values, needed=needed, spikes=ended is None)
    for text, code in codes:
        if needed:
            yield Finding(text, (name,), (KEEP,))
        else:
            yield Finding(text, (name,), (MISSING_VALUES, KEEP), (code,))
    seen = values if ended is None else values[ended]
    units = "" if codes else two_units(name, seen, needed=needed)
    if units:
        yield Finding(units, (name,), (KEEP,) if needed else (LEAVE_OUT, KEEP))


def _shared_codes(numbers: Mapping[str, Array]) -> Iterator[Finding]:
    """Find the last of few values in several columns that occurs in the same rows of all.

    Patients differ from question to question; those whose questionnaire is absent do not.
    """
    rows: dict[bytes, list[str]] = {}
    for name, values in numbers.items():
        distinct = np.unique(values[~np.isnan(values)])
        few = _FEWEST_STEPS <= len(distinct) <= _MOST_STEPS
        if few and (np.diff(distinct) == 1).all():
            last = values == distinct[-1]
            if last.mean() >= _SHARE:
                rows.setdefault(last.tobytes(), []).append(name)
    for names in filter(lambda names: len(names) >= _FEWEST_COLUMNS, rows.values()):
        for name in names:
            code = plainly(np.nanmax(numbers[name]))
            text = (
                f"Column {name!r}: {code!r} occurs in the same rows as the last value of "
                f"{len(names) - 1} other columns. If it means no value, list it "
                "under missingValues."
            )
            yield Finding(text, (name,), (MISSING_VALUES, KEEP), (code,))


def find_impossible_values(table: ExaminedTable) -> Iterator[Finding]:
    """Find ages of 455 years and blood pressures of 0."""
    for name in table.numeric:
        limits = [m for names, *m in _MEASURES if re.fullmatch(names, name, re.IGNORECASE)]
        if not limits:
            continue
        low, high = limits[0]
        values = table.numbers(name)
        # What looks like a code for no value is asked about as one.
        codes = [float(code) for _, code in missing_codes(name, values)]
        outside = ((values < low) | (values > high)) & ~np.isin(values, codes)
        # Of a column in another unit, such as ages in months, many are too large.
        if not outside.any() or (values > high).mean() > _FEW or (values < low).mean() > _SOME:
            continue
        distinct = np.unique(values[outside])
        shown = ", ".join(repr(plainly(value)) for value in distinct[:3])
        n = Count(int(outside.sum()))
        text = Text("Column {!r}: {} values such as {} are impossible.", name, n, shown)
        few = len(distinct) <= _MOST_VALUES
        answers = (MISSING_VALUES, KEEP) if few else (LEAVE_OUT, KEEP)
        yield Finding(text, (name,), answers, tuple(map(plainly, distinct)) if few else ())


def _names(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_CODE = _names(
    r"(.*[_ .-])?(types?|codes?|id|group|grp|race|ethnic(ity)?|source|disposition|religion|state|"
    r"birthplace|region|categor(y|ies)|diagnosis|reason|department|ward|occupation|rasse|gruppe)"
    r"([_ .-]?(id|code|no|nr|num))?|race[_ .-]?[a-z]+|[a-z]+(type|code|group|race)"
)
_FEWEST_CODES, _MOST_CODES = 3, 60  # different ones
_DATE = _names(
    r"(.*[_ .-])?(date|datum|fecha|dat|dob|dod|doa|dt)([_ .-].*)?|.*(date|datum|dte)|"
    r"(date|fecha).*|geb\w*dat|(.*[_ .-])?(admitted|admission|born|birth|discharged?|diag(nosis)?|"
    r"death|entry|enrol\w*|onset|visit|surgery|operation|aufnahme|geburt|entlassung)"
)
# Days since 1899 (spreadsheets), 1960 or 1970 from 1902 to 2064; seconds, milliseconds since 1970.
_CLOCKS = ((1_000, 60_000), (1e8, 4e9), (1e11, 4e12))
_FORM = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")
_PERSON = _names(
    r"(.*[_ .-])?((first|last|sur|given|family|full|middle|maiden|patient)[_ .-]?name|name|"
    r"vorname|nachname|pr[eé]nom|nom|nombre|apellidos?)"
)
_FEWEST_PERSONS = 20  # different ones
_SITE = _names(
    r"((study|trial|treat(ing|ment)|enrol\w*|health|care|recruiting|admi\w*|medical)[_ .-])?"
    r"(site|cent(er|re)|clinic|hospital|institution|inst|facility|practice|"
    r"communit(y|ies)|comm|provider|provnum|klinik|zentrum|krankenhaus|h[oô]pital|centro)"
    r"([_ .-]?(id|no|nr|num|number|code|name))?"
)
_SURELY_SITE = _names(r"(study[_ .-]|trial[_ .-])?(site|cent(er|re))([_ .-]?(id|no|nr|code))?")
_ANSWERS = {"yes", "no", "y", "n", "true", "false", "0", "1", "ja", "nein", "oui", "non"}
_MOST_SITES = 0.2  # of the rows
_WEIGHT = _names(
    r"(.*[_ .-])?(samp(ling|le)?|survey|prob(ability)?|inverse|design|case|p|f)?[_ .-]?"
    r"(weights?|wts?|wgt)"
)
_SPREAD = 10  # times the middle, which no body is


def find_codes(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns of whole numbers that have the name of a category."""
    for name in filter(_CODE.fullmatch, table.numeric):
        distinct = np.unique(table.numbers(name))
        distinct = distinct[~np.isnan(distinct)]
        whole = bool((distinct == np.floor(distinct)).all())
        if whole and _FEWEST_CODES <= len(distinct) <= _MOST_CODES:
            yield Finding("codes of a category", (name,), certain=TEXT)


def find_dates(table: ExaminedTable) -> Iterator[Finding]:
    """Find dates, also those that are written as numbers."""
    away = table.description.use.no_predictors()
    for name, field in table.description.fields.items():
        if field.type in DATES and name not in away:
            yield leave_out(name, DATE_NOTE)
    for name in table.numeric:
        values = table.numbers(name)
        if are_days(name, values[~np.isnan(values)]):
            yield leave_out(name, DATE_NOTE)


def are_days(name: str, values: Array) -> bool:
    """Return whether numbers (n,), none NaN, are dates: 20240131, or days since 1899 by their name.

    Such are also seconds since 1970.
    """
    if not len(values) or (values != np.floor(values)).any():
        return False
    low, high = values.min(), values.max()
    if low > 19_000_000 and high < 21_000_000:
        month, day = values // 100 % 100, values % 100
        real = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
        return bool(real.all()) and len(np.unique(values)) >= FEW
    clock = any(first <= low and high <= last for first, last in _CLOCKS)
    return clock and _DATE.fullmatch(name) is not None


def find_forms(table: ExaminedTable) -> Iterator[Finding]:
    """Find an export in which an event or a repeated form is a row, and no patient."""
    marks = tuple(name for name in table.rows.column_names if name.lower() in _FORM)
    if marks:
        text = (
            f"{', '.join(map(repr, marks))}: a row is a form, and not a patient. Make one row of "
            "each patient in the file, or:"
        )
        yield Finding(text, marks, (LEAVE_OUT, KEEP))


def find_persons(table: ExaminedTable) -> Iterator[Finding]:
    """Find text columns of many names."""
    for name in filter(_PERSON.fullmatch, table.predictors):
        cells = table.cells(name)
        if table.is_text(name) and len(pc.unique(cells).drop_null()) >= _FEWEST_PERSONS:
            yield leave_out(name, "names of persons")


def find_site(table: ExaminedTable) -> Iterator[Finding]:
    """Find the first column that has the name of one and several values with many rows."""
    if table.description.use.site is not None:
        return
    for name in filter(_SITE.fullmatch, table.predictors):
        if is_bytes(table.cells(name).type):
            continue
        texts = pc.unique(as_texts(table.cells(name)).drop_null()).to_pylist()
        answers = {text.lower() for text in texts} <= _ANSWERS and not _SURELY_SITE.fullmatch(name)
        if 2 <= len(texts) <= _MOST_SITES * len(table.number) and not answers:
            yield Finding("the site", (name,), certain=SITE)
            return


def find_weights(table: ExaminedTable) -> Iterator[Finding]:
    """Find numbers that have the name of a weight and spread as no body weight does."""
    for name in filter(_WEIGHT.fullmatch, table.numeric):
        values = table.numbers(name)
        if np.nanmin(values) >= 0 and np.nanmax(values) > _SPREAD * np.nanmedian(values):
            yield ask_to_leave_out(name, "spreads as weights of a sample do: is it one?")


_FEWEST = 50  # different texts or numbers from which they may name rows
_SURELY_PLACE = re.compile(rf"__index_level_\d+__|{re.escape(ROW_NAMES)}")
_PLACE = re.compile(
    rf"{_SURELY_PLACE.pattern}|level_0|unnamed: \d+|rownames?|row[._ ](names?|nr|no|number)|index"
    "|x",
    re.IGNORECASE,
)
_MOSTLY_STEPS = 0.9  # of a column that counts the rows of several tables in one
PLACE_NOTE = "it says which row it is"


def find_row_names(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that are another value in (nearly) every row."""
    for name in table.predictors:
        cells = table.cells(name)
        note = PLACE_NOTE if _SURELY_PLACE.fullmatch(name) else ""
        if not note and table.is_text(name):
            note = _free_text(cells)
        elif not note and is_numeric(cells.type) and not pa.types.is_boolean(cells.type):
            values = np.asarray(cells.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
            note = _row_number(name, values, table.number)
        if note:
            yield leave_out(name, note)


def _free_text(cells: pa.ChunkedArray) -> str:
    distinct = len(pc.unique(as_texts(cells).drop_null()))
    if distinct <= max(_FEWEST, (len(cells) - cells.null_count) / 3):
        return ""
    return f"free text or {ID_NOTE}: {distinct:,} different texts"


def _row_number(name: str, values: Array, number: Ids) -> str:
    """Return why numbers (n,) name the rows, if they do."""
    there = np.isfinite(values)
    seen = values[there]
    if len(seen) <= _FEWEST:
        return ""
    distinct = there.all() and len(np.unique(seen)) == len(seen)
    if distinct and (seen == np.floor(seen)).all():
        if NAMES_A_ROW.fullmatch(name) and not _PLACE.fullmatch(name):
            return f"looks like {ID_NOTE}"
        steps = np.diff(seen)
        if _PLACE.fullmatch(name) or (steps == 1).all() or (steps == -1).all():
            return PLACE_NOTE
    if _PLACE.fullmatch(name):
        follows = np.mean(np.diff(seen) == np.diff(number[there])) >= _MOSTLY_STEPS
        return PLACE_NOTE if follows else ""
    return ""


_RARE = 0.05  # share of a class that may be none
_CENSORED = re.compile(r"(.*[_ .-])?cens\w*", re.IGNORECASE)  # 1 may mean that no event came


def find_unclear_outcome(table: ExaminedTable) -> Iterator[Finding]:
    """Find a label of two classes of which either may be the event, and classes that may be none.

    Of 0 and 1 the second is the event, unless it may be that no event came (censored), and of words
    such as yes, died or alive one says it.
    """
    outcome = table.outcome
    if outcome is None or outcome.follow is not None:
        return
    asked = table.description.outcome
    if len(outcome.words) == 2:
        unclear = outcome.reason == BY_COUNT or (
            outcome.reason == BY_NUMBER
            and ("0" not in outcome.words or _CENSORED.fullmatch(asked.field) is not None)
        )
        named = any(word.lower() in asked.field.lower() for word in outcome.words if len(word) > 2)
        if unclear and not named and asked.event is None:
            first, second = outcome.words
            text = f"Column {asked.field!r}: is {first!r} the event, or {second!r}?"
            yield Finding(text, (asked.field,), (f"{EVENT} {first}", f"{EVENT} {second}"))
        return
    counts = np.bincount(outcome.codes, minlength=len(outcome.words))
    rare = [
        n for n, count in zip(outcome.words, counts, strict=True) if count < _RARE * counts.sum()
    ]
    if names_a_status(asked.field):
        text = (
            f"Column {asked.field!r}: an event comes or not, and here are {len(outcome.words)} "
            "classes. Make two of them in the file, or divide a number (outcome: above), if one of "
            "them is the event."
        )
        yield Finding(text, (asked.field,), (KEEP,))
    odd = {*rare, *unknown_classes(outcome.words)}
    for name in [name for name in outcome.words if name in odd][: len(outcome.words) - 2]:
        text = f"Column {asked.field!r}: is {name!r} an outcome, or is it not known in these rows?"
        yield Finding(text, (asked.field,), (KEEP, MISSING_VALUES), (name,))
