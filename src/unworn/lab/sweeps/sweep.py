"""What a sweep is: every combination of these worlds, analysts, mechanisms and sizes, so often, from one seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

from unworn.basics.typed_fields import read_fields
from unworn.errors import UnwornError
from unworn.lab.analysts import ANALYSTS
from unworn.lab.analysts.analyst import Analyst
from unworn.lab.sweeps.sweep_cell import SweepCell, describe_parameters
from unworn.lab.worlds import WORLDS, World
from unworn.mechanisms import Mechanism, from_json
from unworn.mechanisms.contract.declarations import mechanism_json

_T = TypeVar("_T")


class UnfitSweep(UnwornError):
    """A sweep cannot be run, or what was saved is not this sweep."""


@dataclass(frozen=True)
class Sweep:
    """World × analyst × mechanism × rows × asks × repetition.

    ``planned`` says whether the number of asks is a term of the holdout, as noisy mechanisms need it.

    Examples
    --------
    >>> from unworn.lab import ANALYSTS, SignWorld
    >>> from unworn.mechanisms import GuessAndCheck, Naive
    >>> attack = ANALYSTS["select_then_vote"]()
    >>> sweep = Sweep([SignWorld()], [attack], [Naive(), GuessAndCheck()], rows=[100, 200], asks=[30], repetitions=5)
    >>> len(sweep.cells)
    20
    """

    worlds: Sequence[World]
    analysts: Sequence[Analyst]
    mechanisms: Sequence[Mechanism]
    rows: Sequence[int]
    asks: Sequence[int]
    repetitions: int = 10
    seed: int = 0
    confidence: float = 0.95
    planned: bool = False

    def __post_init__(self) -> None:
        for name in ("worlds", "analysts", "mechanisms", "rows", "asks"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            if not getattr(self, name):
                raise UnfitSweep(f"a sweep has at least one of {name}")
        if min(*self.rows, *self.asks, self.repetitions) < 1 or self.seed < 0:
            raise UnfitSweep(
                f"rows, asks and repetitions are at least 1 and seeds at least 0, not {self.rows}, {self.asks}, "
                f"{self.repetitions} and {self.seed}"
            )
        cells = self.cells
        if len({cell.digest for cell in cells}) < len(cells):
            raise UnfitSweep("a sweep has every combination once; some world, analyst, mechanism or size appears twice")

    @property
    def cells(self) -> list[SweepCell]:
        """All plays, in the order of the table."""
        sides = (self.worlds, self.analysts, self.mechanisms, self.rows, self.asks, range(self.repetitions))
        return [
            SweepCell(world, analyst, mechanism, rows, asks, self.confidence, self.planned, repetition)
            for world, analyst, mechanism, rows, asks, repetition in product(*sides)
        ]

    def to_json(self) -> dict[str, Any]:
        """All that is needed to run it again."""
        return {
            "worlds": [describe_parameters(world) for world in self.worlds],
            "analysts": [describe_parameters(analyst) for analyst in self.analysts],
            "mechanisms": [mechanism_json(mechanism) for mechanism in self.mechanisms],
            "rows": list(self.rows),
            "asks": list(self.asks),
            "repetitions": self.repetitions,
            "seed": self.seed,
            "confidence": self.confidence,
            "planned": self.planned,
        }

    @classmethod
    def from_json(cls, told: Any) -> Sweep:
        """A sweep that was saved. Worlds, analysts and mechanisms are looked up by name; nothing is evaluated."""
        try:
            return cls(
                worlds=[_known(WORLDS.values(), each) for each in told["worlds"]],
                analysts=[_known(ANALYSTS.values(), each) for each in told["analysts"]],
                mechanisms=[_mechanism(each) for each in told["mechanisms"]],
                rows=[int(each) for each in told["rows"]],
                asks=[int(each) for each in told["asks"]],
                repetitions=int(told["repetitions"]),
                seed=int(told["seed"]),
                confidence=float(told["confidence"]),
                planned=bool(told["planned"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UnfitSweep(f"this is not a saved sweep: {error}") from None


def _known(kinds: Iterable[type[_T]], told: Any) -> _T:
    parameters = dict(told)
    name = parameters.pop("name")
    for kind in kinds:
        if kind.__name__ == name:
            return read_fields(kind, parameters)
    raise UnfitSweep(f"this version knows no {name!r:.60}: a world or analyst of your own has to be given in Python")


def _mechanism(told: Any) -> Mechanism:
    found = from_json(told)
    if not isinstance(found, Mechanism):
        raise UnfitSweep(f"{told['name']!r:.60} is not a mechanism that answers")
    return found


def cells_to_play(cells: Iterable[SweepCell], done: Iterable[str]) -> Iterator[SweepCell]:
    """The cells that are still to be played."""
    known = set(done)
    return (cell for cell in cells if cell.key not in known)
