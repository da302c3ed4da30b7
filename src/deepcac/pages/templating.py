"""The page's templates: everything is escaped but its own style and script."""

import posixpath

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from deepcac.pages.tableview import view
from deepcac.pages.wording import mark, minus, people, tone


def environment(package: str) -> Environment:
    """Return the environment of a package's templates, with the page's style, script and filters.

    Parameters
    ----------
    package : str
        Whose folder ``templates`` is searched first.
    """
    loader = ChoiceLoader([PackageLoader(package), PackageLoader("deepcac.pages")])
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Style and script are files of the library; everything else on the page is escaped.
    for name in ("style.css", "page.js"):
        text, _, _ = loader.get_source(made, name)
        made.globals[name.partition(".")[0]] = Markup(text)
    made.filters |= {"tone": tone, "mark": mark, "people": people, "minus": minus, "view": view}
    made.globals["from_page"] = _from_page
    return made


def _from_page(path: str, up: str = "") -> str:
    """Return the way to a run from the report's folder, or from one below it (`up`)."""
    return up + posixpath.relpath(path, "results/report")
