"""The report in a real browser: no error, tables sort, filter and print, axe finds nothing bad."""

import json
import re
import shutil
import subprocess
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from browser import Browser
from report_runs import write_run

from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.report.site.page import build

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--virtual-time-budget=8000", "--enable-logging=stderr", "--log-level=0"),
    "--window-size=1334,900",
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
        paths, Path(__file__).parents[3] / "config" / "registry", results / "report", resamples=20
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


def probed(
    page: Path, profile: Path, body: str, *, style: str = "", before: str = "", anchor: str = ""
) -> str:
    """Run JavaScript in a copy of the page and return what it put into `probe`."""
    copy = page.with_name(f"{profile.name}.html")
    text = page.read_text(encoding="utf-8")
    if style:
        text = text.replace("@media print", style)
    text = text.replace("</body>", before + PROBE.format(body=body))
    copy.write_text(text, encoding="utf-8")
    try:
        dom, console = open_page(copy, profile, anchor)
    finally:
        copy.unlink()
    assert not console
    found = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
    assert found
    return found.group(1)


@pytest.mark.long
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
        said = probed(path, tmp_path / f"drawn_{path.stem}", body).split()
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


def test_numbers_with_thousands_sort_as_numbers(page, tmp_path):
    body = """
      const table = document.querySelector("table[data-sortable]");
      const head = table.tHead.rows[0].cells;
      const column = head.length - 1;
      const texts = ["1,309", "", "−0.5", "1,500", "12", "agree"];
      [...table.tBodies[0].rows].forEach((row) => row.remove());
      for (const text of texts) {
        const row = table.tBodies[0].insertRow();
        for (let i = 0; i <= column; i++) row.insertCell().textContent = text;
      }
      document.querySelectorAll("script").forEach((old, place) => {
        if (place) return;
        const again = document.createElement("script");
        again.textContent = old.textContent;
        document.body.append(again);
      });
      const sorted = () => [...table.tBodies[0].rows].map((r) => r.cells[column].textContent);
      head[column].querySelector("button").click();
      const up = sorted().join(";");
      head[column].querySelector("button").click();
      probe.textContent = up + " then " + sorted().join(";");"""
    said = probed(inner(page, "runs"), tmp_path / "thousands", body)
    up, down = said.split(" then ")
    assert up == "−0.5;12;1,309;1,500;agree;"
    assert down == "1,500;1,309;12;−0.5;agree;"


def test_an_address_brings_filters_and_order_back(page, tmp_path):
    body = """
      const form = document.querySelector('form[data-for="table-ledger"]');
      const rows = [...document.querySelector("#table-ledger").tBodies[0].rows];
      const head = [...document.querySelector("#table-ledger").tHead.rows[0].cells];
      const sorted = head.findIndex((cell) => cell.getAttribute("aria-sort") === "descending");
      probe.textContent = form.elements.paper.value + "/" + sorted + "/" +
        rows.filter((r) => !r.hidden).every((r) => r.textContent.includes("CAC v1"));"""
    anchor = "#table-ledger?paper=CAC+v1&sort=-7"
    assert probed(inner(page, "ledger"), tmp_path / "kept", body, anchor=anchor) == "CAC v1/7/true"


def test_print_fits_a4_without_the_columns_that_a_row_unfolds(page, tmp_path):
    body = """
      dispatchEvent(new Event("beforeprint"));
      document.body.style.width = "1047px";  // 277 mm
      const wide = [...document.querySelectorAll(".scroll")]
        .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.ariaLabel);
      const folded = document.querySelectorAll("details:not([open])").length;
      const columns = [...document.querySelectorAll("table[data-folded]")].flatMap((table) =>
        JSON.parse(table.dataset.folded).map((away, place) =>
          away === Boolean(table.tHead.rows[0].cells[place].offsetWidth)));
      probe.textContent = JSON.stringify({ wide, folded, wrong: columns.filter(Boolean).length });"""
    for name in ("ledger", "claims", "runs", "paper_deepcac", "clustering"):
        said = probed(inner(page, name), tmp_path / f"print_{name}", body, style="@media all")
        assert json.loads(said) == {"wide": [], "folded": 0, "wrong": 0}, name


def test_print_leaves_every_row_its_name(page, tmp_path):
    body = """
      const named = () => [...document.querySelectorAll("tbody th")].map((one) => one.textContent);
      const folded = document.querySelectorAll("tbody th button").length;
      const before = JSON.stringify(named());
      dispatchEvent(new Event("beforeprint"));
      const printed = JSON.stringify(named()) === before;
      dispatchEvent(new Event("afterprint"));
      probe.textContent = `${folded > 0}/${printed}/${JSON.stringify(named()) === before}`;"""
    assert probed(inner(page, "runs"), tmp_path / "names", body) == "true/true/true"


