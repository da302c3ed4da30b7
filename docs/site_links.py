"""Make the built site whole by itself, or say what is dead in it: python docs/site_links.py site.

Pages link to files of the repository, as they do on a code host. The site holds no such files, so
there the text stays and the link goes. Any other link must lead somewhere, and nothing may be
loaded from the network.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
LOADED = {"img": "src", "script": "src", "iframe": "src", "link": "href"}


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it.

    Attributes
    ----------
    links, loaded : set of str
        Addresses a reader can follow, and those that the browser opens by itself.
    places : set of str
        Anchors.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.places: set[str] = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one element links to, loads and is called."""
        found = {name: value for name, value in attrs if value}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        elif LOADED.get(tag) in found:
            self.loaded.add(found[LOADED[tag]])


def target(page: Path, link: str) -> Path:
    """Return the file that a link of a page leads to."""
    path = unquote(urlsplit(link).path)
    return (page.parent / path).resolve() if path else page


def unlink_repository(page: Page, site: Path) -> None:
    """Turn a page's links to files of the repository into their text."""
    text = old = page.path.read_text(encoding="utf-8")
    for link in sorted(page.links):
        if urlsplit(link).scheme or target(page.path, link).is_relative_to(site):
            continue
        # Written for docs/, which the site's folder stands in for.
        origin = ROOT / "docs" / page.path.parent.relative_to(site)
        if (origin / unquote(urlsplit(link).path)).resolve().exists():
            text = re.sub(rf'<a [^>]*href="{re.escape(link)}"[^>]*>(.*?)</a>', r"\1", text)
            page.links.remove(link)
    if text != old:
        page.path.write_text(text, encoding="utf-8")


def dead(pages: dict[Path, Page]) -> list[str]:
    """Return what leads nowhere or comes from the network, a line each."""
    found = []
    for path, page in pages.items():
        for link in sorted(page.links | page.loaded):
            address = urlsplit(link)
            to = target(path, link)
            if address.scheme or address.netloc:
                if link in page.loaded and address.scheme != "data":
                    found.append(f"{path}: loads {link} from the network")
            elif not to.exists():
                found.append(f"{path}: {link} does not exist")
            elif to in pages and unquote(address.fragment) not in pages[to].places:
                found.append(f"{path}: no place {link}")
    return found


def main(folder: str) -> None:
    """Mend and check a site; exit code 1 if something is dead."""
    site = Path(folder).resolve()
    # The page for wrong addresses is served from the root of a server.
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    for page in pages.values():
        unlink_repository(page, site)
    raise SystemExit("\n".join(dead(pages)) or 0)


if __name__ == "__main__":
    main(sys.argv[1])
