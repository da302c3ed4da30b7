"""Progress of a training stage on the terminal."""

import sys
import time

from deepcac.nn.fitting.training import Curve

_WIDTH = 110  # lines are padded to this, to overwrite a longer one


class Progress:
    """Prints a line per epoch with the time left; on a terminal it overwrites one line per stage.

    Parameters
    ----------
    stage : str
        Name of the stage.
    """

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.start = time.perf_counter()
        self.in_place = sys.stdout.isatty()

    def __call__(self, max_epochs: int, curve: Curve) -> None:
        """Print epoch, loss, score and the time left."""
        done = len(curve.loss)
        left = (time.perf_counter() - self.start) / done * (max_epochs - done)
        name, value = shown_score(curve.score[-1])
        line = (
            f"{self.stage}: epoch {done} of at most {max_epochs}, loss {curve.loss[-1]:.4g}, "
            f"validation {name} {value:.4f}, best at epoch {curve.best_epoch}, "
            f"at most {_duration(left)} left"
        )
        if self.in_place:
            print(f"\r{line:<{_WIDTH}}", end="", flush=True)
        else:
            print(line, flush=True)

    def close(self) -> None:
        """End the overwritten line on a terminal."""
        if self.in_place:
            print(flush=True)


def shown_score(score: float) -> tuple[str, float]:
    """Return the label and value to print: a negative score is minus an error."""
    return ("error", -score) if score < 0 else ("score", score)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
