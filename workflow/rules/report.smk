# The report waits for the judge where both are asked for. Else it shows what of the judge is here.
_JUDGED = beside if "everything" in asked.targets else []
# What each is, its place says.
_RECORDS = [
    *layout.all_runs(),
    *layout.profile_files(),
    *collect("results/sweeps/{sweep}.parquet", sweep=config["sweeps"]),
    *collect("results/case_study/{case}.json", case=config["case_studies"]),
    *collect("results/theory/{name}.json", name=config["theory"]),
    *layout.skmeans_files(),
    *layout.decomposition_files(),
]


rule report:
    input:
        records=to_make([*_RECORDS, *_JUDGED]),
        scores=[
            with_scores(run)[1]
            for run in (*report_runs, *(run for run in runs_beside if run in _JUDGED))
        ],
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
        standing=[file for file in (*_RECORDS, *runs_beside) if file in standing],
        tables=folder_digest(project / "docs/results", "*.csv"),
        judged=lambda wildcards: [*_JUDGED, *judged_before()],
        judgements=lambda wildcards: files_digest(judged_before()),
    script:
        "../scripts/report.py"
