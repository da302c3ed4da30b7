"""Pages with and without `--exact`: hidden and rounded counts in one, the true ones in the other."""

import html
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from described_tables import decided, inferred, use_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lone_patients import lone_patients, page_tables
from typer.testing import CliRunner

from deepcac.scoring.small_cells import STEP, Count
from deepcac.table import comparing
from deepcac.table.audit import auditing
from deepcac.table.columns.described_rows import as_yaml
from deepcac.table.commands import app
from deepcac.table.elsewhere import comparing_places
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.page_sections import OWN, page_text
from deepcac.table.second_table import TableReader

HIDDEN = Count(1)
SECRETS = ("hospice", "east", "kind-Z", "3.9173")
PROSE = ("one patient", "three times", "5 times")  # of the method, not of the table
COMMANDS = {
    "compare": ["compare", "t.csv", "--resamples", "5", "--by", "sex,age,ward"],
    "sites": ["compare", "t.csv", "--site", "hospital", "--by", "ward,sex"],
    "audit": ["audit", "t.csv", "--groups", "phenotype", "--resamples", "5"],
    "validate": ["validate", "t.csv", "--risk", "score", "--by", "sex"],
    "profile": ["profile", "t.csv", "--label", "died"],
}
_HEADS = re.compile(r"rows|events|missing|at risk at .*")
_IN_WORDS = re.compile(rf"(?<![\d.,])({HIDDEN}|\d[\d,]*)(?= (?:rows|patients|events)\b)")
_NUMBERS = re.compile(r"<dt>[^<]*(?:rows|events|died)[^<]*</dt><dd>([^<]*)</dd>", re.I)


def table_of(n, seed, died=None):
    """Return patients of few in some levels, hospitals and groups, with empty cells."""
    rng = np.random.default_rng(seed)
    age, urea = rng.normal(size=(2, n)).round(4)
    chance = 1 / (1 + np.exp(-1.5 * age))
    row = np.arange(n)
    return pd.DataFrame(
        {
            "age": age, "urea": np.where(row < rng.integers(1, 40), np.nan, urea),
            "sex": rng.choice(["f", "m"], n), "score": chance.round(4),
            "ward": np.where(row < rng.integers(1, 20), "icu", rng.choice(["er", "floor"], n)),
            "hospital": rng.choice(["north", "south"], n),
            "phenotype": np.where(row < rng.integers(2, 20), "rare", rng.choice(["a", "b"], n)),
            "died": np.where(rng.random(n) < (chance if died is None else died), "yes", "no"),
        }
    )  # fmt: skip


def with_secrets(frame):
    """Return a table in which two to four patients share a level, and one has an age."""
    frame.loc[[40, 80, 120], "ward"] = "hospice"
    frame.loc[[7, 77, 177], "hospital"] = "east"
    frame.loc[[8, 78, 178, 190], "phenotype"] = "kind-Z"
    frame.loc[9, "age"] = 3.9173
    return frame


def written(folder, frame, command):
    """Write a table, and how it is read."""
    apart = {"compare": ["score", "phenotype"], "audit": ["score"], "sites": ["score", "phenotype"]}
    kept = frame.drop(columns=apart.get(command, []))
    kept.to_csv(folder / "t.csv", index=False)
    (folder / "t.yaml").unlink(missing_ok=True)
    if command != "profile":
        aside = {"sites": [], "audit": ["hospital"]}.get(command, ["hospital"])
        out = dict.fromkeys(aside, "not asked for")
        table = decided(folder / "t.csv", leave_out=out)
        (folder / "t.yaml").write_text(as_yaml(table.description.resource), encoding="utf-8")


def ask(folder, command, *options):
    """Run a command and return its page and its card."""
    if command == "profile":
        (folder / "t.yaml").unlink(missing_ok=True)
    name = "own" if options else "page"
    done = CliRunner().invoke(app, [*COMMANDS[command], *options, "--out", f"{name}.html"])
    assert done.exit_code in (0, None), repr(done.exception)
    (folder / f"{name}.txt").write_text(done.output, encoding="utf-8")
    return folder / f"{name}.html", folder / f"{name}.card.md"


def counts_of(page):
    """Return every count of patients on a page: in tables by their heads, in sentences, on top."""
    found = []
    for head, *rows in page_tables(page):
        columns = [j for j, name in enumerate(head) if _HEADS.fullmatch(name)]
        found += [row[j].partition(" (")[0] for row in rows for j in columns if row[j]]
    text = page.read_text(encoding="utf-8").split("<main")[-1].split("<script")[0]
    found += [part for cell in _NUMBERS.findall(text) for part in re.split(" to | \\(", cell)[:1]]
    return found + in_words(html.unescape(re.sub(r"<[^>]+>", " ", text)))


def in_words(text):
    """Return the counts in sentences, but those of patients whom another study needs."""
    return _IN_WORDS.findall(re.sub(r"needs (?:at least|about) [\d,]+ patients", "", text))


