from deepcac_study.catalogue.methods import label, methods


def test_every_method_has_a_label_of_its_own():
    labels = [label(method) for method in methods()]
    assert len(set(labels)) == len(labels)


def test_labels_as_people_write_them():
    assert label("cac_lr") == "CAC+LR"
    assert label("deepcac_ts") == "DeepCAC (sequence)"
    assert label("cac_dmnn") == "CAC+DMNN"
