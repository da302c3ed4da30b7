"""docs/workflow.md is right: another workflow takes the rules and builds on their results."""

import json
import re
import subprocess

import pytest
from checkouts import ROOT, checkout, snakemake


def snakefile() -> str:
    page = (ROOT / "docs" / "workflow.md").read_text()
    (block,) = re.findall(r"^```python\n(module .*?)^```$", page, flags=re.S | re.M)
    return block


@pytest.mark.long
@pytest.mark.slow
def test_another_workflow_uses_this_one(tmp_path):
    clone, outside = tmp_path / "DeepCAC-repro", tmp_path
    clone.mkdir()
    checkout(clone)
    (outside / "Snakefile").write_text(snakefile())
    said = snakemake(outside, "--cores", "1", home=clone)
    assert re.search(r"^deepcac_run +1$", said, re.MULTILINE)
    record = json.loads((outside / "results/demo_diabetes/lr_k1.json").read_text())
    assert [split["seed"] for split in record["splits"]] == [0]  # of its own configuration
    shown = re.search(r'"mean": ([\d.]+)', (outside / "mine" / "auroc.txt").read_text())
    assert float(shown[1]) == record["summary"]["auroc"]["mean"]
    assert [path.name for path in (clone / "results").iterdir()] == ["README.md"]


@pytest.mark.long
def test_a_module_comes_from_a_hosted_repository_at_a_commit(tmp_path):
    """A bare repository stands in for the host, by git's own `insteadOf`."""
    served, outside = tmp_path / "host" / "owner" / "project.git", tmp_path / "mine"
    outside.mkdir()
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    subprocess.run(["git", "clone", "-q", "--bare", str(ROOT), str(served)], check=True)
    text = snakefile().replace(
        '"DeepCAC-repro/workflow/Snakefile"',
        f'github("owner/project", path="workflow/Snakefile", commit="{commit}")',
    )
    (outside / "Snakefile").write_text(text)
    stand_in = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{tmp_path}/host/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    target = "data/splits/demo_diabetes.parquet"
    snakemake(outside, "--cores", "1", target, home=ROOT, env=stand_in)
    assert (outside / "data/splits/demo_diabetes.parquet").exists()
    copy = outside / ".snakemake" / "modules" / commit
    assert (copy / "config" / "registry").is_dir()


@pytest.mark.long
def test_a_module_from_gitfile_is_refused_in_one_line(tmp_path):
    block = f'gitfile("{ROOT}", path="workflow/Snakefile", ref="HEAD")'
    text = snakefile().replace('"DeepCAC-repro/workflow/Snakefile"', block)
    (tmp_path / "Snakefile").write_text(text)
    said = snakemake(tmp_path, "-n", code=1, home=ROOT)
    assert "a clone" in said
    assert "Traceback" not in said
