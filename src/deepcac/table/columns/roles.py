"""Roles of columns: the label, ids, follow-up, and what is no feature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deepcac.errors import ConfigError
from deepcac.table.columns.cell_texts import uniform

ROLES = ("the label", "the id", "the group", "the follow-up time")


@dataclass(frozen=True)
class Roles:
    """What columns are, and how the label is read.

    Attributes
    ----------
    label : str
    id, group : str or None
        Column of row ids; column whose equal values (a patient) stay in one part of a split.
    drop : sequence of str
        Columns that are no features.
    positive : str or None
        The positive one of two classes.
    above : float or None
        Makes two classes of a number.
    apart : mapping
        Further columns that must be there and are no features, and what they are.
    time : str or None
        Column of the follow-up time; the label is then whether the event came at its end.
    horizon : float or None
        Time up to which an event counts.
    competing : sequence of str
        Values of the label after which the event can no longer come.
    known_only : bool
        Whether rows without a label are left out.
    """

    label: str
    id: str | None = None
    group: str | None = None
    drop: Sequence[str] = ()
    positive: str | None = None
    above: float | None = None
    time: str | None = None
    horizon: float | None = None
    apart: Mapping[str, str] = field(default_factory=dict)
    competing: Sequence[str] = ()
    known_only: bool = False

    def __post_init__(self) -> None:
        for role in ("label", "id", "group", "positive", "time"):
            if (name := getattr(self, role)) is not None:
                object.__setattr__(self, role, uniform(name))
        for role in ("drop", "competing"):
            object.__setattr__(self, role, tuple(map(uniform, getattr(self, role))))
        object.__setattr__(self, "apart", {uniform(k): v for k, v in self.apart.items()})
        if (self.time is None) != (self.horizon is None):
            raise ConfigError("time and horizon of an outcome go together: name both")
        if self.horizon is not None and not self.horizon > 0:
            raise ConfigError(f"horizon {self.horizon:g}: name a time after the start")
        if self.competing and self.time is None:
            raise ConfigError("competing events go with a time and a horizon; name them too")
        if self.competing and self.above is not None:
            raise ConfigError("a number that is divided (above) has no competing events")
        if self.positive in self.competing:
            raise ConfigError(f"{self.positive!r} cannot be both the event and a competing one")
        roles: dict[str, str] = {}
        for name, what in self._named():
            if name in roles:
                raise ConfigError(f"column {name!r} cannot be both {roles[name]} and {what}")
            roles[name] = what

    def _named(self) -> list[tuple[str, str]]:
        """Return the columns with a role, and which."""
        pairs = zip((self.label, self.id, self.group, self.time), ROLES, strict=True)
        return [*((name, what) for name, what in pairs if name is not None), *self.apart.items()]

    def skipped(self) -> dict[str, str]:
        """Return the columns that are no features, and why."""
        return dict.fromkeys(self.drop, "as asked for") | dict(self._named())
