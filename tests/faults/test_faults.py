"""The script of faults with a small budget: nothing ends in neither way."""

import random
import shutil
import signal

import pytest
from arrow_types import fuzz_types
from bits import flips
from documents import KINDS as DOCUMENTS
from documents import fuzz_documents
from machine import folder_names, kills, two_runs
from mirror import behaviours
from models import KINDS, fuzz_models
from own_tables import KINDS as TABLES
from own_tables import fuzz_tables, plain_text
from packed_tables import PACKED
from parsers import CORPUS, PARSERS, fuzz, mutant
from project import Project, Row
from run import main, read, write
from structures import structures
from table_commands import COMPARE, FIT, call, together
from table_commands import kills as command_kills
from table_commands import table as patients

pytestmark = pytest.mark.faults


def draws(few, many):
    """A small draw of faults, always the same, and a large one for the long part."""
    return [few, pytest.param(many, marks=pytest.mark.long)]


SPLITS = "data/splits/demo_diabetes.parquet"
# One kind of each form of file and of each way to check its state; every kind in the long part.
MODELS = (
    *("command, CAC, three classes", "command, subtypes", "CACClassifier"),
    *("KMClassifier of GaussianNB", "SupervisedKMeans", "network fnn"),
)
HOWS = (signal.SIGTERM, signal.SIGKILL)
PLAIN = ("delimited text", "spreadsheets", "zip", "cells of sheets")


def few_or_all(kinds, few, many, *first):
    """Return a small draw of the first kinds, and a large one of every kind for the long part."""
    return [(kind, few) for kind in first] + [
        pytest.param(kind, many, marks=pytest.mark.long) for kind in kinds
    ]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    project = Project.copy(tmp_path_factory.mktemp("faults") / "p", (SPLITS,))
    answer = project.run()
    assert answer.code == 0, answer.text
    return project, project.outcome()


@pytest.mark.long
def test_a_killed_command_leaves_the_old_file_or_the_new_one(tmp_path):
    row = command_kills(tmp_path, FIT, signal.SIGKILL, 2)
    assert row.other == 0, row.how


@pytest.mark.parametrize(("how", "times"), few_or_all(HOWS, 1, 2, signal.SIGKILL))
def test_a_killed_comparison_leaves_no_process_and_the_old_page(how, times, tmp_path):
    row = command_kills(tmp_path, COMPARE, how, times, seconds=6.0)
    assert row.other == 0, row.how


@pytest.mark.long
def test_two_commands_that_write_one_file_leave_it_whole(tmp_path):
    folder = patients(tmp_path / "t.csv").parent
    assert call(folder, FIT).code == 0
    assert together(tmp_path, (folder / "m.json").read_bytes(), pairs=1).other == 0


@pytest.mark.long
def test_a_flipped_bit_in_any_kind_of_file_changes_no_value_unseen(unbroken, tmp_path):
    shutil.copytree(unbroken[0].folder, tmp_path / "p", symlinks=True)
    project = Project(tmp_path / "p")
    answer = project.run()
    assert answer.code == 0, answer.text
    rows = flips(project.folder, 5)
    assert len(rows) >= 7
    assert [row.fault for row in rows if row.other] == []


def test_every_server_gives_the_file_or_one_line(tmp_path):
    alone, followed = behaviours(tmp_path, patience=0.2)
    assert (alone.other, followed.other) == (0, 0)
    assert followed.same == followed.tried


@pytest.mark.parametrize("number", draws(8, 20))
def test_every_parser_reads_or_refuses(number, tmp_path):
    assert [row.fault for row in fuzz(tmp_path, range(number)) if row.other] == []


@pytest.mark.parametrize(("kind", "number"), few_or_all(KINDS, 8, 20, *MODELS))
def test_every_model_file_is_refused_or_possible(kind, number, tmp_path):
    (row,) = fuzz_models(tmp_path, range(number), [kind])
    assert row.other == 0, row.how
    assert row.refused > number / 6


