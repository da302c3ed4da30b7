"""The registry: schema faults and unknown ids are one line that says where and what is near."""

from pathlib import Path

import pytest
import yaml

from deepcac.errors import ConfigError
from deepcac_study.catalogue.entries import RawFile
from deepcac_study.catalogue.registry import Registry, load_registry

DIGEST = "ab" * 32
ENTRY = {
    "title": "Letters",
    "licence": "CC0",
    "citation": "nobody",
    "homepage": "https://example.org/",
    "restricted": False,
    "files": {
        "set-a.archive": {"path": "letters/set-a.tar.xz", "content_sha256": DIGEST, "members": 2},
        "names.txt": {
            "path": "letters/names.txt",
            "url": "https://example.org/n",
            "sha256": DIGEST,
        },
    },
    "datasets": {
        "vowels": {"title": "Vowels", "label": "is one", "positive": "a vowel", "task": "binary"}
    },
}


def write(folder: Path, source: str = "letters", **changes: object) -> Path:
    (folder / f"{source}.yaml").write_text(yaml.safe_dump({**ENTRY, **changes}))
    return folder


def test_typed_entries(tmp_path):
    registry = load_registry(write(tmp_path))
    assert registry.file("letters", "names.txt") == RawFile(
        source="letters",
        name="names.txt",
        path="letters/names.txt",
        url="https://example.org/n",
        sha256=DIGEST,
    )
    archive = registry.file("letters", "set-a.archive")
    assert archive.is_archive
    assert (archive.digest, archive.members, archive.url) == (DIGEST, 2, None)
    vowels = registry.dataset("vowels")
    assert (vowels.source, vowels.sequence, vowels.switches) == ("letters", False, ())
    with pytest.raises(ConfigError, match="generated for vowels"):
        registry.dataset("demo_vowels")
    generated = registry.sources["letters"].model_copy(update={"simulate": "a step"})
    assert Registry({"letters": generated}).dataset("demo_vowels") is vowels
    assert registry.source("demo_letters") is registry.source("letters")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.dataset("vovels"), "'vovels'; near names: vowels"),
        (lambda r: r.source("zzz"), "unknown source 'zzz'; known: letters"),
        (lambda r: r.file("letters", "name.txt"), "near names: names.txt"),
    ],
)
def test_unknown_ids_list_near_names(tmp_path, call, message):
    with pytest.raises(ConfigError) as caught:
        call(load_registry(write(tmp_path)))
    assert message in str(caught.value)


def test_restricted_files_are_never_fetched(tmp_path):
    registry = load_registry(write(tmp_path, restricted=True))
    with pytest.raises(ConfigError, match="letters is restricted"):
        registry.file("letters", "names.txt")


def test_a_source_without_a_licence_is_closed(tmp_path):
    write(tmp_path)
    unstated = {name: value for name, value in ENTRY.items() if name != "licence"}
    others = {"files": {}, "datasets": {"words": ENTRY["datasets"]["vowels"]}}
    (tmp_path / "words.yaml").write_text(yaml.safe_dump({**unstated, **others}))
    registry = load_registry(tmp_path)
    assert not registry.source("letters").closed
    assert registry.source("words").closed


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"licence": None}, r"at \$\.licence"),
        ({"licens": "CC0"}, "licens"),
        ({"files": {"../x": {"path": "x", "sha256": DIGEST}}}, r"\.\./x"),
        ({"files": {"x.txt": {"path": "../x", "sha256": DIGEST}}}, "path"),
        ({"files": {"x.txt": {"path": "a/../x", "sha256": DIGEST}}}, "path"),
        ({"files": {"x.txt": {"path": "x", "sha256": "AB"}}}, "sha256"),
        ({"files": {"x.txt": {"path": "x", "content_sha256": DIGEST}}}, "sha256"),
        ({"files": {"x.archive": {"path": "x.zip", "sha256": DIGEST}}}, "content_sha256"),
        ({"files": {"x.txt": {"path": "x", "sha256": DIGEST, "url": "file:///etc/passwd"}}}, "url"),
        ({"datasets": {}}, "datasets"),
        ({"datasets": {"vowels": {**ENTRY["datasets"]["vowels"], "task": "guess"}}}, "guess"),
    ],
)
def test_schema_faults_name_file_and_place(tmp_path, changes, where):
    write(tmp_path, **changes)
    with pytest.raises(ConfigError, match=where) as caught:
        load_registry(tmp_path)
    assert "letters.yaml: at $" in str(caught.value)


