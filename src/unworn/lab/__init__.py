"""The lab: worlds that know the truth, analysts who try to be misled, and experiments that count how often they are."""

from unworn.lab.analysts import ANALYSTS, Analyst, Played
from unworn.lab.experiment import Result, run
from unworn.lab.worlds import WORLDS, FiniteWorld, Rule, Scene, SignWorld, World, versus
from unworn.ledger.seeded_keys import SeededStore

__all__ = [
    "ANALYSTS",
    "WORLDS",
    "Analyst",
    "FiniteWorld",
    "Played",
    "Result",
    "Rule",
    "Scene",
    "SeededStore",
    "SignWorld",
    "World",
    "run",
    "versus",
]
