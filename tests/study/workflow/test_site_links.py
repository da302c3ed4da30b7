"""The built documentation has no dead link and needs no network."""

import pytest
import site_links


def site_of(folder, body):
    (folder / "index.html").write_text(f"<p id=top>{body}</p>")
    (folder / "other.html").write_text('<h2 id="here">here</h2>')
    return str(folder)


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other.html#here">in the site</a>',
        '<a href="#top">on the page</a>',
        '<a href="https://example.org/">elsewhere</a>',
        '<img src="data:image/png;base64,AA">',
    ],
)
def test_what_leads_somewhere_passes_and_stays(tmp_path, body):
    with pytest.raises(SystemExit) as end:
        site_links.main(site_of(tmp_path, body))
    assert end.value.code == 0
    assert body in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="gone.html">x</a>', "gone.html does not exist"),
        ('<a href="other.html#gone">x</a>', "no place other.html#gone"),
        ('<a href="../src/gone.py">x</a>', "gone.py does not exist"),
        ('<img src="gone.png">', "gone.png does not exist"),
        ('<script src="https://example.org/a.js"></script>', "from the network"),
    ],
)
def test_what_is_dead_is_told(tmp_path, body, said):
    with pytest.raises(SystemExit, match=said):
        site_links.main(site_of(tmp_path, body))


def test_a_file_of_the_repository_keeps_its_name_and_loses_its_link(tmp_path):
    with pytest.raises(SystemExit) as end:
        site_links.main(site_of(tmp_path, 'see <a href="../pyproject.toml"><code>it</code></a>'))
    assert end.value.code == 0
    assert "see <code>it</code></p>" in (tmp_path / "index.html").read_text()
