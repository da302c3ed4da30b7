"""Seeded mutants of YAML documents: what a plain reading gives, or one clear line.

The plain reading composes nodes by PyYAML's own parser, where the product uses libyaml, and gives
up on a key that stands twice. A description is then read cell by cell (`described_cells`); a
registry entry, a configuration and a pointer must fit their schema, and be what the text says.
"""

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from children import Trial, counted, trials, tried
from described_cells import DESCRIPTIONS, read_by_description
from jsonschema import Draft202012Validator
from parsers import CORPUS
from project import ROOT, Row
from snakemake.common.configfile import load_configfile
from structures import VALUES, changed

from deepcac.errors import ConfigError
from deepcac.files.declared import read_yaml
from deepcac_study.catalogue.config import check_config
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.jobs.pointers import read_pointers

WORDS = (
    *(
        "died",
        "age",
        "ward",
        "nobody",
        "leave out",
        "keep",
        "missing",
        "yes",
        "no",
        "er",
        "f",
        "NA",
    ),
    *("number", "integer", "string", "boolean", "date", "any", "%d/%m/%Y", "%d", "%Q", "mg/L", "x"),
    *(",", ";", ".", "'", "", "\n", "é", "0", "1", "-9", "44", "18", "1e1", ["yes"], ["44", "er"]),
    *("demo_cic", "titanic", "grid_k0", "sources.x", "inf", "nan", "1_000", "1e999", "true", "off"),
    *(date(2020, 2, 29), 10**400, float("inf"), float("nan"), b"\0", {"value": "a"}, [["a"]]),
)
BOMB = "".join(f"b{i}: &b{i} [{', '.join([f'*b{i - 1}' if i else 'x'] * 9)}]\n" for i in range(9))
TOKENS = (
    *("2020-02-30", "9" * 5000, "? [a, b]\n: c\n", "{a: b}: c\n", "&a [*a]", "&a x", "*a", BOMB),
    *("<<: {}\n", "<<: [x]\n", "!!python/object:os.system x", "!!binary x", "!!set {a}", "- "),
    *(
        ": ",
        "#",
        "|\n",
        ">\n",
        "'",
        '"',
        "~",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "\0",
        "\x85",
        "\u2028",
    ),
    *("[" * 3000, "{a: " * 3000, "- " * 3000, "é", "0o17", "1:30", "1_000", ".inf", "no", "{", "]"),
)
_VALUE = re.compile(r"(?<=: )[^{}\[\],\n]+")  # of a key, in a block or between brackets
CODECS = ("utf-8",) * 96 + ("utf-8-sig", "utf-16", "latin-1", "cp500")


class Kind(NamedTuple):
    """A kind of document: sound texts, and what tells of a path, a plain reading whether it fits.

    The plain reading is None where it gives up; `texts` says that every scalar is one.
    """

    texts: Callable[[], list[str]]
    path: str
    right: Callable[[Path, Any], bool]
    loader: Any
    how: str


def mutant(start: str, draw: random.Random, loader: Any) -> bytes:
    """Change values, keys and their places, or the text line by line."""
    text = start
    if draw.random() < 0.7:
        values = draw.choice((WORDS, WORDS, VALUES))
        content = changed(yaml.load(text, loader), draw, values, draw.choice((1, 1, 3)))
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    for _ in range(draw.choice((0, 0, 0, 1)) if text != start else draw.choice((1, 1, 2))):
        lines = text.splitlines(keepends=True) or [""]
        i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
        found = [list(_VALUE.finditer(line)) for line in (lines[i], lines[j])]
        match draw.randrange(7):
            case 0:
                del lines[i : i + draw.choice((1, 1, 4))]
            case 1:
                lines[j:j] = lines[i : i + draw.choice((1, 1, 4))]
            case 2:
                lines[i], lines[j] = lines[j], lines[i]
            case 3:
                lines[i] = draw.choice(("", " ", "  ", "    ")) + lines[i].removeprefix("  ")
            case 4 | 5 if all(found):
                here, there = map(draw.choice, found)
                value = draw.choice((there[0], draw.choice(TOKENS), str(draw.choice(WORDS))))
                lines[i] = lines[i][: here.start()] + value + lines[i][here.end() :]
            case _:
                at = draw.randrange(len(lines[i]) + 1)
                lines[i] = lines[i][:at] + draw.choice(TOKENS) + lines[i][at:]
        text = "".join(lines)
    text = text.replace("\n", draw.choice(("\n",) * 9 + ("\r\n",)))
    return text.encode(draw.choice(CODECS), "replace")


