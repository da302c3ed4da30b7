"""Does a recurrent network see more in hourly sequences than a summary of each variable?

    python benchmarks/recurrent.py data/features/cic_ts.parquet

On the judge's resamples: LightGBM and SubtypeClassifier, as they come, on the summaries; two gated
recurrent networks on the hours themselves (value, mask, hours since the last measurement), stopped
by the validation loss; and each of the two beside the recurrent ones, weighed by logistic
regression on the validation rows.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from deepcac.feature_matrix import read_features
from deepcac.judging.deep_learners import subtypes_gbm
from deepcac.judging.learners import lgbm
from deepcac.judging.resamples import OUTLIER, Resample, resamples
from deepcac.judging.spaces import trials
from deepcac.judging.trial_scores import scores
from deepcac.nn.fitting.data import in_chunks, session
from deepcac.nn.fitting.training import Budget, TrainingStep, train
from deepcac.preprocess import SequenceScaler
from deepcac.scoring.equivalence import difference
from deepcac_study.judge.study_rows import read_rows

Array = npt.NDArray[np.float64]
HIDDEN, DROPOUT, NETWORKS, LONGEST = 64, 0.3, 2, 24
BUDGET = Budget(max_epochs=60, patience=6, batch_size=128, lr=1e-3, weight_decay=1e-5)
CPU = torch.device("cpu")


class Recurrent(nn.Module):
    """A gated recurrent layer; its last state and the mean of all are read."""

    def __init__(self, n_inputs: int) -> None:
        super().__init__()
        self.seen = nn.Dropout(DROPOUT / 2)
        self.states = nn.GRU(n_inputs, HIDDEN, batch_first=True)
        self.head = nn.Sequential(nn.Dropout(DROPOUT), nn.Linear(2 * HIDDEN, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Return the log-odds of sequences (n, steps, inputs), shape (n,)."""
        states, _ = self.states(self.seen(x))
        read = torch.cat([states[:, -1], states.mean(dim=1)], dim=1)
        return torch.as_tensor(self.head(read).squeeze(1))


def inputs(sequences: Array, scaler: SequenceScaler) -> Tensor:
    """Return values carried forward, mask, and hours since the last measurement, side by side."""
    seen = ~np.isnan(sequences)
    values = np.clip(scaler.transform(sequences), -OUTLIER, OUTLIER)
    since = np.empty_like(values)
    age = np.full(values[:, 0].shape, float(LONGEST))
    for hour in range(values.shape[1]):
        age = np.where(seen[:, hour], 0.0, np.minimum(age + 1, LONGEST))
        since[:, hour] = age / LONGEST
        if hour:
            values[:, hour] = np.where(seen[:, hour], values[:, hour], values[:, hour - 1])
    return torch.from_numpy(np.concatenate([values, seen, since], axis=2).astype(np.float32))


def recurrent(hours: list[Array], label: list[npt.NDArray[np.int64]], seed: int) -> list[Array]:
    """Train the networks; return their mean log-odds of the validation and test rows."""
    scaler = SequenceScaler.fit(hours[0])
    x = [inputs(part, scaler) for part in hours]
    y, truth = (torch.as_tensor(part).float() for part in label[:2])
    entropy = nn.BCEWithLogitsLoss()
    answers = []
    for number in range(NETWORKS):
        with session(CPU, NETWORKS * seed + number, 1):
            model = Recurrent(x[0].shape[2])

            def answer(rows: Tensor, model: Recurrent = model) -> Tensor:
                model.eval()
                found = in_chunks(model, rows)
                model.train()
                return found

            step = TrainingStep(
                lambda r, m=model: entropy(m(x[0][r]), y[r]), list(model.parameters())
            )
            train(model, [step], len(y), lambda: -float(entropy(answer(x[1]), truth)), BUDGET)
            answers.append([answer(part).double().numpy() for part in x[1:]])
    return [np.mean([one[part] for one in answers], axis=0) for part in (0, 1)]


def compare(sample: Resample, hours: list[Array]) -> dict[str, list[Array]]:
    """Return log-odds of the validation and test rows by every model."""
    parts = sample.train, sample.validation, sample.test
    found = {"recurrent": recurrent(hours, [rows.y for rows in parts], sample.seed)}
    fits: dict[str, Any] = {"lgbm": lgbm, "subtypes_gbm": subtypes_gbm}
    for name, fit in fits.items():
        predict = fit(trials(name, 1)[0], sample.train, sample.validation, sample)
        own = [logit(np.clip(predict(rows)[:, 1], 1e-6, 1 - 1e-6)) for rows in parts[1:]]
        both = [np.column_stack(pair) for pair in zip(found["recurrent"], own, strict=True)]
        blend = LogisticRegression(C=1e3).fit(both[0], sample.validation.y)
        found |= {name: own, f"{name} + recurrent": [blend.decision_function(b) for b in both]}
    return found


def main() -> None:
    """Print the scores of each resample, their means, and what the recurrent networks add."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("features", type=Path)
    parser.add_argument("--resamples", type=int, default=5)
    asked = parser.parse_args()
    rows, hourly = read_rows(asked.features), read_features(asked.features)
    sequences = hourly.sequences()
    found: dict[str, list[dict[str, float]]] = {}
    share = 0.0
    for sample in resamples(rows, asked.resamples, 10_000):
        parts = sample.train, sample.validation, sample.test
        share = len(sample.test) / sum(map(len, parts))  # alike in all resamples
        hours = [sequences[np.searchsorted(rows.row_id, part.row_id)] for part in parts]
        for name, (_, test) in compare(sample, hours).items():
            risk = 1 / (1 + np.exp(-test))
            own = scores(sample.test.y, np.column_stack([1 - risk, risk]), 0.5)
            found.setdefault(name, []).append(own)
            print(sample.seed, name, round(own["auroc"], 4), round(own["auprc"], 4), flush=True)
    for metric in ("auroc", "auprc"):
        values = {name: np.array([one[metric] for one in own]) for name, own in found.items()}
        for name, shown in values.items():
            print(metric, name, round(float(shown.mean()), 4))
        for name in ("lgbm", "subtypes_gbm"):
            gap = values[f"{name} + recurrent"] - values[name]
            more = difference(gap, test_share=share, margin=0.005)
            print(f"  added to {name}: {more.mean:+.4f} ({more.low:+.4f} to {more.high:+.4f})")


if __name__ == "__main__":
    main()
