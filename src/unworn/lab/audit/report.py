"""What an audit found: how private the mechanism is at best, and whether that is less than was claimed."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from unworn.lab.audit.claim import Claim


@dataclass(frozen=True)
class MeasuredOutcome:
    """One outcome, measured in fresh trials.

    ``above`` and ``below`` are exact limits: on one input the outcome has at least the probability ``above``, on the
    other at most ``below``. ``seen`` are the shares of the trials that had it.
    """

    outcome: str
    pair: str
    above: float
    below: float
    seen: tuple[float, float]
    least: float
    refutes: bool


@dataclass(frozen=True)
class Report:
    """The verdict of an audit.

    With probability at least ``confidence``, whatever the mechanism is, its true epsilon (or mu, as ``claimed`` has it)
    is at least ``lower_bound``; so a claim that is kept is refuted with probability at most 1 − confidence. Not being
    refuted proves nothing: it only says that this many trials found no fault.
    """

    name: str
    claimed: Claim
    lower_bound: float
    confidence: float
    refuted: bool
    broken: bool
    trials: int
    seed: int
    checked: tuple[MeasuredOutcome, ...]

    @property
    def best(self) -> MeasuredOutcome:
        """What told the inputs apart best."""
        return max(self.checked, key=lambda told: (told.refutes, told.least))

    @property
    def event(self) -> str:
        """The outcome behind the verdict."""
        return self.best.outcome

    @property
    def violation(self) -> str | None:
        """The inequality that was broken, where it is none about the number by which the claim is quoted."""
        if not self.refuted or self.lower_bound > self.claimed.value:
            return None
        best = self.best
        return (
            f"{best.above:.4g} > {float(self.claimed.allowed(best.below)):.4g}, the most that the whole profile allows "
            f"an outcome which has at most {best.below:.4g} on the neighbour"
        )

    def __str__(self) -> str:
        symbol = "μ" if self.claimed.unit == "mu" else "ε"
        verdict = "REFUTED" if self.refuted else "not refuted"
        found = self.violation or f"is at least {symbol} = {self.lower_bound:.4g}"
        return f"{self.name}: claims {self.claimed}, {found}: {verdict}"

    def to_json(self) -> dict[str, Any]:
        """Everything in plain values; ``claimed`` and ``lower_bound`` are numbers of the same ``unit``."""
        best = self.best
        return {
            "name": self.name,
            "claimed": self.claimed.value,
            "lower_bound": self.lower_bound,
            "confidence": self.confidence,
            "refuted": self.refuted,
            "broken": self.broken,
            "unit": self.claimed.unit,
            "delta": self.claimed.delta,
            "event": best.outcome,
            "pair": best.pair,
            "above": best.above,
            "below": best.below,
            "seen": list(best.seen),
            "trials": self.trials,
            "seed": self.seed,
        }

    def _repr_html_(self) -> str:
        best, colour = self.best, "#D55E00" if self.refuted else "#0072B2"
        lines = [
            f"<b>{html.escape(self.name)}</b>: "
            f"<b style='color:{colour}'>{'refuted' if self.refuted else 'not refuted'}</b>",
            f"claims {self.claimed}; at least {self.lower_bound:.4g} at {100 * self.confidence:.7g} %",
            *([] if self.violation is None else [html.escape(self.violation)]),
            f"by the outcome <i>{html.escape(best.outcome)}</i> ({html.escape(best.pair)}): at least {best.above:.4g} "
            f"on one input, at most {best.below:.4g} on its neighbour ({self.trials:,} trials each)",
        ]
        return "<div>" + "<br>".join(lines) + "</div>"

    def chart(self) -> Any:
        """What the claim allows, and what was measured."""
        from unworn import charts

        low = 0.7 * min(
            [*(told.below for told in self.checked), *(told.seen[1] for told in self.checked if told.seen[1])]
        )
        chances = [low * (1.0 / low) ** (step / 120) for step in range(121)]
        allowed = [
            {"other": chance, "most": float(most)}
            for chance, most in zip(chances, self.claimed.allowed(chances), strict=True)
        ]
        measured = [
            {
                "outcome": told.outcome,
                "pair": told.pair,
                "above": told.above,
                "below": told.below,
                "refutes": told.refutes,
                "first": told.seen[0],
                "second": told.seen[1],
            }
            for told in self.checked
        ]
        verdict = "is refuted" if self.refuted else "is not refuted"
        return charts.audit(
            allowed,
            measured,
            title=f"{self.name}: the claim {self.claimed} {verdict}",
            subtitle=f"{self.trials:,} runs on each of two inputs that differ in one row; all limits hold at "
            f"{100 * self.confidence:.7g} %",
        )
