"""Which clinical tables hold the same patients: rows that are equal in what both tables measure.

    python benchmarks/shared_patients.py data/tidy MIRROR

``shared_patients.yaml`` says what each table measures. Of every pair of tables, sets of common
quantities are tried that few rows agree in by chance, and the patients of the smaller table are
counted who have an equal row in the other. By chance: the same after one quantity was moved by so
many places, in the order of its values, that no row has its value any more. Every quantity keeps
its distribution then, and a row keeps values near its own, so that what goes together still does.
Where patients are shared, moved values are those of others of them: chance is overestimated.

Tables whose file is lacking are left out. Files of R need ``pip install rdata``.
"""

import argparse
from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml
from scipy import stats

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "shared_patients.csv"
SHARP = 0.2  # a set of quantities is tried if fewer patients than this agree by chance
LARGEST = 6  # quantities in a set
LEAST = 0.01  # of the smaller table: fewer equal patients are no finding
LEVEL = 1e-6
MOVES = 5
DECIMALS = 3
# A quotient of two measurements differs with what they were rounded to, and goes with both.
FEWER_DECIMALS = {"bmi": 1}
MADE_OF = {"bmi": {"height", "weight"}}
COMPLETE = 100  # patients who have all quantities of a set, in each table
SHARED, NONE, TOO_FEW = "shared", "none seen", "too few columns"
STILL = ["Age", "Gender"]  # of a stay of PhysioNet 2012
WHOLE = ("patients", "equal", "most_by_chance")
Codes = npt.NDArray[np.int64]


class Measured(NamedTuple):
    """Quantities, a column each, and whose every row is."""

    values: pd.DataFrame
    who: npt.NDArray[Any]


def read(declared: Mapping[str, Any], tidy: Path, mirror: Path) -> Measured | None:
    """Read a declared table; None where its file is lacking."""
    path = (tidy if declared["file"].endswith(".parquet") else mirror) / declared["file"]
    if not path.exists():
        return None
    if path.suffix == ".rda":
        from rdata import read_rda

        (table,) = read_rda(path).values()
    else:
        table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    table = _panels(table) if path.stem == "events" else table
    if "rows" in declared:
        table = table.query(declared["rows"], engine="python")
    values = {
        name: pd.to_numeric(table.eval(expression, engine="python"), errors="coerce").astype(float)
        for name, expression in declared["quantities"].items()
    }
    who = table[declared["who"]] if "who" in declared else pd.Series(np.arange(len(table)))
    return Measured(pd.DataFrame(values).reset_index(drop=True), who.to_numpy())


def _panels(events: pd.DataFrame) -> pd.DataFrame:
    """Return what was measured in a minute as a row, with what does not change."""
    wide = events.astype({"parameter": str}).pivot_table(
        "value", ["record_id", "minute"], "parameter", aggfunc="first"
    )
    wide[STILL] = wide[STILL].groupby("record_id").transform("first")
    return wide.reset_index()


def digits(values: pd.Series) -> int:
    """Return how many decimals nearly all values have, at most `DECIMALS`."""
    for places in range(DECIMALS):
        scaled = values.dropna().to_numpy() * 10.0**places
        if np.mean(np.abs(scaled - np.round(scaled)) < 0.02) > 0.99:
            return places
    return DECIMALS


def codes(first: pd.Series, second: pd.Series) -> tuple[Codes, Codes]:
    """Return both as whole numbers, equal where the values are, and -1 where there is none.

    Values have the decimals of the coarser table; an age in whole years is cut, not rounded.
    """
    places = [digits(values) for values in (first, second)]
    coarse = min(*places, FEWER_DECIMALS.get(str(first.name), DECIMALS))
    cut = first.name == "age" and coarse == 0
    both = np.concatenate([first, second]) * 10.0**coarse
    numbers, _ = pd.factorize(np.floor(both + (1e-6 if cut else 0.5)))
    return numbers[: len(first)].astype(np.int64), numbers[len(first) :].astype(np.int64)


def by_chance(*sides: Codes) -> float:
    """Return how often rows of both are equal, at most: by how often two rows of one table are."""
    alike = []
    for side in sides:
        counts = np.bincount(side[side >= 0]).astype(float)
        rows = counts.sum()
        alike.append(counts @ (counts - 1) / (rows * (rows - 1)) if rows > 1 else 1.0)
    return float(np.sqrt(np.prod(alike)))


