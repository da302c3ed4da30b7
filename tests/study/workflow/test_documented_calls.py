"""Every call of Snakemake that people are shown is planned, or answered from a small finished run."""

from collections import defaultdict
from pathlib import Path

import pytest
from checkouts import checkout, snakemake
from described_tables import inferred
from documented_calls import Call, documented_calls, lines_of, read_call
from stores import bucket  # noqa: F401 (a fixture)

from deepcac_study.private_data_set import add_table

pytestmark = pytest.mark.slow

# These recipes are followed to the letter, with the data set and the method that they add.
RECIPES = ("wisconsin", "config/ward.yaml", "config/rows.yaml")
CALLS = [call for call in documented_calls() if not any(name in call.line for name in RECIPES)]
PLANNED = [call for call in CALLS if not call.answers]
ANSWERED = [call for call in CALLS if call.answers]
SMALL = ["--directory", ".test"]
RUNS = "results/demo_diabetes/runs.csv"


def groups() -> dict[tuple[str, ...], list[Call]]:
    """Return what differs in its targets only, and can be planned at once."""
    together = defaultdict(list)
    for call in PLANNED:
        together[call.options].append(call)
    return dict(together)


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A clone with the table that the page on your table adds."""
    folder = checkout(tmp_path_factory.mktemp("documented"))
    rows = [f"{i},{i % 7},{'sick' if i % 3 else 'well'}" for i in range(60)]
    (folder / "tumours.csv").write_text("\n".join(["size,age,diagnosis", *rows]) + "\n")
    add_table(inferred(folder / "tumours.csv", "diagnosis"), "tumours", folder)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A clone with the catalogue's small run, to its report."""
    folder = checkout(tmp_path_factory.mktemp("finished"))
    snakemake(folder, *SMALL, "--cores", "1", timeout=900)
    return folder


def test_calls_are_found_in_blocks_in_sentences_and_in_profiles(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\nX=$PWD/y snakemake --cores 8 all   # comment\nsnakemake -n > plan.txt\n```\n"
        "Call `snakemake --summary`, or `.venv/bin/snakemake`, and\n`snakemake --cores 2\njudge`.\n"
    )
    assert list(lines_of(page)) == [
        *("snakemake --cores 8 all", "snakemake -n"),
        *("snakemake --summary", "snakemake --cores 2 judge"),
    ]
    call = read_call("page", "snakemake --config a=1 --cores 2 -- judge")
    assert (call.options, call.targets) == (("--config", "a=1"), ("judge",))
    profiles = {name for call in CALLS for name in call.options if name.startswith("workflow/")}
    kinds = ("slurm", "lsf", "cluster-generic", "kubernetes", "gpu")
    assert profiles == {f"workflow/profiles/{name}" for name in kinds}


def test_a_target_that_an_option_before_it_swallows_is_refused():
    assert read_call("page", "snakemake --configfile a.yaml -- judge").targets == ("judge",)
    with pytest.raises(ValueError, match="page: .*: write -- before judge"):
        read_call("page", "snakemake --configfile a.yaml judge --cores 2")


def test_a_call_in_a_block_or_with_a_file_starts_as_it_stands():
    """Without `--cores`, an executor or `-n` it does not; only a rule's name may stand for a run."""
    bare = [call for call in CALLS if not call.starts]
    assert [c for c in bare if c.options or any("/" in target for target in c.targets)] == []


# What most people type; the others take the same way through other options.
QUICK = (("--configfile", "config/demo.yaml"),)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(options, marks=[pytest.mark.long] * (options not in QUICK))
        for options in groups()
    ],
    ids=lambda options: " ".join(options) or "none",
)
def test_it_is_planned(options, clone, request):
    targets = {target for call in groups()[options] for target in call.targets or ["all"]}
    if "workflow/profiles/kubernetes" in options:
        pytest.importorskip("moto")
        here = request.getfixturevalue("bucket")
        options = [here if word.startswith("s3://") else word for word in options]
        options += ["--configfile", ".test/config/config.yaml"]  # asks for each file by itself
    said = snakemake(clone, *options, "--dry-run", "--", *sorted(targets))
    assert "This was a dry-run" in said or "Nothing to be done" in said


@pytest.mark.long
def test_it_is_answered_from_a_finished_run(finished):
    asked = {(call.options, call.targets) for call in ANSWERED}
    for options, targets in sorted(asked):
        own = [word for word in options if word not in ("--configfile", "config/demo.yaml")]
        cores = ["--cores", "1"] if "--touch" in own else []
        said = snakemake(finished, *SMALL, *own, *cores, "--", *targets)
        assert "Traceback" not in said, options
    assert (finished / ".test" / "report.zip").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    "asked",
    [
        ["--summary", RUNS],
        ["--detailed-summary"],
        ["--list-rules"],
        ["--filegraph"],
        ["--d3dag"],
        ["--dag"],
        ["--cleanup-metadata", RUNS],
        ["--delete-all-output", "--dry-run"],
    ],
    ids=" ".join,
)
def test_snakemakes_other_answers_need_no_cores(finished, asked):
    said = snakemake(finished, *SMALL, *asked)
    assert "Traceback" not in said