def test_a_phone_scrolls_tables_not_pages(page, tmp_path):
    body = """
      const frame = document.createElement("iframe");
      frame.style.width = "400px";
      frame.onload = () => {
        const root = frame.contentDocument.documentElement;
        probe.textContent = root.scrollWidth <= 400;
      };
      frame.srcdoc = document.documentElement.outerHTML.replace(/<script[^]*?<\\/script>/g, "");
      document.body.append(frame);"""
    for path in (page, inner(page, "ledger"), inner(page, "paper_deepcac")):
        assert probed(path, tmp_path / f"phone_{path.stem}", body) == "true", path.name


@pytest.mark.parametrize("width", [700, 1000, 1400])
def test_the_menu_needs_no_scrolling(page, tmp_path, width):
    body = f"""
      document.querySelector("header").style.width = "{width}px";
      const menu = document.querySelector("nav");
      probe.textContent = menu.scrollWidth <= menu.clientWidth;"""
    assert probed(page, tmp_path / "menu", body) == "true"


def test_a_link_to_a_folded_table_opens_it(page, tmp_path):
    anchor, body = (
        "#table-cac_v1_table3",
        """
      const table = document.getElementById("table-cac_v1_table3");
      probe.textContent = table.closest("details").open;""",
    )
    said = probed(inner(page, "paper_cac_v1"), tmp_path / "folded", body, anchor=anchor)
    assert said == "true"


@pytest.mark.parametrize("name", ["index", "ledger", "claims", "papers", "paper_cac_v1", "figures"])
def test_axe_finds_nothing_serious(page, tmp_path, name):
    axe = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
    # Colours are checked on fewer rows: each cell of a long table looks like those above it.
    body = """
      document.querySelectorAll("tbody tr:nth-child(n+12)").forEach((row) => row.remove());
      axe.run().then((found) => {
        probe.textContent = JSON.stringify(found.violations
          .filter((one) => ["critical", "serious"].includes(one.impact))
          .map((one) => [one.id, one.nodes[0].html.slice(0, 120)]));
      });"""
    path = page if name == "index" else inner(page, name)
    before = f"<script>{axe}</script>"
    assert json.loads(probed(path, tmp_path / f"axe_{name}", body, before=before)) == []


def test_lines_fit_the_page_and_a_row_opens_to_show_the_rest(page, tmp_path):
    body = """
      const table = document.querySelector("table");
      const seen = [...table.tHead.rows[0].cells].filter((c) => c.offsetWidth).map((c) => c.textContent);
      const wide = [...document.querySelectorAll(".scroll")]
        .filter((box) => box.scrollWidth > box.clientWidth + 1).length;
      table.querySelector("button.more").click();
      const detail = table.querySelector("tr.detail");
      const named = [...detail.querySelectorAll("dt")].map((dt) => dt.textContent);
      table.querySelector("button.more").click();
      probe.textContent = JSON.stringify({ seen, wide, named, left: table.querySelectorAll("tr.detail").length });"""
    said = json.loads(probed(inner(page, "ledger"), tmp_path / "fold", body))
    assert {"verdict", "paper", "where", "printed", "ours", "difference"} <= set(said["seen"])
    assert "decided by" in said["named"]
    assert set(said["named"]).isdisjoint(said["seen"])
    assert (said["wide"], said["left"]) == (0, 0)


def test_the_columns_of_a_papers_own_methods_stay_on_every_width(page, tmp_path):
    heads = """
      [...document.querySelectorAll("table[data-sortable]")].map((table) =>
        [...table.tHead.rows[0].cells].map((cell) => [cell.textContent, cell.offsetWidth > 0]))"""
    browser, folded = Browser(tmp_path / "browser"), Counter()
    try:
        for width, paper in product((390, 1024), PAPERS.values()):
            browser.resize(width)
            browser.open(inner(page, f"paper_{paper.key}"))
            browser.run(
                "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
            )
            columns = [column for table in browser.run(heads) for column in table]
            own = [column for column in columns if column[0] in paper.methods]
            assert {name for name, _ in own} == set(paper.methods)
            assert [name for name, seen in own if not seen] == []
            folded[width] += sum(not seen for _, seen in columns)
    finally:
        browser.close()
    assert folded[390] > folded[1024] > 0


def test_a_search_for_a_claim_finds_it_in_other_words(page, tmp_path):
    body = """
      const search = document.querySelector("input[type=search]");
      search.value = "outperforms k-means";
      search.dispatchEvent(new Event("input", { bubbles: true }));
      const rows = [...document.querySelectorAll("#table-claims tbody tr")].filter((row) => !row.hidden);
      probe.textContent = JSON.stringify(rows.map((row) => row.textContent));"""
    rows = json.loads(probed(inner(page, "claims"), tmp_path / "search", body))
    assert any("CAC beats KM on all data sets in best F1" in row for row in rows)
    assert 0 < len(rows) < 60
