"""Rivals of the classifier with subtypes that are no dependencies of this project.

    pip install xrfm tabm mixture-of-experts
    python benchmarks/rivals.py tabm data/features/cic.parquet results/judge/cic/lgbm.json

xRFM (kernel machines that learn their metric), TabM (networks that share most weights) and a
mixture of experts with sparse gates, on the judge's own resamples: trials drawn from the space
below, the validation rows stop and choose, and the difference from a stored contender is taken
resample by resample. More than one contender may be named.
"""

import argparse
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from deepcac.judging.choice import TUNED, choose
from deepcac.judging.resamples import Resample, Rows, resamples, test_share
from deepcac.judging.trial_scores import score_trial
from deepcac.nn.fitting.data import session
from deepcac.nn.fitting.training import Budget, TrainingStep, train
from deepcac.scoring.equivalence import difference
from deepcac.subtyping.packed import cross_entropies, full_logits
from deepcac.subtyping.smooth_inputs import SmoothInputs
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.trial_files import read_trials

Array = npt.NDArray[np.float64]
Values = dict[str, Any]
CPU = torch.device("cpu")
NETWORK: dict[str, list[Any]] = {
    "lr": [1e-3, 3e-4, 3e-3],
    "weight_decay": [1e-5, 1e-4, 1e-2],
    "dropout": [0.3, 0.1, 0.5],
    "width": [64, 128],
}
SPACES: dict[str, dict[str, list[Any]]] = {
    "tabm": {**NETWORK, "blocks": [1, 2]},
    "moe": {**NETWORK, "experts": [4, 8]},
    "xrfm": {"bandwidth": [10.0, 5.0, 20.0], "reg": [1e-1, 1e-3, 1.0], "diag": [True, False]},
}


def drawn(rival: str, n: int) -> list[Values]:
    """Return the values of `n` trials, all different: the first of each list, then draws."""
    space = SPACES[rival]
    every = [dict(zip(space, values, strict=True)) for values in product(*space.values())]
    order = np.random.default_rng(0).permutation(np.arange(1, len(every)))[: n - 1]
    return [every[place] for place in (0, *order)]


class Experts(nn.Module):
    """Two layers, with a mixture of experts between them that adds to its input."""

    def __init__(self, d: int, n_outputs: int, values: Values) -> None:
        from mixture_of_experts import MoE

        super().__init__()
        width = values["width"]
        self.before = nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Dropout(values["dropout"]))
        self.experts = MoE(dim=width, num_experts=values["experts"], hidden_dim=width)
        self.after = nn.Linear(width, n_outputs)
        self.balance = torch.zeros(())

    def forward(self, x: Tensor) -> Tensor:
        """Return (1, n, n_outputs); `balance` is what keeps the experts in use."""
        shared = self.before(x)
        added, self.balance = self.experts(shared.unsqueeze(0))
        return self.after(shared + added.squeeze(0)).unsqueeze(0)


class Ensemble(nn.Module):
    """TabM without embeddings."""

    def __init__(self, d: int, n_outputs: int, values: Values) -> None:
        from tabm import TabM

        super().__init__()
        shape = {"n_blocks": values["blocks"], "d_block": values["width"]}
        self.members = TabM.make(
            n_num_features=d, d_out=n_outputs, k=16, dropout=values["dropout"], **shape
        )
        self.balance = torch.zeros(())

    def forward(self, x: Tensor) -> Tensor:
        """Return (members, n, n_outputs)."""
        return self.members(x).transpose(0, 1)


def network(build: type[nn.Module], values: Values, sample: Resample) -> list[Array]:
    """Train a network on the inputs that SubtypeClassifier's networks read."""
    inputs = SmoothInputs(sample.train.raw)

    def read(rows: Rows) -> Tensor:
        return inputs.rows(rows.raw, CPU).float()

    x, y = read(sample.train), torch.as_tensor(sample.train.y)
    held_out, truth = read(sample.validation), torch.as_tensor(sample.validation.y)
    outputs = 1 if sample.n_classes == 2 else sample.n_classes
    model = build(x.shape[1], outputs, values)

    def loss(rows: Tensor) -> Tensor:
        return cross_entropies(model(x[rows]), y[rows]).mean() + model.balance

    def probability(rows: Tensor) -> Tensor:
        with torch.no_grad():
            return full_logits(model(rows)).softmax(dim=2).mean(dim=0)

    def score() -> float:
        chosen = probability(held_out).gather(1, truth.unsqueeze(1))
        return float(chosen.clamp_min(1e-7).log().mean())

    budget = Budget(60, 8, 256, values["lr"], values["weight_decay"])
    train(model, [TrainingStep(loss, list(model.parameters()))], len(y), score, budget)
    model.eval()
    return [probability(read(rows)).double().numpy() for rows in (sample.validation, sample.test)]


def kernel_machine(values: Values, sample: Resample) -> list[Array]:
    """Fit xRFM on standardised rows, cut at five standard deviations."""
    from xrfm import xRFM

    shape = {"kernel": "l2", "exponent": 1.0, "bandwidth_mode": "constant"}
    model = xRFM(
        rfm_params={
            "model": {**shape, "bandwidth": values["bandwidth"], "diag": values["diag"]},
            "fit": {"reg": values["reg"], "iters": 3, "verbose": False, "early_stop_rfm": True},
        },
        device=CPU,
        tuning_metric="brier",
        verbose=False,
    )
    parts = sample.train, sample.validation, sample.test
    x = [torch.as_tensor(rows.bounded, dtype=torch.float32) for rows in parts]
    model.fit(x[0], torch.as_tensor(parts[0].y), x[1], torch.as_tensor(parts[1].y))
    return [np.asarray(model.predict_proba(one), dtype=np.float64) for one in x[1:]]


FITS: dict[str, Callable[[Values, Resample], list[Array]]] = {
    "tabm": lambda values, sample: network(Ensemble, values, sample),
    "moe": lambda values, sample: network(Experts, values, sample),
    "xrfm": kernel_machine,
}


def main() -> None:
    """Print every trial, the chosen ones and the difference from each stored contender."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rival", choices=list(FITS))
    parser.add_argument("features", type=Path)
    parser.add_argument("records", type=Path, nargs="+")
    parser.add_argument("--resamples", type=int, default=10)
    parser.add_argument("--trials", type=int, default=8)
    asked = parser.parse_args()
    found: list[dict[str, Any]] = []
    for sample in resamples(read_rows(asked.features), asked.resamples, 10_000):
        trials = []
        for values in drawn(asked.rival, asked.trials):
            begin = time.process_time()
            with session(CPU, sample.seed, 1):
                validation, test = FITS[asked.rival](values, sample)
            scores = score_trial(sample.validation.y, sample.test.y, validation, test)
            trials.append(scores)
            seconds = time.process_time() - begin
            shown = [scores[part]["auroc"] for part in ("validation", "test")]
            print(sample.seed, values, *shown, f"{seconds:.0f} s", flush=True)
        found.append({"trials": trials})
    record = {"trials": drawn(asked.rival, asked.trials), "resamples": found}
    for stored, metric in product(map(read_trials, asked.records), ("auroc", "auprc")):
        ours = choose(record, TUNED, metric).scores
        theirs = choose(stored, TUNED, metric).scores[: len(ours)]
        gap = difference(ours - theirs, test_share=test_share(stored), margin=0.01)
        print(
            f"{metric}: {asked.rival} {ours.mean():.4f}, {stored['contender']} {theirs.mean():.4f}"
        )
        print(f"  difference {gap.mean:+.4f} ({gap.low:+.4f} to {gap.high:+.4f})")


if __name__ == "__main__":
    main()
