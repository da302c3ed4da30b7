"""What readers look for in the shipped report, in a browser: found soon, fits the page."""

import json
import re
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser

from deepcac_study.report.site.shipped import report_shipped

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH"),
]
AXE = Path(__file__).parent / "axe" / "axe.min.js"
MOST_CLICKS = 3
# The element with a text that is clicked, or the words that are searched for; what is then in sight.
JOURNEYS = {
    "DeepCAC Table 2, k = 3 on CIC": (
        ["click DeepCAC (Srivastava et al. 2021)", "click Table 2:"],
        r"#table-deepcac_table2 tr",
        r"^CIC\s+3\s.*0\.\d{3}",
    ),
    "CAC outperforms k-means": (
        ["search outperforms k-means"],
        "#table-claims tr",
        r"CAC1-26.*out performs the simple k-means",
    ),
    "CAC v1's figure on alpha": (
        ["click CAC v1 (Srivastava et al. 2021)", "click Figure 2"],
        "figure",
        r"α.*F1 of balanced LR",
    ),
    "a subtype of CIC with its leading variables": (
        ["click Subtypes", "click Subtypes by CAC+LR, k = 3"],
        "main",
        r"/ cic .*subtype 1.*Glasgow coma scale",
    ),
    "where WebKB stands": (
        ["click Supervised k-means (Finley and Joachims 2008)", "click Table 3:"],
        "#table-skmeans_table3 tr",
        r"^WEBKB-L.*Cornell",
    ),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    return report_shipped(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


CLICK = """(text) => {
  const links = [...document.querySelectorAll("a, summary, button")];
  const found = links.find((link) => link.checkVisibility() &&
    link.textContent.trim().startsWith(text));
  if (!found) return false;
  window.left = Boolean(found.href) && new URL(found.href).pathname !== location.pathname;
  found.click();
  return true;
}"""
SEARCH = """(words) => {
  const field = document.querySelector("input[type=search]");
  field.value = words;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  window.left = "to" in field.form.dataset;
  field.form.requestSubmit();
}"""
IN_SIGHT = """(selector) => [...document.querySelectorAll(selector)].filter((one) => {
  const box = one.getBoundingClientRect();
  return one.checkVisibility() && box.bottom > 0 && box.top < innerHeight;
}).map((one) => one.innerText.replace(/\\s+/g, " ").trim())"""


@pytest.mark.parametrize("question", JOURNEYS)
def test_a_reader_finds_it_in_three_clicks_or_one_search(page, browser, question):
    steps, selector, wanted = JOURNEYS[question]
    browser.open(page)
    for step in steps:
        kind, _, words = step.partition(" ")
        script = {"click": CLICK, "search": SEARCH}[kind]
        assert browser.run(f"({script})({json.dumps(words)})") is not False, f"no link: {words}"
        browser.settle()
    clicks = sum(step.startswith("click") for step in steps)
    assert clicks <= MOST_CLICKS if clicks == len(steps) else len(steps) == 1
    seen = browser.run(f"({IN_SIGHT})({json.dumps(selector)})")
    assert any(re.search(wanted, text) for text in seen), seen[:3]


def pages(page: Path) -> list[Path]:
    return [page, *sorted((page.parent / "pages").glob("*.html"))]


def test_no_line_of_a_table_is_wider_than_the_page(page, browser):
    wide = """[...document.querySelectorAll(".scroll")].filter((box) => box.checkVisibility() &&
        box.scrollWidth > box.clientWidth + 1).map((box) => box.ariaLabel)"""
    browser.resize(1334)
    for path in pages(page):
        browser.open(path)
        browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        browser.settle()
        assert browser.run(wide) == [], path.name


def test_no_page_is_wider_than_a_phone(page, browser):
    browser.resize(390, 844, mobile=True)
    try:
        for path in pages(page):
            browser.open(path)
            assert browser.run("document.documentElement.scrollWidth") <= 390, path.name
    finally:
        browser.resize(1334)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(page, browser, dark):
    axe = AXE.read_text(encoding="utf-8")
    # Colours are checked on fewer rows: each cell of a long table looks like those above it.
    check = """(async () => {
      document.querySelectorAll("tbody tr:nth-child(n+12)").forEach((row) => row.remove());
      const found = await axe.run();
      return found.violations.filter((one) => ["critical", "serious"].includes(one.impact))
        .map((one) => [one.id, one.nodes[0].html.slice(0, 120)]);
    })()"""
    browser.look(dark=dark)
    for path in pages(page):
        browser.open(path)
        browser.run(axe)
        assert browser.run(check) == [], path.name
    browser.look()