def check_counts(shown, own):
    """Assert that the counts of one page are those of the other, hidden or rounded."""
    assert len(shown) == len(own) > 0
    for count, true in zip(shown, own, strict=True):
        number = true.replace(",", "")
        if number.isdigit():
            assert count in (str(Count(int(number))), "withheld")
        else:
            assert count == true
        if count not in (HIDDEN, "withheld"):
            assert int(count.replace(",", "")) % STEP == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fitted_once(monkeypatch):
    """Fit models for the first of two equal calls only."""

    def first(function):
        made = []

        def answer(*arguments, **options):
            if not made:
                made.append(function(*arguments, **options))
            return made[0]

        return answer

    for module, names in (
        (comparing, ("run_budgeted",)),
        (comparing_places, ("evaluate_folds",)),
        (auditing, ("run_budgeted", "beyond_risk", "assignable")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, first(getattr(module, name)))


@pytest.mark.usefixtures("drawn", "few_contenders", "fitted_once")
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "profile"])
def test_counts_are_hidden_and_rounded_unless_they_are_the_owners(command, folder, monkeypatch):
    n = 243
    frame = with_secrets(table_of(n, seed=len(command)))
    written(folder, frame, command)
    page, card = ask(folder, command)
    for path in filter(Path.exists, (page, card, folder / "page.txt")):
        leaks = [line for line in lone_patients(path, SECRETS) if line not in PROSE]
        assert leaks == [], path.name
    monkeypatch.setattr("deepcac.pages.templating.as_svg", lambda figure: "<svg/>")
    own, own_card = ask(folder, command, "--exact")
    check_counts(counts_of(page), counts_of(own))
    assert (OWN in own.read_text(), OWN in page.read_text()) == (True, False)
    assert re.search(rf"\b{n}\b", " ".join(counts_of(own)))
    assert str((frame.died == "yes").sum()) in counts_of(own)
    assert card.exists() == own_card.exists() == (command != "audit")
    if card.exists():
        texts = [path.read_text(encoding="utf-8") for path in (card, own_card)]
        check_counts(*map(in_words, texts))
        assert f"{n} rows" in texts[1]
        assert f"{n} rows" not in texts[0]


@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(100, 400), st.integers(0, 10**6), st.floats(0.2, 0.8))
def test_the_counts_of_a_profile_are_those_of_the_table(folder, n, seed, died):
    frame = table_of(n, seed, died)
    if frame.died.nunique() < 2:
        return
    written(folder, frame, "profile")
    (page, _), (own, _) = ask(folder, "profile"), ask(folder, "profile", "--exact")
    check_counts(counts_of(page), counts_of(own))
    _, *columns = next(table for table in page_tables(own) if "missing" in table[0])
    missing = {row[0]: int(row[2].split()[0]) for row in columns}
    assert missing == frame.isna().sum().to_dict()
    rates = [table for table in page_tables(own) if "rows" in table[0]]
    for _, *lines in rates:
        sizes = {row[1]: row[2] for row in lines if row[0] == "sex"}
        assert sizes in ({}, frame.sex.value_counts().map(str).to_dict())


def one_more_patient(seed):
    """Return a table with two columns, one of whose parts has all of the other's and one more."""
    rng = np.random.default_rng(seed)
    n, wing = 300, int(rng.integers(40, 120))
    row = np.arange(n)
    return pd.DataFrame(
        {
            "wing": np.where(row < wing, "in", "out"),
            "unit": np.where(row < wing + 1, "in", "out"),
            "age": rng.normal(60, 9, n).round(1),
            "died": np.where(rng.random(n) < 0.5, "yes", "no"),
        }
    ), wing


def deaths_of_one(page):
    """Return what a reader who subtracts the wing from the unit takes for its one patient."""
    (rows,) = [body for head, *body in page_tables(page) if "rows" in head]
    inside = {row[0]: row for row in rows if row[1] == "in"}
    size, share = ([float(inside[name][j].split()[0]) for name in ("wing", "unit")] for j in (2, 4))
    deaths = np.round(np.multiply(size, share) / 100)
    return size[1] - size[0], deaths[1] - deaths[0]


def test_whoever_subtracts_is_told_one_patients_outcome_by_the_owners_page_alone(folder):
    right = {"page": [], "own": []}
    for seed in range(5):
        frame, wing = one_more_patient(seed)
        written(folder, frame, "profile")
        truth = (1, float(frame.died[wing] == "yes"))
        for options in ((), ("--exact",)):
            page, _ = ask(folder, "profile", *options)
            right[page.stem].append(deaths_of_one(page) == truth)
    assert all(right["own"])
    assert not any(right["page"])


@pytest.mark.parametrize("shared", [3, 62])
def test_patients_of_two_tables_are_counted_for_the_owner_and_rounded_for_others(tmp_path, shared):
    rng = np.random.default_rng(0)
    both = pd.DataFrame(rng.normal(size=(400, 3)).round(6), columns=["age", "crp", "urea"])
    both["died"] = np.where(rng.random(400) < 0.4, "yes", "no")
    both["id"] = [f"p{i}" for i in range(400)]
    both.iloc[:200].to_csv(tmp_path / "a.csv", index=False)
    both.iloc[200 - shared :].to_csv(tmp_path / "b.csv", index=False)
    roles = use_of("died", id="id")
    first = read_labelled(inferred(tmp_path / "a.csv", roles))
    remarks = TableReader.of_table(first).labelled(tmp_path / "b.csv", roles, rows=1000)
    told = [line for line in map(page_text, remarks.remarks) if "both tables" in line]
    told += [line for line in map(page_text, remarks.remarks) if "equal to a row" in line]
    assert len(told) == 2
    for line in told:
        assert str(shared) in re.findall(r"\d+", line.exact)
        assert str(Count(shared)).lower() in line.lower()
        assert str(shared) not in re.findall(r"\d+", line)
