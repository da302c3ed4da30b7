rule report:
    """Make the report from finished runs: nothing is fitted."""
    input:
        made=to_make(report_records),
        runs=run_files(layout.all_runs()),
        judged=judge_asked_for,
        cohorts=layout.cohort_files(),
        features=[file for file in layout.feature_files() if file.count("/") == 2],
    output:
        # The folder as a site, so that links and pictures hold in Snakemake's own report too.
        site=report(
            directory("results/report"),
            htmlindex="index.html",
            caption="../report/page.rst",
            category="Report",
            labels={"what": "all pages"},
        ),
        page="results/report/index.html",
        pages=directory("results/report/pages"),
        ledger=report(
            "results/report/ledger.csv",
            caption="../report/ledger.rst",
            category="Report",
            labels={"what": "ledger of printed cells"},
        ),
        claims=report(
            "results/report/claims.csv",
            caption="../report/claims.rst",
            category="Report",
            labels={"what": "verdicts on the claims"},
        ),
        summary="results/report/summary.csv",
        tables=report(
            directory("results/report/tables"),
            patterns=["{table}.csv"],
            caption="../report/tables.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        figures=report(
            directory("results/report/figures"),
            patterns=["{figure}.svg"],
            caption="../report/figures.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
    log:
        "logs/report.log",
    benchmark:
        "logs/benchmarks/report.tsv"
    conda:
        "../../envs/deepcac.yaml"
    # Half of its time is drawing, which any number of cores can share.
    threads: 4
    resources:
        mem_mb=grows(4000),
    params:
        code=code_digest("deepcac_study.report", "deepcac_study.papers"),
        registry=folder_digest(registry_path),
        # Labels, colours and texts; `code` leaves the catalogue's tables out.
        catalogue=[
            folder_digest(project / "src/deepcac_study/catalogue", kind)
            for kind in ("*.yaml", "*.csv")
        ],
        tables=folder_digest(project / "docs/results", "*.csv"),
        records=[*layout.all_runs(), *report_records],
        judged=judge_files_here,
        judgements=judge_digest,
        unscored=unscored_runs(),
    script:
        "../scripts/report.py"


rule share:
    """Push features, splits, shared stages, records and scores of open origin to the DVC remote."""
    input:
        shared_inputs,
    log:
        "logs/share.log",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.jobs.sharing.share",
        root=".",
        files=shared_outputs,
        closed=closed_origins,
    script:
        "../scripts/call.py"


# It has no output: a page that tells of a difference must outlive the failed job.
rule spotcheck:
    """Draw shipped records, make them again from raw files in a folder of their own, and compare."""
    log:
        "logs/spotcheck.log",
    localrule: True
    conda:
        "../../envs/deepcac.yaml"
    # `workflow.cores` would refuse every call without `--cores`, such as that of a cluster.
    threads: workflow.resource_settings.cores or 1
    params:
        call="deepcac_study.jobs.spot_runs.spot_check",
        project=str(project),
        folder="spotcheck",
        draws=config["draws"],
        seed=config["seed"],
        minutes=config["minutes"],
        places={
            name: config[name]
            for name in ("mirrors", "restricted", "signature_backend")
        },
    script:
        "../scripts/call.py"
