"""The simulated schedule of a whole run, against cases worked by hand and its two bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedule import Job, fill, read_plan, simulate, ways

PLAN = """\
Building DAG of jobs...
rule extract:
    output: data/a.parquet
    jobid: 1
    benchmark: logs/benchmarks/tidy/a.tsv
    resources: mem_mb=1000
[Sun Nov 22 04:24:57 2026]
rule build_features:
    input: data/a.parquet, data/raw/c.csv
    output: data/b.parquet, data/b.json
    jobid: 2
    benchmark: logs/benchmarks/features/b.tsv
    threads: 2
rule build_features:
    input: data/a.parquet
    output: data/c.parquet
    jobid: 3
    benchmark: logs/benchmarks/features/c.tsv
rule all:
    input: data/b.json, data/c.parquet
    jobid: 0
rule all:
    input: data/b.json, data/c.parquet
    jobid: 0
Job stats:
"""


def test_a_plan_is_read_with_the_seconds_that_are_known(tmp_path):
    for name, seconds in (("tidy/a", "3.5"), ("features/b", "8.0")):
        path = tmp_path / f"{name}.tsv"
        path.parent.mkdir()
        path.write_text(f"s\th:m:s\n{seconds}\t0:00:03\n")
    read = read_plan(PLAN, [tmp_path])
    assert read == [
        Job("extract", (), 3.5),
        Job("build_features", (0,), 8.0, 2),
        Job("build_features", (0,), None),
        Job("all", (1, 2), 0.0),
    ]
    whole, told = fill(read)
    assert whole[2].seconds == 8.0  # the median of the features that were measured
    assert (told["build_features", False], told["build_features", True]) == (1, 1)


def test_a_rule_without_any_time_is_refused_unless_stated():
    with pytest.raises(SystemExit, match="report"):
        fill([Job("report")])
    assert fill([Job("report")], {"report": 4.0})[0] == [Job("report", (), 4.0)]


# a(3) -> c(2), b(2) -> d(4); the way from b is 6 seconds long, that from a 5.
FOUR = [Job("a", (), 3.0), Job("b", (), 2.0), Job("c", (0,), 2.0), Job("d", (1,), 4.0)]


@pytest.mark.parametrize(
    ("jobs", "nodes", "cores", "overhead", "seconds"),
    [
        (FOUR, 1, 1, 0.0, 11.0),
        (FOUR, 1, 2, 0.0, 6.0),
        (FOUR, 64, 2, 0.0, 6.0),
        (FOUR, 2, 1, 1.0, 8.0),  # each way has two jobs
        # The wide job needs both cores of one node: a and b run first, it waits for both.
        ([Job("w", (), 1.0, 2), Job("a", (), 3.0), Job("b", (), 2.0)], 1, 2, 0.0, 4.0),
        ([Job("w", (), 1.0, 2), Job("a", (), 3.0), Job("b", (), 2.0)], 2, 2, 0.0, 3.0),
        ([Job("w", (), 1.0, 8)], 1, 2, 0.0, 1.0),  # no more threads than the node has cores
        ([Job("all", (), 0.0)], 1, 1, 5.0, 0.0),  # a target costs nothing
    ],
)
def test_schedules_worked_by_hand(jobs, nodes, cores, overhead, seconds):
    assert simulate(jobs, nodes, cores, overhead) == seconds


@st.composite
def graphs(draw):
    jobs = []
    for i in range(draw(st.integers(1, 25))):
        needs = draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else set()
        jobs.append(Job("job", tuple(sorted(needs)), draw(st.integers(1, 20)) * 1.0))
    return jobs


@given(graphs(), st.integers(1, 4), st.integers(1, 3))
def test_no_schedule_beats_its_bounds_and_none_is_worse_than_grahams(jobs, nodes, cores):
    m, work, longest = nodes * cores, sum(job.seconds for job in jobs), max(ways(jobs)[0])
    seconds = simulate(jobs, nodes, cores)
    assert max(work / m, longest) <= seconds + 1e-9
    assert seconds <= work / m + (1 - 1 / m) * longest + 1e-9
