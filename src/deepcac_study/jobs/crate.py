"""Description of a finished run as a Provenance Run Crate: jobs, their inputs and outputs.

The description is one file, ``ro-crate-metadata.json``, in the project's folder (profile
Provenance Run Crate 0.6, on RO-Crate 1.3). It holds names, sizes and digests, never rows of data.
"""

import csv
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import Any

from deepcac.errors import ConfigError, DataError
from deepcac_study import sourcecode
from deepcac_study.records.record import file_digest

_PROFILES = (
    "https://w3id.org/ro/wfrun/process/0.6",
    "https://w3id.org/ro/wfrun/workflow/0.6",
    "https://w3id.org/ro/wfrun/provenance/0.6",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.1",
)
_SNAKEFILE = "workflow/Snakefile"
_WORKFLOW = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]  # it has steps
_TERMS = "https://w3id.org/ro/terms/workflow-run/context"
_COLUMNS = ("output_file", "date", "rule", "log-file(s)", "input-file(s)", "status", "plan")


@dataclass(frozen=True)
class Finished:
    """One finished job."""

    rule: str
    # Files, relative to the project where they lie in it.
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ended: str  # when the last output was written, ISO 8601, local time with its offset


def read_summary(text: str, targets: Iterable[str] = ("all",)) -> list[Finished]:
    """Parse the output of ``snakemake --detailed-summary`` for targets, a job each.

    Another format, or a file that is missing or out of date, is a `DataError`.
    """
    lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
    if not lines or not set(_COLUMNS) <= set(lines[0]):
        raise DataError("no summary of a run; give what `snakemake --detailed-summary` prints")
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for line in lines[1:]:
        row = dict(zip(lines[0], line, strict=True))
        if row["status"] != "ok" or row["plan"] != "no update":
            state = row["status"] if row["status"] != "ok" else row["plan"]
            raise DataError(
                f"{row['output_file']}: {state}; finish the run of {', '.join(targets)} before it "
                "is described, or name the target that has run"
            )
        groups.setdefault((row["rule"], row["log-file(s)"]), []).append(row)
    return [_job(rows) for rows in groups.values()]


def _job(rows: list[dict[str, str]]) -> Finished:
    """Return the finished job of these rows, one row per output file."""
    inputs = rows[0]["input-file(s)"]
    ended = max(time.mktime(time.strptime(row["date"])) for row in rows)
    return Finished(
        rule=rows[0]["rule"],
        inputs=tuple(name for name in inputs.split(",") if name not in ("", "-")),
        outputs=tuple(row["output_file"] for row in rows),
        ended=datetime.fromtimestamp(ended).astimezone().isoformat(),
    )


def _with_runs(root: Path, job: Finished) -> Finished:
    """Add the runs that a table's list names to the outputs of its job."""
    runs = [
        f"{os.path.dirname(name)}/{row['run']}{end}"
        for name in job.outputs
        if os.path.basename(name) == "runs.csv"
        for row in csv.DictReader((root / name).read_text(encoding="utf-8").splitlines())
        for end in (".json", ".scores.parquet")
    ]
    return replace(job, outputs=(*job.outputs, *runs))


def describe(root: Path, jobs: Iterable[Finished], configuration: Iterable[str]) -> Path:
    """Write the crate of a finished run, and return its ``ro-crate-metadata.json``.

    The project's folder becomes the crate; configuration files are relative to it. Without rocrate
    it is a `ConfigError`.
    """
    try:
        from rocrate.rocrate import ROCrate
    except ImportError as error:
        raise ConfigError("rocrate is missing; pip install 'deepcac[crate]'") from error
    crate = ROCrate(version="1.3")
    crate.metadata.extra_contexts.append(_TERMS)
    crate.name = "A finished run of DeepCAC-repro"
    crate.description = "Clustering-aware classification, from raw clinical data to the report"
    crate.license = "BSD-3-Clause (the workflow); each source's data have licences of their own"
    profiles = [
        _add(crate, profile, ["CreativeWork", "Profile"], name=f"Profile {kind}", version=number)
        for profile in _PROFILES
        for *_, kind, number in [profile.split("/")]
    ]
    crate.root_dataset["conformsTo"] = profiles
    _Run(crate, root, [_with_runs(root, job) for job in jobs]).describe(list(configuration))
    path: Path = root / "ro-crate-metadata.json"
    crate.metadata.write(root)
    return path


def _add(crate: Any, id_: str, kind: str | list[str], **properties: Any) -> Any:
    from rocrate.model.contextentity import ContextEntity

    return crate.add(ContextEntity(crate, id_, properties={"@type": kind, **properties}))


