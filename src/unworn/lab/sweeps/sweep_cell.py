"""A cell of a sweep: one play, fully described, with a random stream of its own."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from unworn.basics.json_text import canonical
from unworn.errors import Unaskable
from unworn.lab.analysts.analyst import Analyst
from unworn.lab.experiment import play_once
from unworn.lab.worlds import FiniteWorld, World
from unworn.mechanisms import Mechanism
from unworn.mechanisms.contract.declarations import mechanism_json


@dataclass(frozen=True)
class SweepCell:
    """One play of a sweep.

    Its random stream comes from the sweep's seed and from all that is here, and from nothing else: neither the order
    in which cells are played, nor how many there are, nor in which process.
    """

    world: World
    analyst: Analyst
    mechanism: Mechanism
    rows: int
    asks: int
    confidence: float
    planned: bool
    repetition: int

    def to_json(self) -> dict[str, Any]:
        """The cell in plain values."""
        return {
            "world": describe_parameters(self.world),
            "analyst": describe_parameters(self.analyst),
            "mechanism": mechanism_json(self.mechanism),
            "rows": self.rows,
            "asks": self.asks,
            "confidence": self.confidence,
            "planned": self.planned,
            "repetition": self.repetition,
        }

    @property
    def digest(self) -> bytes:
        """What tells this cell from all others."""
        return hashlib.sha256(canonical(self.to_json()).encode()).digest()

    @property
    def key(self) -> str:
        """The same, short and to be read."""
        return self.digest.hex()[:20]

    def stream(self, seed: int) -> np.random.Generator:
        """The cell's own random numbers."""
        return np.random.default_rng([seed, *np.frombuffer(self.digest, dtype=np.uint32).tolist()])

    def play(self, seed: int) -> dict[str, Any]:
        """Play it: a row of the table. ``refused`` says why there was nothing to play, if there was not."""
        row: dict[str, Any] = {
            "world": label_of(describe_parameters(self.world)),
            "analyst": label_of(describe_parameters(self.analyst)),
            "mechanism": label_of(mechanism_json(self.mechanism)),
            "rows": self.rows,
            "asks": self.asks,
            "confidence": self.confidence,
            "planned": self.planned,
            "repetition": self.repetition,
        }
        none = dict.fromkeys(("missed", "asked", "surprises", "width", "error", "worst"))
        if self.analyst.finite and not isinstance(self.world, FiniteWorld):
            return {**row, **none, "refused": f"{self.analyst.name} needs a FiniteWorld"}
        try:
            play = play_once(
                self.world,
                self.analyst,
                self.mechanism,
                self.rows,
                self.asks,
                self.stream(seed),
                self.confidence,
                self.planned,
            )
        except (Unaskable, ValueError) as why:  # a mechanism that does not answer such questions, or needs a plan
            return {**row, **none, "refused": str(why).splitlines()[0]}
        told = {name: None if value != value else value for name, value in asdict(play).items()}
        return {**row, **told, "refused": None}


def describe_parameters(thing: World | Analyst) -> dict[str, Any]:
    """A world or analyst in plain values: its class and its parameters.

    >>> from unworn.lab import FiniteWorld
    >>> describe_parameters(FiniteWorld(40))["points"]
    40
    """
    found = {"name": type(thing).__name__, **asdict(cast("Any", thing))}
    for name, value in found.items():
        if not _is_plain(value):
            raise TypeError(f"{type(thing).__name__} has {name}={value!r:.60}, which cannot be saved")
    return found


def label_of(told: dict[str, Any]) -> str:
    """A description as one word: the name, and every parameter that is set.

    >>> label_of({"name": "Ladder", "step": 0.01, "baseline": None})
    'Ladder(step=0.01)'
    """
    parts = ", ".join(f"{name}={value}" for name, value in told.items() if name != "name" and value is not None)
    return f"{told['name']}({parts})" if parts else str(told["name"])


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
