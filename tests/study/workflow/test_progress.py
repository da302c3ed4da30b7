"""What a run says last: its report's answer, or the scores of what was asked for."""

from checkouts import ROOT
from report_runs import write_run

from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.run_progress import ending, run_endings
from deepcac_study.jobs.targets import run_records


def test_a_run_ends_with_its_report_and_the_answer(tmp_path):
    page = tmp_path / "index.html"
    what = '<p class="what"><b>DEMO.</b> It says nothing\nabout the papers.</p>'
    page.write_text(f'{what}<h1 class="answer">Clusters help\n in <b>3</b> &amp; 4.</h1>')
    lines = [
        "DEMO. It says nothing about the papers.",
        "Clusters help in 3 & 4.",
        f"report: {page}",
    ]
    assert ending(page).splitlines() == lines
    page.write_text("<p>no answer</p>")
    assert ending(page) == f"report: {page}"


def test_a_run_that_was_asked_for_ends_with_its_scores_and_its_page(tmp_path, monkeypatch):
    path = write_run(tmp_path / "results", "cic", "lr", 1)
    registry = load_registry(ROOT / "config" / "registry")
    monkeypatch.chdir(tmp_path)
    record = str(path.relative_to(tmp_path))
    assert run_records([record, "all", "results/cic/lr_k2.json"]) == [record]
    (lines,) = run_endings([record], registry)
    scores, *_, page = lines.splitlines()
    assert scores.startswith("LR on cic, ")
    assert page == f"page: {tmp_path}/results/report/runs/cic_lr_k1.html"
    assert [*run_endings([record], registry, most=0)] == []
