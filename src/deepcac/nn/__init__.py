"""Deep clustering classifiers; the only package that imports torch.

References
----------
Guo et al., "Improved Deep Embedded Clustering with Local Structure Preservation", IJCAI 2017.
Srivastava et al., arXiv:2102.11872, 2021, in three versions: "Don't Just Divide; Polarize and
Conquer!" (CAC v1), "CAC: A Clustering Based Framework for Classification" (CAC v2), "Clustering
Aware Classification for Risk Prediction & Subtyping in Clinical Data" (DeepCAC).
Wang et al., "Additive Margin Softmax for Face Verification", IEEE Signal Processing Letters, 2018.
Yang et al., "Towards K-means-friendly Spaces: Simultaneous Deep Learning and Clustering", ICML
2017.
"""

try:
    import safetensors  # noqa: F401
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"the deep methods need {error.name}: pip install 'deepcac[nn]'", name=error.name
    ) from error

from typing import Any

__all__ = [
    "ACTPCClassifier",
    "CACDMNNClassifier",
    "DCNClassifier",
    "DMNNClassifier",
    "DeepCACClassifier",
    "ExpertNetClassifier",
    "FNNClassifier",
    "GRASPClassifier",
    "IDECClassifier",
    "KMZClassifier",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'deepcac.nn' has no attribute {name!r}")
    from deepcac.nn import ac_tpc, dcn, deepcac, dmnn, expertnet, fnn, grasp, idec, km_z

    homes = (ac_tpc, dcn, deepcac, dmnn, expertnet, fnn, grasp, idec, km_z)
    return next(getattr(home, name) for home in homes if hasattr(home, name))