@pytest.mark.parametrize("number", draws(200, 400))
def test_no_well_formed_mutant_is_read_that_contradicts_its_place_inputs_or_schema(
    number, tmp_path
):
    rows = list(structures(tmp_path, range(number)))
    assert [row.fault for row in rows if row.other] == []
    assert all(row.same and row.refused for row in rows)


@pytest.mark.parametrize(("kind", "number"), few_or_all(TABLES | PACKED, 20, 60, *PLAIN))
def test_a_mutant_of_a_table_has_the_risks_of_a_plain_reading_or_is_refused(kind, number, tmp_path):
    (row,) = fuzz_tables(tmp_path, range(number), {kind: (TABLES | PACKED)[kind]})
    assert row.other == 0, row.how
    assert row.same > 0
    assert row.refused > number / 10


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("number", draws(40, 100))
def test_a_mutant_of_a_document_is_read_plainly_or_refused(kind, number, tmp_path):
    (row,) = fuzz_documents(tmp_path, range(number), [kind])
    assert row.other == 0, row.how
    assert row.same > 0
    assert row.refused > number / 10


@pytest.mark.parametrize("number", draws(25, 60))
def test_a_column_of_any_arrow_type_in_any_role_is_read_or_refused(number, tmp_path):
    row = fuzz_types(tmp_path, range(number))
    assert row.other == 0, row.how
    assert row.same > 0
    assert row.refused > number / 20


@pytest.mark.parametrize(
    ("text", "ward"),
    [
        ('p,2,3,f,"a, b",yes\n', "a, b"),
        ('p,2,3,f,a"b,yes\n', 'a"b'),
        ('p,2,3,f,"a""b",yes', 'a"b'),
        ('p,2,3,f,"a\r\nb",yes', "a b"),
        ('p,2,3,f,"a\nb,,,,,",yes', None),
        ("p,2,3,f,a,b,yes", None),
        ("p,2,3%,f,a,yes", None),
        ('p,2,"1,250",f,a,yes', None),
    ],
)
def test_the_plain_reading_goes_sign_by_sign_and_gives_up_where_nothing_is_clear(text, ward):
    rows = plain_text(f"patient,age,crp,sex,ward,died\r\n{text}".encode())
    assert (None if rows is None else rows[0]["ward"]) == ward


def test_every_seed_of_the_corpus_is_valid_and_every_file_is_used(tmp_path):
    for seed, parse in PARSERS.values():
        if (CORPUS / seed).exists():
            path = tmp_path / f"whole.{seed.rpartition('.')[2]}"
            path.write_bytes((CORPUS / seed).read_bytes())
            assert parse(path) is not None
    used = {"pointer.dvc", *(seed for seed, _ in PARSERS.values())}  # of mutated documents
    assert {path.name for path in CORPUS.iterdir()} <= used


def test_mutants_are_the_same_for_a_seed_and_differ():
    drawn = [[mutant(b"a,b\n1,2\n", random.Random(i)) for i in range(50)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 25


@pytest.mark.long
def test_killed_and_doubled_runs_end_in_the_same_bytes(unbroken):
    project, expected = unbroken
    assert kills(project, expected, 2, 8.0).same == 2
    assert two_runs(project, expected).refused == 1


@pytest.mark.long
@pytest.mark.slow
def test_a_folder_may_have_any_name(unbroken, tmp_path):
    project, expected = unbroken
    assert folder_names(project, expected, tmp_path, 1).same == 1


def test_a_call_keeps_the_rows_of_earlier_calls(tmp_path):
    path = tmp_path / "f.csv"
    old = [Row("kill", 3, 2, 0, 'a|b, "c"')]
    write(path, [*old, Row("absent", 0, 0, 0, "not run")])
    assert read(path) == old
    for mutants in (5, 4):
        asked = ["--parts", "fuzz", "--mutants", str(mutants), "--csv", str(path)]
        assert main(asked) == 0
        rows = read(path)
        assert rows[:1] == old
        assert [row.tried for row in rows[1:]] == [mutants] * len(PARSERS)
    assert len({row.fault for row in rows}) == len(rows)
