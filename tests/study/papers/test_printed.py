from paper_checks import find_cell

from deepcac_study.papers.printed import printed_cells


def test_every_printed_score_has_an_id_or_a_reason():
    scores = [c for c in printed_cells() if c.kind == "score"]
    assert len(scores) == 1074
    assert all(c.method_id for c in scores)
    assert all(c.dataset_id or c.lost for c in scores)


def test_printed_names_find_the_right_run():
    credit = find_cell("cac_v1_table5_f1_heldout_5x", dataset="Credit", method="CAC+LR")
    assert (credit.dataset_id, credit.method_id, credit.n_clusters) == ("credit", "cac_lr", 3)
    plain = find_cell("deepcac_table5_f1", dataset="WID-M", method="XGB")
    assert (plain.dataset_id, plain.method_id, plain.n_clusters) == ("wid_mortality", "xgb", 1)
    sepsis = find_cell("cac_v2_table3_auc", dataset="Sepsis", method="KM+LR")
    assert (sepsis.dataset_id, sepsis.item) == ("sepsis_signature", "auroc")
    neural = find_cell("cac_v1_table1_f1_heldout", dataset="CIC", method="DeepCAC")
    assert neural.method_id == "cac_dmnn"


def test_a_missing_value_printed_as_zero_is_not_a_score():
    missing = find_cell("deepcac_table6_auc", dataset="Diabetes", method="AC-TPC", k="2")
    assert missing.value is None


def test_each_cell_is_decided_by_its_own_protocol():
    protocols = {
        ("cac_v1_table1_f1_heldout", "Credit", "CAC+LR"): "as_published",
        ("cac_v1_table1_f1_heldout", "Credit", "DeepCAC"): "sound",
        ("cac_v1_table3_alpha", "CIC", "CAC+LR"): "sound",
        ("cac_v1_table4_f1_cv5", "Credit", "CAC+LR"): "as_published_cv5",
        ("cac_v2_table2_f1", "CIC", "CAC+LR"): "as_published_v2",
        ("cac_v2_table2_f1", "CIC", "KM+LR"): "as_published_cv5",
        ("cac_v2_table2_f1", "CIC", "DMNN"): "sound",
        ("deepcac_table5_f1", "CIC", "CAC+LR"): "as_published",
        ("classdecomp_table1_accuracy", "Vote", "NB"): "as_published",
    }
    for (source, dataset, method), protocol in protocols.items():
        assert find_cell(source, dataset=dataset, method=method).protocol == protocol
