"""The report in a real browser: no error, tables sort, filter and print."""

import json
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from report_runs import without_pictures, write_run

from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.report.site.page import build

PROBE = """<script>addEventListener("load", () => {{
  const probe = document.createElement("pre");
  probe.id = "probe";
  {body}
  document.body.append(probe);
}});</script></body>"""
# A probe may be filled later, by a promise or the load of a frame.
WRITTEN = """new Promise((go) => {
  const look = () => document.querySelector("#probe")?.textContent ? go() : setTimeout(look, 10);
  look();
})"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH"),
]


def report(root: Path) -> Path:
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


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with without_pictures():
        return report(tmp_path_factory.mktemp("report"))


def inner(page: Path, name: str) -> Path:
    return page.parent / "pages" / f"{name}.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    one = Browser(tmp_path_factory.mktemp("browser") / "profile")
    yield one
    one.close()


@pytest.fixture
def probed(browser, tmp_path):
    """Return a function that runs JavaScript in a copy of a page, and gives what `probe` holds."""
    browser.resize(1334)
    browser.console.clear()
    made = []

    def run(page: Path, body: str, *, style: str = "", before: str = "", anchor: str = "") -> str:
        text = page.read_text(encoding="utf-8")
        if style:
            text = text.replace("@media print", style)
        copy = page.with_name(f"{tmp_path.name}_{len(made)}.html")
        copy.write_text(text.replace("</body>", before + PROBE.format(body=body)), encoding="utf-8")
        made.append(copy)
        browser.open(copy, anchor)
        browser.run(WRITTEN)
        assert browser.console == []
        return browser.run("document.querySelector('#probe').textContent")

    yield run
    for copy in made:
        copy.unlink()


@pytest.mark.long
def test_opens_from_disk_without_an_error(page, browser):
    for path in (page, *sorted((page.parent / "pages").glob("*.html"))):
        browser.console.clear()
        browser.open(path)
        assert browser.console == [], path.name


@pytest.mark.long
def test_figures_are_drawn(tmp_path, probed):
    page = report(tmp_path)
    body = """
      const images = [...document.images];
      images.forEach((image) => { image.loading = "eager"; });
      const all = images.map((image) => image.decode().then(() => "drawn", () => "broken"));
      Promise.all(all).then((said) => { probe.textContent = said.join(" "); });"""
    for path in (page, inner(page, "figures")):
        said = probed(path, body).split()
        assert said
        assert set(said) == {"drawn"}


def test_columns_sort_both_ways(page, probed):
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
        for part in probed(inner(page, "runs"), body).split(" then ")
    )
    assert up == sorted(up)
    assert up[0] < up[-1]
    assert down == up[::-1]


def test_ledger_filters_by_words_and_verdict(page, probed):
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
    shown = probed(inner(page, "ledger"), body)
    left, total, right, kept = re.fullmatch(r"(\d+)/(\d+) (\w+) (\S+)", shown).groups()
    assert kept == "#table-ledger?text=cic&verdict=agree&paper=CAC+v1"
    assert 0 < int(left) < int(total)
    assert right == "true"


def test_numbers_with_thousands_sort_as_numbers(page, probed):
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
    said = probed(inner(page, "runs"), body)
    up, down = said.split(" then ")
    assert up == "−0.5;12;1,309;1,500;agree;"
    assert down == "1,500;1,309;12;−0.5;agree;"


def test_an_address_brings_filters_and_order_back(page, probed):
    body = """
      const form = document.querySelector('form[data-for="table-ledger"]');
      const rows = [...document.querySelector("#table-ledger").tBodies[0].rows];
      const head = [...document.querySelector("#table-ledger").tHead.rows[0].cells];
      const sorted = head.findIndex((cell) => cell.getAttribute("aria-sort") === "descending");
      probe.textContent = form.elements.paper.value + "/" + sorted + "/" +
        rows.filter((r) => !r.hidden).every((r) => r.textContent.includes("CAC v1"));"""
    anchor = "#table-ledger?paper=CAC+v1&sort=-7"
    assert probed(inner(page, "ledger"), body, anchor=anchor) == "CAC v1/7/true"


def test_print_fits_a4_without_the_columns_that_a_row_unfolds(page, probed):
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
        said = probed(inner(page, name), body, style="@media all")
        assert json.loads(said) == {"wide": [], "folded": 0, "wrong": 0}, name


def test_print_leaves_every_row_its_name(page, probed):
    body = """
      const named = () => [...document.querySelectorAll("tbody th")].map((one) => one.textContent);
      const folded = document.querySelectorAll("tbody th button").length;
      const before = JSON.stringify(named());
      dispatchEvent(new Event("beforeprint"));
      const printed = JSON.stringify(named()) === before;
      dispatchEvent(new Event("afterprint"));
      probe.textContent = `${folded > 0}/${printed}/${JSON.stringify(named()) === before}`;"""
    assert probed(inner(page, "runs"), body) == "true/true/true"


def test_a_phone_scrolls_tables_not_pages(page, probed):
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
        assert probed(path, body) == "true", path.name


@pytest.mark.parametrize("width", [700, 1000, 1400])
def test_the_menu_needs_no_scrolling(page, probed, width):
    body = f"""
      document.querySelector("header").style.width = "{width}px";
      const menu = document.querySelector("nav");
      probe.textContent = menu.scrollWidth <= menu.clientWidth;"""
    assert probed(page, body) == "true"


def test_a_link_to_a_folded_table_opens_it(page, probed):
    anchor, body = (
        "#table-cac_v1_table3",
        """
      const table = document.getElementById("table-cac_v1_table3");
      probe.textContent = table.closest("details").open;""",
    )
    said = probed(inner(page, "paper_cac_v1"), body, anchor=anchor)
    assert said == "true"


def test_lines_fit_the_page_and_a_row_opens_to_show_the_rest(page, probed):
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
    said = json.loads(probed(inner(page, "ledger"), body))
    assert {"verdict", "paper", "where", "printed", "ours", "difference"} <= set(said["seen"])
    assert "decided by" in said["named"]
    assert set(said["named"]).isdisjoint(said["seen"])
    assert (said["wide"], said["left"]) == (0, 0)


def test_the_columns_of_a_papers_own_methods_stay_on_every_width(page, browser):
    heads = """
      [...document.querySelectorAll("table[data-sortable]")].map((table) =>
        [...table.tHead.rows[0].cells].map((cell) => [cell.textContent, cell.offsetWidth > 0]))"""
    folded = Counter()
    for width, paper in product((390, 1024), PAPERS.values()):
        browser.resize(width)
        browser.open(inner(page, f"paper_{paper.key}"))
        browser.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        columns = [column for table in browser.run(heads) for column in table]
        own = [column for column in columns if column[0] in paper.methods]
        assert {name for name, _ in own} == set(paper.methods)
        assert [name for name, seen in own if not seen] == []
        folded[width] += sum(not seen for _, seen in columns)
    assert folded[390] > folded[1024] > 0


def test_a_search_for_a_claim_finds_it_in_other_words(page, probed):
    body = """
      const search = document.querySelector("input[type=search]");
      search.value = "outperforms k-means";
      search.dispatchEvent(new Event("input", { bubbles: true }));
      const rows = [...document.querySelectorAll("#table-claims tbody tr")].filter((row) => !row.hidden);
      probe.textContent = JSON.stringify(rows.map((row) => row.textContent));"""
    rows = json.loads(probed(inner(page, "claims"), body))
    assert any("CAC beats KM on all data sets in best F1" in row for row in rows)
    assert 0 < len(rows) < 60
