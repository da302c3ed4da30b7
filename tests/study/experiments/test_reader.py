"""What a file is, its place says."""

import random

from deepcac_study.records.reader import FOLDERS, by_kind

PLACES = {
    "runs": ["cic/lr_k1.json", "as_published/cic/km_lr_k2.json", "switches/W1/cic/lr_k1.json"],
    "sweeps": ["sweeps/alpha_cic_k2.parquet", "sweeps/grid.parquet"],
    "case_study": ["case_study/cic_k3.json", "case_study/as_published/cic_k3.json"],
    "theory": ["theory/cic_k2.json"],
    "skmeans": ["skmeans/webkb_l/pair.json", "skmeans/times.json"],
    "decomposition": ["decomposition/uci_vote.json", "as_published/decomposition/uci_vote.json"],
    "bias_variance": ["bias_variance/uci_vote.json"],
    "clinical": ["judge/clinical/verdicts.csv", "judge/clinical/rhc/lr.json"],
    "known_then": ["judge/clinical/known_then/rhc/lr.json"],
    "by_place": ["judge/clinical/by_place/gusto_30d/lr.json"],
    "by_size": ["judge/by_size/cic_400.json"],
    "planted": ["judge/planted/lr_0.5.json"],
    "tables": ["judge/tables/uci_vote.json"],
    "judge": ["judge/verdicts.csv", "judge/summary.json", "judge/cic/lr.json"],
}


def test_every_kind_has_its_files_in_any_order():
    assert PLACES.keys() == {"runs", *FOLDERS}
    paths = [f"results/{path}" for own in PLACES.values() for path in own]
    random.Random(0).shuffle(paths)
    found = by_kind(paths)
    for kind, own in PLACES.items():
        assert {path.as_posix() for path in found[kind]} == {f"results/{path}" for path in own}


def test_folders_above_the_results_say_nothing(tmp_path):
    path = tmp_path / "judge" / "theory" / "results" / "cic" / "lr_k1.json"
    assert by_kind([path]) == {"runs": [path]}
    assert by_kind([path])["sweeps"] == []