def plainly(content: bytes, loader: Any) -> Any:
    """Return what a document says; None where it is unclear, or says something twice."""
    try:
        parser = loader(content.decode("utf-8-sig"))
        node = parser.get_single_node()
        return (
            None
            if node is None or not _clear(node, set(), set())
            else parser.construct_document(node)
        )
    except (ValueError, RecursionError, yaml.YAMLError):
        return None


def _clear(node: yaml.Node, above: set[int], clear: set[int]) -> bool:
    """Tell whether no node holds itself, and no key stands twice."""
    if id(node) in above or id(node) in clear:
        return id(node) in clear
    parts, keys = node.value, []
    if isinstance(node, yaml.MappingNode):
        keys = [str(key.value) for key, _ in node.value]
        parts = [part for pair in node.value for part in pair]
    inside = above | {id(node)}
    if len({*keys}) < len(keys) or not (
        isinstance(node, yaml.ScalarNode) or all(_clear(part, inside, clear) for part in parts)
    ):
        return False
    clear.add(id(node))
    return True


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are one in JSON, where 1 is 1.0 and not true."""
    one, other = (
        json.loads(json.dumps(each, default=str), parse_int=float) for each in (one, other)
    )
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@cache
def _schema(name: str) -> Draft202012Validator:
    text = (ROOT / "workflow" / "schemas" / f"{name}.schema.yaml").read_text()
    return Draft202012Validator(yaml.safe_load(text))


def _entry(path: Path, plain: Any) -> bool:
    (source,) = load_registry(path.parent).sources.values()
    fits = plain is not None and _schema("registry").is_valid(plain)
    return fits and _same(source.model_dump(exclude_unset=True), plain)


def _config(path: Path, plain: Any) -> bool:
    read_yaml(path)
    content = load_configfile(path)
    check_config(content, REGISTRY)
    if not _schema("config").is_valid(content):
        raise ConfigError("Snakemake's `validate` refuses it")
    return plain is not None and _same(content, plain)


def _pointer(path: Path, plain: Any) -> bool:
    inside, cache = path.parent.resolve(), (path.parent / "files" / "md5").resolve()
    found = read_pointers(path)
    return plain is not None and all(
        inside in one.target.resolve().parents
        and one.in_cache(path.parent).resolve().is_relative_to(cache)
        for one in found
    )


def _of(*places: str) -> list[str]:
    return [path.read_text("utf-8") for place in places for path in sorted(ROOT.glob(place))]


KINDS = {
    "descriptions": Kind(
        lambda: DESCRIPTIONS, "patients.yaml", read_by_description, yaml.BaseLoader,
        "the first figure counts cells and outcomes of a plain reading",
    ),
    "registry": Kind(
        partial(_of, "config/registry/*.yaml"), "mutated.yaml", _entry, yaml.SafeLoader,
        "the first figure counts entries that fit their schema and say what the text says",
    ),
    "configuration": Kind(
        partial(_of, "config/*.yaml"), "config.yaml", _config, yaml.SafeLoader,
        "by Snakemake's reader; the first figure as of the registry",
    ),
    "DVC pointers": Kind(
        lambda: [(CORPUS / "pointer.dvc").read_text()], "x.dvc", _pointer, yaml.SafeLoader,
        "the first figure counts those that stay in their folder",
    ),
}  # fmt: skip
REGISTRY = load_registry(ROOT / "config" / "registry", private=False)


def fuzz_documents(work: Path, numbers: range, kinds: list[str] | None = None) -> Iterator[Row]:
    """Give every reader of a YAML document mutants; one row a kind of document."""
    for name in kinds or KINDS:
        kind = KINDS[name]
        prepare = partial(_mutants, work, name, kind)
        yield counted(f"document: {name}", trials(prepare, numbers), kind.how)


def _mutants(work: Path, name: str, kind: Kind) -> Trial:
    starts, path = kind.texts(), work / name / kind.path
    path.parent.mkdir(exist_ok=True)

    def trial(i: int) -> tuple[str, str]:
        draw = random.Random(i)
        content = mutant(draw.choice(starts), draw, kind.loader)
        path.write_bytes(content)
        plain = plainly(content, kind.loader)
        read = partial(kind.right, path, plain)
        told = tried(read, f"{name}: mutant {i}", one_line=name != "descriptions")
        return told, hashlib.sha256(content).hexdigest()[:16]

    return trial
