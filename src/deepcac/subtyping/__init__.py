"""Subtypes that cost no accuracy: groups of patients by what raises their risk.

The method is not from a paper, but its parts are: packed networks (Gorishniy et al., "TabM",
2024), stacking on out-of-fold predictions (Wolpert 1992), integrated gradients (Sundararajan et al.
2017), k-means on explanations ("supervised clustering", Lundberg et al. 2018).
"""

try:
    import safetensors  # noqa: F401
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"SubtypeClassifier needs {error.name}: pip install 'deepcac[nn]'", name=error.name
    ) from error
