"""Make the report from finished runs."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.catalogue.registry import load_registry, registry_folder
    from deepcac_study.catalogue.run_paths import runs_among
    from deepcac_study.jobs.layout import Layout
    from deepcac_study.records.record import scores_path
    from deepcac_study.report.site.page import BesideRecords, ShippedRecords, build

    project, params = Path(snakemake.config["project"]), snakemake.params
    registry = registry_folder(project)
    layout = Layout(load_registry(registry), snakemake.config)
    records = list(dict.fromkeys([*params.records, *params.judged]))
    build(
        records,
        registry,
        Path(snakemake.output.page).parent,
        data=BesideRecords(
            cohorts=Path("data/cohorts"),
            features=Path("data/features"),
            # No input: raw files are not shared, and after a pull nothing but the report is made.
            truth=Path("data/raw").glob("demo_*/subtypes.csv"),
            inputs={run: layout.run_inputs(**one) for run in records for one in runs_among([run])},
        ),
        shipped=ShippedRecords(
            tables=project / "docs" / "results",
            unscored={run for run in params.unscored if not scores_path(run).exists()},
        ),
        threads=snakemake.threads,
    )
