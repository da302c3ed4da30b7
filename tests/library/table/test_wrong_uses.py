"""Wrong uses of the command: one line that names the thing and the way out, exit code 2."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deepcac.command import main
from deepcac.table import commands
from deepcac.table.command_line.command_options import RETIRED

CASES = {
    "no label": ("fit p.csv", "say which column is the outcome of p.csv: --label COLUMN"),
    "misspelt option": (
        "compare p.csv --labl died",
        r"No such option: --labl.*\(deepcac compare --help",
    ),
    "an option twice": (
        "compare p.csv --label died --by=crp --by age",
        r"--by is given 2 times; give it once, its columns joined by commas \(deepcac compare --help",
    ),
    "misspelt command": ("comparee p.csv", r"No such command 'comparee'.*\(deepcac --help\)"),
    "no table": ("compare --label died", r"Missing argument 'table'.*\(deepcac compare --help\)"),
    "text for a number": (
        "compare p.csv --label died --budget fast",
        "Invalid value for '--budget'",
    ),
    "a measurement as label": ("fit p.csv --label crp", "data row 1: .* or divide the number"),
    "a missing label": (
        "fit hole.csv --label died",
        "hole.csv: 1 question to answer",
    ),
    "a column to leave out that is none": (
        "fit p.csv --description blood.yaml",
        "blood.yaml: .* 'blood'",
    ),
    "a class that is none": (
        "fit p.csv --description dead.yaml",
        "no 'dead'.* there are no, yes",
    ),
    "this folder as table": ("profile . --label died", r"\.: is a folder; name a file"),
    "an open question": ("fit p.csv --description open.yaml", "open.yaml: 1 question to answer"),
    "a description of another table": (
        "fit one_site.csv --description dead.yaml",
        "column 'ward' is not described; add it to the fields of dead.yaml",
    ),
    "clusters without a use": (
        "fit p.csv --label died --clusters 3",
        "--clusters has no use with --method auto; .* k-means or CAC or subtypes",
    ),
    "a weight without a use": (
        "fit p.csv --label died --method k-means --alpha 0.1",
        "--alpha has no use with --method k-means; ask without it, or for --method CAC",
    ),
    "a folder as table": (
        "compare folder --label died",
        "folder: is a folder; name a file",
    ),
    "model and table swapped": (
        "predict p.csv model.json",
        "p.csv: is a table; the model comes first, then the table",
    ),
    "a model that is none": ("predict broken.json p.csv", r"broken\.json: not readable as JSON"),
    "a wrong decimal sign": (
        "compare p.csv --description sign.yaml",
        "sign.yaml: at .*decimalChar",
    ),
    "one column as label and patient": (
        "fit p.csv --description twice.yaml",
        "column 'died' cannot be both the label and the patient",
    ),
    "one site": (
        "compare one_site.csv --label died --site ward",
        "column 'ward' holds 'a' in every row; two sites are needed: name another column",
    ),
    "resamples of other hospitals": (
        "compare p.csv --label died --external one.csv --resamples 5",
        "--resamples has no answer with --external",
    ),
    "minutes for other hospitals": (
        "compare p.csv --label died --external one.csv --budget 20",
        "--budget has no answer with --external",
    ),
    "unlike rows of no other hospital": (
        "compare p.csv --label died --accept-unseen",
        "--accept-unseen is no option any more: leave the column out in the description",
    ),
    "a competing event without a time": (
        "compare p.csv --description untimed.yaml",
        "competing events go with a time",
    ),
    "competing events of a number": (
        "compare p.csv --description above.yaml",
        "has no competing events",
    ),
    "a competing event that is none": (
        "compare three.csv --description none.yaml",
        "column 'died' holds no '4'.* there are",
    ),
    "the event as competing": (
        "compare p.csv --description event.yaml",
        "'yes' cannot be both the event and a competing one",
    ),
    "nothing but competing events": (
        "compare three.csv --description all.yaml",
        "holds 0 and the competing events",
    ),
    "three classes with a time": (
        "compare three.csv --description classes.yaml",
        "has 3 classes .*competing",
    ),
    "text as a follow-up time": (
        "compare p.csv --description text.yaml",
        "column 'patient' is of type string; numbers were expected",
    ),
    "a folder as model": ("predict folder p.csv", "folder: is a folder; name the model that deep"),
    "text in a number": ("fit slip.csv --label died", "slip.csv: 1 question to answer"),
}


QUESTION = {"fields": ["crp"], "question": "Is it a score?", "answers": ["leave out", "keep"]}


def described(table, use):
    lines = [
        f"    - {{name: {name}, type: {'number' if values.dtype == float else 'string'}}}"
        for name, values in table.items()
    ]
    start = ["name: p", "path: p.csv", f"deepcac: {json.dumps(use)}", "schema:", "  fields:"]
    return "\n".join([*start, *lines])


def at_9(**outcome):
    return {"outcome": {"field": "died", "time": "age", "horizon": 9} | outcome}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(100, 2)), columns=["age", "crp"])
    table["patient"] = [f"p{i}" for i in range(100)]
    table["died"] = np.where(rng.random(100) < 0.5, "yes", "no")
    slip = table.astype({"crp": object})
    slip.loc[4, "crp"] = "high"
    hole = table.copy()
    hole.loc[2, "died"] = ""
    for name, frame in {
        "p": table,
        "one": table.assign(died="yes"),
        "one_site": table.assign(ward="a"),
        "ids": table.assign(patient="p1"),
        "three": table.assign(died=np.arange(100) % 3),
        "graded": table.drop(columns="died").assign(grade=np.arange(100) % 3),
        "short": table[:20],
        "slip": slip,
        "hole": hole,
        "there": table.assign(crp=table.crp + 0.01),
    }.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    for name, (frame, use) in {
        "ids_of": (table, {"outcome": {"field": "died"}, "id": "patient"}),
        "blood": (table, {"outcome": {"field": "died"}, "leave_out": {"blood": "asked"}}),
        "dead": (table, {"outcome": {"field": "died", "event": "dead"}}),
        "open": (table, {"outcome": {"field": "died"}, "questions": [QUESTION]}),
        "twice": (table, {"outcome": {"field": "died"}, "patient": "died"}),
        "untimed": (table, {"outcome": {"field": "died", "competing": ["yes"]}}),
        "event": (table, at_9(event="yes", competing=["yes"])),
        "above": (table, at_9(field="crp", above=0, competing=["2"])),
        "none": (table, at_9(competing=["4"])),
        "all": (table, at_9(competing=["1", "2"])),
        "classes": (table, at_9()),
        "text": (table, at_9(time="patient")),
    }.items():
        (tmp_path / f"{name}.yaml").write_text(described(frame, use))
    sign = described(table, {}).replace("number", "number, decimalChar: ';'")
    (tmp_path / "sign.yaml").write_text(sign)
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken.json").write_text("{not a model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_use_is_told_in_one_line(folder, monkeypatch, capsys, case):
    arguments, message = CASES[case]
    before = sorted(folder.rglob("*"))
    monkeypatch.setattr("sys.argv", ["deepcac", *arguments.split()])
    with pytest.raises(SystemExit) as stopped:
        main()
    told = capsys.readouterr()
    assert stopped.value.code == 2
    (line,) = (line for line in told.err.splitlines() if line.startswith("deepcac: "))
    assert re.search(message, line), line
    assert "Traceback" not in told.err
    assert "Usage:" not in told.err
    assert not told.out
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("option", RETIRED)
def test_an_option_that_is_gone_says_what_took_its_place(monkeypatch, capsys, option):
    monkeypatch.setattr("sys.argv", ["deepcac", "compare", "t.csv", f"{option}=1"])
    with pytest.raises(SystemExit) as stopped:
        main()
    (line,) = capsys.readouterr().err.splitlines()
    assert stopped.value.code == 2
    assert f"{option} {RETIRED[option]}" in line


def test_nothing_asked_for_is_answered_by_the_help(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["deepcac"])
    with pytest.raises(SystemExit) as stopped:
        main()
    told = capsys.readouterr()
    assert stopped.value.code == 2
    assert "compare" in told.err + told.out


def test_help_is_no_mistake(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["deepcac", "fit", "--help"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    assert "--method" in capsys.readouterr().out


def test_every_option_of_a_command_is_handed_on():
    tree = ast.parse(Path(commands.__file__).read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    asked = {
        command.name or command.callback.__name__ for command in commands.app.registered_commands
    }
    assert asked <= {function.name for function in functions}
    for function in functions:
        options = {argument.arg for argument in function.args.args}
        used = {
            node.id
            for line in function.body
            for node in ast.walk(line)
            if isinstance(node, ast.Name)
        }
        assert function.name not in asked or options <= used, (function.name, options - used)
