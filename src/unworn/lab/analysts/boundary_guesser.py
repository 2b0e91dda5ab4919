"""Boundary guesses: agreement would publish an interval that only just leaves out the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask
from unworn.lab.worlds import Rule, Scene
from unworn.mechanisms.coded.coded_payloads import GuessPayload
from unworn.mechanisms.coded.noisy_checks import NoisyCheckPayload


@dataclass(frozen=True)
class BoundaryGuesser(Analyst):
    """Guesses so that agreement is a miss, each time by as little as can be: the truth lies just outside.

    What agreement would publish is public before it is asked for (``holdout.quote``), so the guess is found by
    bisection. Then the rows agree, and the interval misses, with nearly the whole probability that its level allows;
    a level that is a little too high, or a limit that is a little too narrow, shows nowhere sooner. On probes
    the side is tossed for; after a surprise ``steps`` more guesses halve the way back to the truth and find the rows'
    value, by the words released. Votes of what was found are guessed from above, where the rows were led. An answer
    whose own value, as a guess, would be published without the truth is asked again with it.

    References
    ----------
    The equality case of Theorem C′, ``docs/theory/code-length.md``.

    Examples
    --------
    >>> from unworn.lab import SignWorld, run
    >>> from unworn.mechanisms import GuessAndCheck
    >>> run(SignWorld(), BoundaryGuesser(), GuessAndCheck(), rows=200, asks=20, repetitions=5, seed=1).misses
    0
    """

    name: ClassVar[str] = "boundary_guesser"

    steps: int = 1
    every: int = 8

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        learned: list[float] = []
        left, questions = asks, 0
        while left > 0:
            questions += 1
            votes = bool(learned) and (questions % self.every == 0 or left <= self.steps + 1)
            rule = scene.vote(learned) if votes else scene.probe(len(learned))
            side = 1 if votes or rng.random() < 0.5 else -1
            found = 0.0
            for played in self._beset(holdout, rule, side, min(left, self.steps + 1)):
                found = _value_told(played) - rule.truth
                left -= 1
                yield played
            if not votes:
                learned.append(found)

    def _beset(self, holdout: Holdout, rule: Rule, side: int, most: int) -> Iterator[Played]:
        """One question, at most so often."""
        outside = boundary_guess(holdout, rule, side)
        if outside is None:
            yield ask(holdout, rule)
            return
        played = ask(holdout, rule, outside, again=True)
        yield played
        inside = rule.truth
        for _ in range(most - 1):
            if played.answer.source == "guess":  # agreed: this was the miss, or there is none to be had
                return
            value = played.answer.value
            guess = value if excludes(holdout, rule, value) else (inside + outside) / 2
            played = ask(holdout, rule, guess, again=True)
            yield played
            inside, outside = (inside, guess) if played.answer.source == "surprise" else (guess, outside)


def boundary_guess(holdout: Holdout, rule: Rule, side: int, halvings: int = 12) -> float | None:
    """The guess nearest to the truth, on one side, at which agreement would publish an interval without the truth.

    The end of the range where not even that one does; None where the mechanism has no use for a guess.
    """
    end = 1.0 if side > 0 else 0.0
    if holdout.quote(rule.question, end, again=True).guess != end:
        return None
    inside, outside = rule.truth, end
    for _ in range(halvings):
        guess = (inside + outside) / 2
        inside, outside = (inside, guess) if excludes(holdout, rule, guess) else (guess, outside)
    return outside


def excludes(holdout: Holdout, rule: Rule, guess: float) -> bool:
    """Whether agreement with a guess would publish an interval without the truth."""
    quote = holdout.quote(rule.question, guess, again=True)
    return not quote.low <= rule.truth <= quote.high


def _value_told(played: Played) -> float:
    """Where the rows' value lies, by an answer: in the cell of a surprise, or beside the guess that was agreed with.

    Agreement with a guess off the truth, by nearly the slack, says more than the guess: the value lies towards the
    truth, about half a slack from it.
    """
    offer = played.answer.certificate.record.offer
    payload = offer.payload
    if not isinstance(payload, GuessPayload | NoisyCheckPayload) or played.answer.source == "surprise":
        return played.answer.value
    away = np.sign(played.truth - payload.guess)
    return float(payload.guess + away * payload.slack / 2)
