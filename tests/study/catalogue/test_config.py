"""The configuration: defaults, one-line refusals with near names, and the page made from it."""

from pathlib import Path

import pytest
import yaml

from deepcac.errors import ConfigError
from deepcac_study.catalogue.config import Config, check_config
from deepcac_study.catalogue.describe import describe_keys, schema
from deepcac_study.catalogue.entries import Source
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.catalogue.retired import RETIRED

ROOT = Path(__file__).parents[3]
REGISTRY = load_registry(ROOT / "config" / "registry")
PLAN = {"part": "cac", "protocols": ["sound"], "datasets": ["cic"], "methods": ["lr"], "k": [2]}


@pytest.mark.parametrize("name", ["config", "demo"])
def test_the_projects_own_configurations_are_valid(name):
    given = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text())
    assert check_config(given, REGISTRY)["runs"][0]["part"] == given["runs"][0]["part"]


def test_what_is_left_out_is_empty_or_has_its_default():
    config = check_config({"datasets": ["cic"]}, REGISTRY)
    assert (config["runs"], config["sweeps"], config["mirrors"]) == ([], [], [])
    assert (config["seeds"], config["restricted"]["mimic3"]) == ([0, 1, 2, 3, 4], None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sedes": [1]}, r"at \$\.sedes: .*'seeds'\?"),
        ({"zzz": 1}, r"at \$\.zzz: no such key; known: mirrors, "),
        ({"runs": [{**PLAN, "dataset": ["cic"]}]}, r"runs\.0\.dataset: .*mean 'datasets'"),
        ({"judge": {"trails": 3}}, r"judge\.trails: .*'trials'"),
        ({"seeds": [1, 1]}, "seed .*twice"),
        ({"seeds": []}, r"at \$\.seeds"),
        ({"datasets": ["cci"]}, "'cci'; near names: cic"),
        ({"sweeps": ["alpha_cci_k2"]}, "'cci'; near names: cic"),
        ({"case_studies": ["as_published/cci_k3"]}, "'cci'; near names: cic"),
        ({"judge": {"clinical": {"cohorts": {"cci": "a"}}}}, "'cci'"),
        ({"judge": {"tables": {"contenders": ["cac_lrr"]}}}, "no model 'cac_lrr'; .*: cac_lr,"),
        ({"restricted": {"mimic": "/x"}}, "restricted.mimic"),
        ({"theory": ["cic"]}, r"at \$\.theory\.0"),
        (
            {"runs": [{**PLAN, "methods": ["cac_lgr"]}]},
            "unknown method 'cac_lgr'; near names: cac_lr",
        ),
        ({"runs": [{**PLAN, "datasets": ["adlut"]}]}, "near names: adult"),
        ({"runs": [{**PLAN, "protocols": ["published"]}]}, "no protocol 'published/'"),
        ({"runs": [{**PLAN, "switches": ["A1"]}]}, "protocols or switches"),
        ({"runs": [{**PLAN, "protocols": [], "switches": ["Z9"]}]}, "unknown switch 'Z9'"),
        ({"runs": [{**PLAN, "k": {"cic": [2]}}]}, "needs a `default`"),
        ({"runs": [{**PLAN, "k": {"default": [2], "cerdit": [2]}}]}, "data set 'cerdit'; .*credit"),
        ({"runs": [{**PLAN, "k": [0]}]}, r"at \$\.runs\.0\.k"),
        *(
            ({"runs": [{**PLAN, key: []}]}, rf"\$\.runs\.0\.{key}")
            for key in ("k", "methods", "datasets")
        ),
        ({"runs": [{**PLAN, "k": {"default": []}}]}, r"\$\.runs\.0\.k"),
        (
            {
                "runs": [
                    PLAN,
                    {**PLAN, "part": "deep", "datasets": ["sepsis_ts"], "methods": ["deepcac"]},
                ]
            },
            r"^runs\.1: .*deepcac and sepsis_ts .*_ts",
        ),
        (
            {"runs_beside": [{**PLAN, "methods": ["deepcac_ts"]}]},
            r"^runs_beside\.0: nothing is run",
        ),
        ({"theory": ["cic_los_k3"]}, "theory: cic_los has several classes"),
    ],
)
def test_faults_are_one_line_with_the_place(given, message):
    with pytest.raises(ConfigError, match=message) as caught:
        check_config(given, REGISTRY)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", RETIRED)
def test_a_key_of_a_finished_study_is_refused_with_the_page_of_its_answer(key):
    given: object = []
    for name in reversed(key.split(".")):
        given = {name: given}
    with pytest.raises(ConfigError, match=rf"{key}: .*docs/archive/studies\.md"):
        check_config(given, REGISTRY)


def test_the_page_on_the_configuration_is_made_from_the_models():
    page = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    assert page == describe_keys(page), "run: python -m deepcac_study.catalogue.describe"
    assert "`signature_backend`" in page


@pytest.mark.parametrize(("name", "model"), [("config", Config), ("registry", Source)])
def test_the_schemas_for_editors_are_made_from_the_models(name, model):
    committed = (ROOT / "workflow" / "schemas" / f"{name}.schema.yaml").read_text("utf-8")
    assert committed == schema(model), "run: python -m deepcac_study.catalogue.describe"
