"""Generate Synth."""

from deepcac.job import job

with job(snakemake):
    from deepcac.features.pairwise import write_pairwise
    from deepcac.simulate.synth_pairs import synth_pairs

    write_pairwise(snakemake.output.rows, synth_pairs())