class _Run:
    """The entities of one run."""

    def __init__(self, crate: Any, root: Path, jobs: list[Finished]) -> None:
        self.crate, self.root, self.jobs = crate, root, jobs
        self.files: dict[str, Any] = {}
        self.versions = versions()

    def describe(self, configuration: list[str]) -> None:
        """Add the workflow, its steps, every job and the run as a whole."""
        rules = sorted({job.rule for job in self.jobs})
        workflow = self._workflow(rules)
        made = {name for job in self.jobs for name in job.outputs}
        read = {name for job in self.jobs for name in job.inputs} - made
        settings = [self._file(name) for name in configuration]
        run = self.crate.add_action(
            workflow,
            "#run",
            object=settings + [self._file(name) for name in sorted(read)],
            result=[self._file(name) for name in sorted(made)],
            properties={"name": "The run", "endTime": max(job.ended for job in self.jobs)},
        )
        self.crate.root_dataset["mentions"] = run
        controls = [self._control(i, job) for i, job in enumerate(self.jobs)]
        self._organise(run, controls)

    def _workflow(self, rules: list[str]) -> Any:
        """Add the workflow with a step and a tool per rule; return its entity."""
        source = self.root / _SNAKEFILE
        properties = {"@type": _WORKFLOW, **_facts(source)}
        workflow = self.crate.add_workflow(
            source, _SNAKEFILE, main=True, lang="snakemake", properties=properties
        )
        workflow["programmingLanguage"]["version"] = self.versions.get("snakemake", "unknown")
        tools = [
            self._software(f"tool-{rule}", rule, self.versions.get("deepcac", "unknown"))
            for rule in rules
        ]
        steps = [
            _add(self.crate, f"#step-{rule}", "HowToStep", name=rule, position=str(i))
            for i, rule in enumerate(rules)
        ]
        for step, tool in zip(steps, tools, strict=True):
            step["workExample"] = tool
        workflow["step"], workflow["hasPart"] = steps, tools
        return workflow

    def _control(self, i: int, job: Finished) -> Any:
        """Add the action of job `i`; return the control action that started it."""
        action = self.crate.add_action(
            self.crate.get(f"#tool-{job.rule}"),
            f"#job-{i}",
            object=[self._file(name) for name in job.inputs],
            result=[self._file(name) for name in job.outputs],
            properties={"name": f"Job of {job.rule}", "endTime": job.ended},
        )
        step = self.crate.get(f"#step-{job.rule}")
        control = _add(self.crate, f"#control-{i}", "ControlAction", name=f"Start of {job.rule}")
        control["instrument"], control["object"] = step, action
        return control

    def _organise(self, run: Any, controls: list[Any]) -> None:
        """Add Snakemake's action, which ran `controls` and made `run`."""
        engine, *libraries = [
            self._software(id_, name, self.versions.get(name, "unknown"))
            for id_, name in (
                ("snakemake", "snakemake"),
                *((f"software-{name}", name) for name in self.versions if name != "snakemake"),
            )
        ]
        engine["softwareRequirements"] = libraries
        whole = _add(self.crate, "#organise", "OrganizeAction", name="Snakemake's run")
        whole["instrument"], whole["object"], whole["result"] = engine, controls, run

    def _software(self, id_: str, name: str, version: str) -> Any:
        about = {"name": name, "softwareVersion": version, "version": version}
        return _add(self.crate, f"#{id_}", "SoftwareApplication", url=_page_of(name), **about)

    def _file(self, name: str) -> Any:
        """Return the entity of a file; outside the project it is named without its folder."""
        path = self.root / name
        if name not in self.files:
            inside = path.resolve().is_relative_to(self.root.resolve())
            if inside and path.is_dir():
                entity = self.crate.add_dataset(path, name)
            elif inside:
                entity = self.crate.add_file(path, name, properties=_facts(path))
            else:
                outside = f"#outside-{os.path.basename(name)}"
                entity = _add(self.crate, outside, "File", name=os.path.basename(name))
            self.files[name] = entity
        return self.files[name]


def _facts(path: Path) -> dict[str, str]:
    """Return size and digest of a file."""
    return {"contentSize": str(path.stat().st_size), "sha256": file_digest(path)}


def _page_of(name: str) -> str:
    """Return the home page in a distribution's metadata, the Snakefile for a rule."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return _SNAKEFILE
    links = (line.partition(",")[2].strip() for line in about.get_all("Project-URL") or ())
    return next(iter([*(about.get_all("Home-page") or ()), *links]), _SNAKEFILE)


def versions() -> dict[str, str]:
    """Return the versions of this package and of what it depends on, as far as installed."""
    lines = ("deepcac", *(requires("deepcac") or ()))
    return sourcecode.versions(re.split(r"[;\[>=]", line)[0].strip() for line in lines)