def key_sets(chances: Mapping[str, float], rows: int) -> Iterator[tuple[str, ...]]:
    """Yield sets of quantities that are sharp, and none that holds a smaller one that is."""
    sharp: list[frozenset[str]] = []
    for names in chain(*(combinations(chances, size) for size in range(1, LARGEST + 1))):
        one_row = float(np.prod([chances[name] for name in names]))
        needless = any(smaller <= {*names} for smaller in sharp)
        made = any(MADE_OF.get(name, set()) & {*names} for name in names)
        if not needless and not made and 1 - np.exp(-rows * one_row) < SHARP:
            sharp.append(frozenset(names))
            yield names


def equal_people(
    sides: tuple[Measured, Measured], coded: Mapping[str, tuple[Codes, Codes]]
) -> tuple[int, list[int], int]:
    """Count who of the first side has an equal row in the second: in fact, and after each move.

    The last is how many have all quantities, in the smaller side; without enough no move is made.
    """
    full = [np.all([pair[s] >= 0 for pair in coded.values()], axis=0) for s in (0, 1)]
    who, others = (pd.unique(side.who[rows]) for side, rows in zip(sides, full, strict=True))
    size = min(len(who), len(others))
    if size < COMPLETE:
        return 0, [], size
    first, second = (np.stack([pair[s] for pair in coded.values()], 1)[full[s]] for s in (0, 1))
    base = np.cumprod([1, *(np.maximum(first.max(axis=0), second.max(axis=0))[:-1] + 1)])
    ties = [int(np.bincount(column).max()) for column in second.T]
    place = int(np.argmin(ties))
    order, counts = np.argsort(second[:, place], kind="stable"), []
    for move in range(MOVES + 1):
        moved = second.copy()
        moved[order, place] = np.roll(second[order, place], ties[place] * move)
        equal = np.isin(first @ base, moved @ base)
        counts.append(int(pd.unique(sides[0].who[full[0]][equal]).size))
    return counts[0], counts[1:], size


def people(side: Measured) -> int:
    return int(pd.unique(side.who).size)


def compare(first: Measured, second: Measured) -> dict[str, Any]:
    """Return how many patients two tables share, by the set of quantities that shows most."""
    first, second = sorted((first, second), key=people)
    names = [name for name in first.values if name in second.values]
    coded = {name: codes(first.values[name], second.values[name]) for name in names}
    chances = {name: by_chance(*pair) for name, pair in coded.items()}
    tried = []
    for key in key_sets(chances, len(second.values)):
        equal, chance, size = equal_people((first, second), {name: coded[name] for name in key})
        if chance and max(chance) < SHARP * size:
            tried.append((equal - max(chance), key, equal, chance, size))
    row: dict[str, Any] = {"quantities": len(names), "sets": len(tried), "verdict": TOO_FEW}
    if tried:
        excess, key, equal, chance, size = max(tried)
        # The largest of the moves as what is expected: moves of one table are not independent.
        p = stats.poisson.sf(equal - 1, max(chance) + 1) * len(tried)
        row["verdict"] = SHARED if excess > LEAST * size and p < LEVEL else NONE
        row |= {"by": " ".join(key), "patients": size, "equal": equal}
        row |= {"by_chance": round(float(np.mean(chance)), 1), "most_by_chance": max(chance)}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tidy", type=Path, help="data/tidy")
    parser.add_argument("mirror", type=Path, help="raw files of no registry entry")
    given = parser.parse_args()
    declared = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8")).items()
    tables = {
        name: table for name, entry in declared if (table := read(entry, given.tidy, given.mirror))
    }
    rows = [
        {"first": first, "second": second}
        | {"first_patients": people(tables[first]), "second_patients": people(tables[second])}
        | compare(tables[first], tables[second])
        for first, second in combinations(tables, 2)
    ]
    table = pd.DataFrame(rows).astype(dict.fromkeys(WHOLE, "Int64"))
    table.to_csv(RESULTS, index=False, lineterminator="\n")
    print(table[table["verdict"] == SHARED].to_string(index=False))


if __name__ == "__main__":
    main()
