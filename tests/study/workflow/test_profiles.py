"""The profiles: none overrides another, every job asks for more when tried again."""

import os
import re
from pathlib import Path

import pytest
import yaml
from checkouts import ROOT, checkout, snakemake
from stores import bucket  # noqa: F401 (a fixture)

PROFILES = {path.parent.name: path for path in (ROOT / "workflow" / "profiles").glob("*/*.yaml")}
CLUSTERS = ("slurm", "lsf", "cluster-generic")
TARGET = "results/demo_cic/deepcac_k2.json"


def keys(name: str) -> dict[str, object]:
    return yaml.safe_load(PROFILES[name].read_text())


def test_the_default_profile_and_those_of_clusters_share_no_key():
    assert PROFILES.keys() == {"default", "gpu", "kubernetes", *CLUSTERS}
    for name in PROFILES.keys() - {"default"}:
        assert keys("default").keys() & keys(name).keys() == set(), name


def test_what_was_not_tried_says_so():
    untried = {name for name, path in PROFILES.items() if path.read_text().startswith("# UNTRIED")}
    assert untried == {"lsf", "kubernetes", "cluster-generic"}


def test_every_rule_that_is_grouped_has_the_slot():
    profile = keys("slurm")
    grouped = {entry.split("=")[0] for entry in profile["groups"]}
    assert grouped == profile["set-resources"].keys()
    groups = {entry.split("=")[1] for entry in profile["groups"]}
    assert groups == {entry.split("=")[0] for entry in profile["group-components"]}


def test_what_a_cluster_asks_for_a_rule_holds_with_the_profile_for_gpus_too():
    """Of two profiles the later one replaces a key whole."""
    gpu = keys("gpu")
    shared = {name: keys(name).keys() & gpu.keys() for name in CLUSTERS}
    assert shared["slurm"] == {"set-resources"}
    for name, names in shared.items():
        for key in names:
            assert keys(name)[key].items() <= gpu[key].items(), (name, key)


def demo(folder: Path, target: str, *options: str) -> str:
    """Call the workflow with the demo's configuration; return what it says."""
    return snakemake(folder, "--configfile", "config/demo.yaml", *options, "--", target)


def dry_run(folder: Path, *options: str) -> str:
    return demo(folder, TARGET, "--dry-run", "-p", *options)


def asked(said: str) -> dict[str, dict[str, str]]:
    """Return the resources of each rule in a dry run."""
    found = re.findall(r"^ *rule (\w+):\n(?: +.*\n)*? +resources: (.*)$", said, re.MULTILINE)
    return {rule: dict(part.split("=") for part in line.split(", ")) for rule, line in found}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["slurm", *(pytest.param(name, marks=pytest.mark.long) for name in CLUSTERS[1:])]
)
def test_a_dry_run_with_the_profile_of_a_cluster_and_gpus(name, tmp_path):
    pytest.importorskip(f"snakemake_executor_plugin_{name.replace('-', '_')}")
    profiles = [f"--profile=workflow/profiles/{each}" for each in (name, "gpu")]
    resources = asked(dry_run(checkout(tmp_path), *profiles))
    assert len(resources) == 6
    assert {rule for rule, own in resources.items() if own.get("gpu") == "1"} == {
        "pretrain",
        "deep_run",
    }
    assert resources["deep_run"]["mem_mb"] == "4000"
    assert resources["deep_run"]["runtime"] == "120"
    assert resources["build_features"]["runtime"] == "30"  # of the default profile


@pytest.mark.long
def test_a_site_names_one_rule_in_a_profile_of_its_own(tmp_path):
    folder = checkout(tmp_path / "clone")
    (tmp_path / "site").mkdir()
    site = "set-resources:\n  deep_run:\n    mem_mb: 12345\nset-threads:\n  pretrain: 2\n"
    (tmp_path / "site" / "config.yaml").write_text(site)
    options = ["--profile", str(tmp_path / "site"), "--cores", "2"]
    resources = asked(said := dry_run(folder, *options))
    assert {rule for rule, own in resources.items() if own["mem_mb"] == "12345"} == {"deep_run"}
    assert re.search(r"rule pretrain:\n(?: +.*\n)*? +threads: 2\n", said)


@pytest.mark.long
def test_with_kubernetes_all_files_are_planned_in_a_bucket(tmp_path, bucket):  # noqa: F811
    pytest.importorskip("snakemake_executor_plugin_kubernetes")
    prefix = ["--default-storage-prefix", bucket]
    said = dry_run(checkout(tmp_path), "--profile=workflow/profiles/kubernetes", *prefix)
    assert f"{bucket}/{TARGET} (in storage)" in said
    assert f"{bucket}/config" not in said


@pytest.mark.long
def test_a_run_with_all_files_in_a_bucket(tmp_path, bucket):  # noqa: F811
    pytest.importorskip("snakemake_storage_plugin_s3")
    import boto3

    folder, target = checkout(tmp_path), "results/demo_diabetes/lr_k1.json"
    storage = ["--default-storage-provider", "s3", "--default-storage-prefix", bucket]
    demo(folder, target, "--cores", "1", *storage)
    name, _, prefix = bucket.removeprefix("s3://").partition("/")
    client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    listed = client.list_objects_v2(Bucket=name, Prefix=prefix)["Contents"]
    held = {entry["Key"].removeprefix(f"{prefix}/") for entry in listed}
    assert {target, "data/splits/demo_diabetes.parquet"} <= held
    assert not (folder / target).exists()


# Fails with what it asks for first; says what it was given.
SECOND = """\
include: "{root}/workflow/rules/resources.smk"

rule greedy:
    output: "done"
    resources: mem_mb=grows(70), runtime=grows(2)
    shell: "echo {{resources.mem_mb}} {{resources.runtime}} >>asked; [ {{resources.mem_mb}} -gt 100 ] && touch done"
"""
SUBMIT = """\
#!/bin/sh
# What a batch system does: starts the script elsewhere and prints an id.
"$@" >/dev/null 2>&1 &
echo $!
"""


def stand_in(folder: Path) -> list[str]:
    """Return the options of a call to a batch system that starts every job here."""
    pytest.importorskip("snakemake_executor_plugin_cluster_generic")
    submit = folder / "submit"
    submit.write_text(SUBMIT)
    submit.chmod(0o755)
    options = ["--profile", str(PROFILES["cluster-generic"].parent), "--latency-wait", "5"]
    options += ["--cluster-generic-submit-cmd", str(submit)]
    return [*options, "--seconds-between-status-checks", "1"]


@pytest.mark.long
def test_a_submitted_run_needs_no_number_of_cores(tmp_path):
    """A dry run counts its cores as one, so that only a real run tells."""
    folder = checkout(tmp_path / "clone")
    said = demo(folder, "data/features/demo_diabetes.parquet", *stand_in(tmp_path))
    assert "external jobid" in said
    assert (folder / "data/features/demo_diabetes.parquet").exists()


@pytest.mark.long
def test_a_job_that_fails_on_a_cluster_is_tried_with_more(tmp_path):
    (tmp_path / "Snakefile").write_text(SECOND.format(root=ROOT))
    snakemake(tmp_path, "--workflow-profile", "none", *stand_in(tmp_path), timeout=900, home=ROOT)
    assert (tmp_path / "asked").read_text().splitlines() == ["70 2", "140 4"]