@pytest.mark.parametrize("name", ["demo_x", "judge", "theory", "as_published"])
def test_names_of_generated_data_and_of_folders_are_no_data_sets(tmp_path, name):
    write(tmp_path, datasets={name: ENTRY["datasets"]["vowels"]})
    with pytest.raises(ConfigError, match=f"'{name}' .*the workflow itself"):
        load_registry(tmp_path)
    (tmp_path / "letters.yaml").rename(tmp_path / f"{name}.yaml")
    write(tmp_path, source=name)
    with pytest.raises(ConfigError, match="the workflow itself"):
        load_registry(tmp_path)


def test_a_data_set_has_one_source(tmp_path):
    write(write(tmp_path), source="other")
    with pytest.raises(ConfigError, match="'vowels' .*letters .*other"):
        load_registry(tmp_path)


@pytest.mark.parametrize("value", ["2020-02-30", "9" * 5000, "[" * 30_000, "- " * 30_000])
def test_a_value_that_yaml_knows_and_python_does_not_is_one_line(value, tmp_path):
    (tmp_path / "odd.yaml").write_text(f"title: {value}\n")
    with pytest.raises(ConfigError, match=r"odd\.yaml.*: (is no YAML|has too many)") as caught:
        load_registry(tmp_path)
    assert "\n" not in str(caught.value)


def test_what_is_no_yaml(tmp_path):
    with pytest.raises(ConfigError, match="no registry here"):
        load_registry(tmp_path)
    (tmp_path / "bad.yaml").write_text("title: [unclosed\n")
    with pytest.raises(ConfigError, match=r"bad\.yaml, line \d: is no YAML") as caught:
        load_registry(tmp_path)
    assert "\n" not in str(caught.value)
    (tmp_path / "bad.yaml").write_text("title: größe\n", encoding="utf-16")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_registry(tmp_path)
    (tmp_path / "bad.yaml").write_text("!!python/object/apply:os.getcwd []\n")
    with pytest.raises(ConfigError, match="is no YAML"):
        load_registry(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [("title: another", "line 3: 'title' occurs twice"), ("note: &y [*y]", "aliases")],
)
def test_what_would_be_read_in_one_of_two_ways_or_without_end(line, message, tmp_path):
    (tmp_path / "odd.yaml").write_text(f"title: one\nlicence: &x [a]\n{line}\n")
    with pytest.raises(ConfigError, match=message):
        load_registry(tmp_path)


def test_the_registry_of_the_project_is_valid():
    registry = load_registry(Path(__file__).parents[3] / "config" / "registry")
    assert registry.dataset("diabetes").switches == ("U2",)


def private(folder: Path, source: str, **changes: object) -> None:
    (folder / "private").mkdir()
    write(folder / "private", source, **changes)


def test_a_private_entry_never_replaces_a_public_one(tmp_path):
    private(write(tmp_path), "letters")
    with pytest.raises(ConfigError, match=r"private.letters\.yaml: .*public source 'letters'"):
        load_registry(tmp_path)
    assert load_registry(tmp_path, private=False).sources.keys() == {"letters"}


@pytest.mark.parametrize("restricted", [False, True])
def test_the_folder_of_an_entry_decides_whether_it_is_private(tmp_path, restricted):
    sets = {"mine": ENTRY["datasets"]["vowels"]}
    private(write(tmp_path), "mine", restricted=restricted, private=False, datasets=sets)
    registry = load_registry(tmp_path)
    assert registry.source("mine").closed
    assert not registry.source("letters").closed
