rule alpha_sweep:
    """Follow CAC pass by pass, for several alphas."""
    input:
        features=sound_feature_file,
        splits="data/splits/{dataset}.parquet",
    output:
        "results/sweeps/alpha_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/alpha_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/alpha_{dataset}_k{k}.tsv"
    priority: LONG
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        call="deepcac_study.experiments.sweeps.alpha_sweep",
        code=code_digest("deepcac_study.experiments.sweeps"),
        family="cac",
        n_splits=2,
    script:
        "../scripts/experiment.py"


# A rule that uses another one has from it each section, and each parameter, that it does not give.
use rule alpha_sweep as weight_sweep with:
    """Train DeepCAC with one weight of its loss moved."""
    input:
        features=sound_feature_file,
        splits="data/splits/{dataset}.parquet",
        pretrained="data/pretrained/{dataset}.safetensors",
    output:
        "results/sweeps/weights_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/weights_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/weights_{dataset}_k{k}.tsv"
    params:
        call="deepcac_study.experiments.sweeps.weight_sweep",
        family="deep",


use rule alpha_sweep as separation_sweep with:
    """Train the latents with each term that separates the classes, and with none."""
    input:
        features=sound_feature_file,
        splits="data/splits/{dataset}.parquet",
        pretrained="data/pretrained/{dataset}.safetensors",
    output:
        "results/sweeps/separation_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/separation_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/separation_{dataset}_k{k}.tsv"
    params:
        call="deepcac_study.experiments.networks.class_separation.separation_sweep",
        code=code_digest("deepcac_study.experiments.networks.class_separation"),
        family="deep",
        n_splits=None,


use rule alpha_sweep as start_sweep with:
    """Ask what a switch does to a network, and what another start of its autoencoder does."""
    input:
        features=sound_feature_file,
        splits="data/splits/{dataset}.parquet",
        runs=first_starts,
    output:
        "results/sweeps/starts_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/starts_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/starts_{dataset}_k{k}.tsv"
    params:
        call="deepcac_study.experiments.networks.switch_starts.start_sweep",
        code=code_digest("deepcac_study.experiments.networks.switch_starts"),
        family="deep",
        n_splits=None,


use rule alpha_sweep as theory with:
    """Evaluate both sides of the papers' theorems on one split."""
    output:
        "results/theory/{dataset}_k{k}.json",
    log:
        "logs/theory/{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/theory/{dataset}_k{k}.tsv"
    params:
        call="deepcac_study.experiments.theory.theorems.theory",
        code=code_digest("deepcac_study.experiments.theory.theorems"),
        n_splits=1,


rule grid_sweep:
    """Score the methods on every cell of the synthetic grid."""
    input:
        cells=rules.synthetic_grid.output.paths,
    output:
        path="results/sweeps/grid.parquet",
    log:
        "logs/sweeps/grid.log",
    benchmark:
        "logs/benchmarks/sweeps/grid.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        call="deepcac_study.experiments.sweeps.write_grid",
        code=code_digest("deepcac_study.experiments.sweeps"),
    script:
        "../scripts/call.py"


rule case_study:
    """Describe the clusters of DeepCAC in full, as its paper does of one data set."""
    input:
        features=feature_file,
        splits=split_file,
        pretrained=case_autoencoders,
        scores="results/{variant}{dataset}/deepcac_k{k}.scores.parquet",
    output:
        summary="results/case_study/{variant}{dataset}_k{k}.json",
        features="results/case_study/{variant}{dataset}_k{k}.features.parquet",
        plane="results/case_study/{variant}{dataset}_k{k}.plane.parquet",
    log:
        "logs/case_study/{variant}{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/case_study/{variant}{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        call="deepcac_study.experiments.case_study.write_case_study",
        code=code_digest("deepcac_study.experiments.case_study"),
        family="deep",
    script:
        "../scripts/experiment.py"
