def profile_entry(wildcards):
    entry = registry.dataset(wildcards.dataset)
    generated = wildcards.dataset.startswith("demo_")
    return {
        "ranges": entry.ranges,
        "restricted": registry.source(entry.source).restricted and not generated,
        "pairwise": entry.pairwise,
    }


rule profile:
    input:
        features="data/features/{variant}{dataset}.parquet",
    output:
        profile="results/profiles/{variant}{dataset}.json",
    log:
        "logs/profiles/{variant}{dataset}.log",
    benchmark:
        "logs/benchmarks/profiles/{variant}{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    threads: 1
    resources:
        mem_mb=1500,
    params:
        entry=profile_entry,
    script:
        "../scripts/profile.py"
