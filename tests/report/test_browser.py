"""The report in a real browser: no error, tables sort and filter."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from report_runs import write_run

from deepcac.report.page import build

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--virtual-time-budget=8000", "--enable-logging=stderr", "--log-level=0"),
)
PROBE = """<script>addEventListener("load", () => {{
  const probe = document.createElement("pre");
  probe.id = "probe";
  {body}
  document.body.append(probe);
}});</script></body>"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    root = tmp_path_factory.mktemp("report")
    results = root / "results"
    paths = [
        write_run(results, "cic", "lr", 1, strength=1.0),
        write_run(results, "cic", "km_lr", 2, strength=1.2),
        write_run(results, "cic", "cac_lr", 2, strength=1.4, alpha=0.05),
        write_run(results, "demo_cic", "cac_lr", 2, synthetic=True),
    ]
    build(
        paths, Path(__file__).parents[2] / "config" / "registry", results / "report", resamples=20
    )
    return results / "report" / "index.html"


def inner(page: Path, name: str) -> Path:
    return page.parent / "pages" / f"{name}.html"


def open_page(page: Path, profile: Path, anchor: str = "") -> tuple[str, str]:
    """Return the document as the browser has it, and what it wrote to its console."""
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "--dump-dom", f"{page.as_uri()}{anchor}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(console)


def probed(page: Path, profile: Path, body: str) -> str:
    """Run JavaScript in a copy of the page and return what it put into `probe`."""
    copy = page.with_name(f"{profile.name}.html")
    text = page.read_text(encoding="utf-8")
    copy.write_text(text.replace("</body>", PROBE.format(body=body)), encoding="utf-8")
    dom, console = open_page(copy, profile)
    assert not console
    found = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
    assert found
    return found.group(1)


def test_opens_from_disk_without_an_error(page, tmp_path):
    for number, path in enumerate([page, *sorted((page.parent / "pages").glob("*.html"))]):
        dom, console = open_page(path, tmp_path / f"profile{number}")
        assert not console, path.name
        assert 'class="js"' in dom, path.name


def test_figures_are_drawn(page, tmp_path):
    body = """
      const images = [...document.images];
      images.forEach((image) => { image.loading = "eager"; });
      const all = images.map((image) => image.decode().then(() => "drawn", () => "broken"));
      Promise.all(all).then((said) => { probe.textContent = said.join(" "); });"""
    for path in (page, inner(page, "figures")):
        said = probed(path, tmp_path / path.stem, body).split()
        assert said
        assert set(said) == {"drawn"}


def test_columns_sort_both_ways(page, tmp_path):
    body = """
      const table = document.querySelector("#table-runs");
      const column = [...table.tHead.rows[0].cells].findIndex((c) => c.textContent.trim() === "F1");
      const values = () => [...table.tBodies[0].rows].map((r) => r.cells[column].textContent);
      const button = table.tHead.rows[0].cells[column].querySelector("button");
      button.click(); const up = values();
      button.click(); const down = values();
      probe.textContent = [up.join(","), down.join(",")].join(" then ");"""
    up, down = (
        [float(value.split()[0]) for value in part.split(",")]
        for part in probed(inner(page, "runs"), tmp_path / "sort", body).split(" then ")
    )
    assert up == sorted(up)
    assert up[0] < up[-1]
    assert down == up[::-1]


def test_ledger_filters_by_words_and_verdict(page, tmp_path):
    body = """
      const form = document.querySelector('form[data-for="table-ledger"]');
      form.elements.paper.value = "CAC v1";
      form.elements.text.value = "cic";
      form.elements.verdict.value = "agree";
      form.dispatchEvent(new Event("input"));
      const rows = [...document.querySelector("#table-ledger").tBodies[0].rows];
      const left = rows.filter((r) => !r.hidden);
      probe.textContent = left.length + "/" + rows.length + " " +
        left.every((r) => /agree.*CAC v1.*CIC/s.test(r.textContent)) + " " + location.hash;"""
    shown = probed(inner(page, "ledger"), tmp_path / "filter", body)
    left, total, right, kept = re.fullmatch(r"(\d+)/(\d+) (\w+) (\S+)", shown).groups()
    assert kept == "#table-ledger?text=cic&amp;verdict=agree&amp;paper=CAC+v1"
    assert 0 < int(left) < int(total)
    assert right == "true"
