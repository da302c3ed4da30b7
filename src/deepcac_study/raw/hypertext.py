"""Text and links of a saved web page of the 1990s, by the standard library's parser."""

import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

_WORD = re.compile(r"[a-z]+")
_SILENT = frozenset({"script", "style"})


class _Page(HTMLParser):
    """Parser that collects the visible text, the link targets and the base address."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.links: list[str] = []
        self.base = ""
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the target of a link or frame, and note a base address or silent tag."""
        values = dict(attrs)
        target = values.get("href") or ""
        if tag in ("a", "area") and target:
            self.links.append(target)
        elif tag in ("frame", "iframe") and values.get("src"):
            self.links.append(values["src"] or "")
        elif tag == "base":
            self.base = target
        self._silent += tag in _SILENT
        self.text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._silent = max(0, self._silent - (tag in _SILENT))
        self.text.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text.append(data)


def body(content: bytes) -> str:
    """Decode a saved HTTP response and drop its headers.

    The pages carry no reliable charset; they decode as UTF-8 where that is possible, and as
    Latin-1 (which never fails) otherwise. Headers are dropped when the first line looks like one.
    """
    text = _decode(content).replace("\r\n", "\n").replace("\r", "\n")
    if re.match(r"(WWW A|[A-Za-z-]+:|HTTP/)", text):
        return text.partition("\n\n")[2]
    return text


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def words_of_file(content: bytes) -> Counter[str]:
    """Return the word counts of a saved page, including headers, tags and scripts."""
    return Counter(_WORD.findall(_decode(content).lower()))


def read_page(content: bytes, url: str) -> tuple[Counter[str], list[str]]:
    """Return the word counts and the absolute link targets of a saved page at an address.

    The content is HTTP headers, an empty line and HTML; headers may be missing, HTML may be broken.
    Words are lower-case runs of the letters a to z. Links are in order; those that do not parse are
    left out.
    """
    page = _Page()
    html = body(content)
    try:
        page.feed(html)
        page.close()
    except (AssertionError, ValueError):
        # The parser gives up on some broken declarations; what it saw until then counts.
        pass
    words = Counter(_WORD.findall("".join(page.text).lower()))
    return words, [link for target in page.links if (link := _resolve(url, page.base, target))]


def _resolve(url: str, base: str, target: str) -> str:
    """Return the absolute address of a link, empty if malformed."""
    try:
        return urljoin(urljoin(url, base), target.strip())
    except ValueError:
        return ""


def page_key(url: str) -> str:
    """Return a normalised address, equal for different addresses of one page.

    Scheme, port colon (missing in the archive's file names), fragment, trailing slash and
    ``index.html`` are removed; the host is lower-cased, the path is unquoted.
    """
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
    except ValueError:
        return ""
    host = parts.netloc.lower().removesuffix(":80").replace(":", "")
    path = re.sub(r"/(index\.html?)?$", "", unquote(parts.path))
    return f"{host}{path}{'?' if parts.query else ''}{parts.query}"
