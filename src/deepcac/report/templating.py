"""The page's templates: everything is escaped but its own style and script."""

import posixpath

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def environment() -> Environment:
    """Return the templates' environment, with the page's style, script and filters."""
    loader = PackageLoader("deepcac.report", "templates")
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Style and script are files of this package; everything else on the page is escaped.
    for name in ("style.css", "page.js"):
        text, _, _ = loader.get_source(made, name)
        made.globals[name.partition(".")[0]] = Markup(text)
    made.filters["tone"] = _tone
    made.filters["from_page"] = _from_page
    return made


def _from_page(path: str) -> str:
    """Return the way from the page to a run, both given from the project's folder."""
    return posixpath.relpath(path, "results/report")


def _tone(verdict: str) -> str:
    """Return the CSS class of a verdict."""
    if verdict in ("agree", "holds", "better"):
        return "good"
    if verdict in ("differ", "fails", "worse", "diverged", "timeout"):
        return "bad"
    return "mixed" if verdict == "partly" else "quiet"
