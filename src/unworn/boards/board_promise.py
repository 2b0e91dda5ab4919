"""What a board can promise with so many rows and submissions: numbers from a plan, in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil, sqrt
from typing import Any

from unworn.basics.display import show_fields, show_html, show_number
from unworn.boards.team_spending import NATS_OF_ONE
from unworn.mechanisms import Ladder, Mechanism, PairedLadder
from unworn.plan.guess_price import code_nats, final_width, guess_width, untouched_width
from unworn.plan.mechanism_price import ladder_width, largest_silent_lead, mechanism_width, smallest_certain_lead

TYPICAL_DISCORDANCE = 0.1
"""The share of rows on which two submissions are taken to differ, where a lead is spoken of."""


@dataclass(frozen=True, repr=False)
class BoardPromise:
    """Half-widths for a score of one half, where intervals are widest; for losses as a share of their range, at most.

    Where the metric is not a mean over rows (``is_mean``: F1, a share of a subset, the area under a ROC curve), they
    are those of a mean over all rows, and its own are usually wider: by how much depends on rare classes.

    ``width`` after so many submissions without a surprise, ``width_with_surprises`` after ``surprises`` of them,
    ``final`` of the number that a team gets when the board closes, ``fresh`` of one number from a test set of as many
    rows that nobody had touched.

    Where submissions are compared with the best (``ladder``), ``surprises`` are improvements; without a step,
    ``width`` is the largest lead that may go unannounced, and ``lead`` the smallest that is announced where the two
    differ on a tenth of the rows. With any other ``mechanism``, ``width`` is that of its next score.
    """

    rows: int
    practice_rows: int
    submissions: int
    surprises: int
    confidence: float
    parts: int
    width: float
    width_with_surprises: float
    final: float | None
    fresh: float
    surprise_nats: float | None
    certified: bool
    span: float = 1.0
    """The length of the metric's range."""
    is_mean: bool = True
    lead: float | None = None
    mechanism: str = "GuessAndCheck"

    @classmethod
    def of(
        cls,
        rows: int,
        practice_rows: int,
        submissions: int,
        surprises: int,
        confidence: float,
        parts: int,
        rule: str,
        span: float = 1.0,
        *,
        zero_one: bool = True,
        is_mean: bool = True,
    ) -> BoardPromise:
        error = sqrt(0.25 / practice_rows) if practice_rows else None
        beta, asks = 1 - confidence, max(submissions, 1) * parts
        price = code_nats(asks, 1) - code_nats(asks, 0)
        # Of many parts, what costs as much as several surprises counts as several.
        most = surprises if parts == 1 else ceil(surprises * NATS_OF_ONE / price)
        wrong = min(most, max(asks - 1, 0))
        return cls(
            rows,
            practice_rows,
            submissions,
            surprises,
            confidence,
            parts,
            guess_width(rows, asks, 0, beta, error=error, zero_one=zero_one),
            guess_width(rows, asks, wrong, beta, error=error, zero_one=zero_one),
            final_width(rows, asks, wrong, beta, zero_one=zero_one),
            untouched_width(rows, beta, zero_one=zero_one),
            price,
            rule == "practice-and-check",
            span,
            is_mean,
        )

    @classmethod
    def of_mechanism(
        cls,
        mechanism: Mechanism,
        rows: int,
        practice_rows: int,
        submissions: int,
        improvements: int,
        confidence: float,
        parts: int,
        span: float = 1.0,
        *,
        asks: int | None = None,
        zero_one: bool = True,
        is_mean: bool = True,
    ) -> BoardPromise:
        """The same for the other rules: what this mechanism gives."""
        count = max(submissions, 1) * parts
        rare, lead = min(improvements, count - 1), None

        def width(wrong: int) -> float:
            if isinstance(mechanism, PairedLadder):
                return largest_silent_lead(mechanism, rows, count, wrong, confidence, zero_one)
            if isinstance(mechanism, Ladder):
                return ladder_width(mechanism, rows, count, wrong, confidence, zero_one)
            return mechanism_width(mechanism, rows, count, wrong, confidence, asks, zero_one)

        if isinstance(mechanism, PairedLadder):
            lead = smallest_certain_lead(mechanism, rows, count, rare, confidence, TYPICAL_DISCORDANCE, zero_one)
        fresh = untouched_width(rows, 1 - confidence, zero_one=zero_one)
        return cls(
            rows,
            practice_rows,
            submissions,
            rare,
            confidence,
            parts,
            width(0),
            width(rare),
            final=None,
            fresh=fresh,
            surprise_nats=None,
            certified=False,
            span=span,
            is_mean=is_mean,
            lead=lead,
            mechanism=type(mechanism).__name__,
        )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "words": self.words}

    @property
    def words(self) -> list[str]:
        """What an organiser should know, in sentences."""
        told = [
            f"{self.rows:,} rows check, and {self.practice_rows:,} practice rows give every submission an exact score "
            "at once, which may wear out."
            if self.practice_rows
            else f"{self.rows:,} rows check; there are no practice rows.",
        ]
        if self.final is None or self.surprise_nats is None:
            return [*told, *self._words_of_mechanism()]
        score = "a score near one half" if self.span == 1.0 else "a loss, whatever it is,"
        score = score if self.is_mean else "a share of all rows near one half"
        after = f": after {self.surprises:,} of them it is {self._half(self.width_with_surprises)}"
        after = after if self.surprises else ""
        told += [
            f"After {self.submissions:,} submissions that the check rows confirm, {score} is certified "
            f"to {self._half(self.width)}; all intervals hold together with {100 * self.confidence:g} % probability.",
            f"A surprise (the check rows disagree with the practice score) costs about {self.surprise_nats:.0f} "
            f"nats{after}.",
            f"If the board closes then, a final number is {self._half(self.final)}. A fresh test set of as many rows "
            f"that nobody had touched would give {self._half(self.fresh)}.",
        ]
        if not self.is_mean:
            told.append(
                "The metric is not a mean over all rows: its own intervals are usually wider, and more so the fewer "
                "rows count for it (those of the rarest class, say)."
            )
        if self.parts > 1:
            told.append(
                f"The metric is made of {self.parts} questions: a submission that surprises in several of them counts "
                "as several."
            )
        if self.width > 0.1:
            told.append(
                "That is wide. Intervals shrink with the square root of the rows: four times the rows halve them."
            )
        return told

    def _words_of_mechanism(self) -> list[str]:
        told = [f"All that the board tells holds together with {100 * self.confidence:g} % probability."]
        after = f"After {self.submissions:,} submissions, of which {self.surprises:,} were better than the best before,"
        fresh = f"A fresh test set of as many rows that nobody had touched would give {self._half(self.fresh)}."
        if self.mechanism == "PairedLadder":
            most = self._amount(self.width_with_surprises)
            told.append(f"{after} no lead over the best of more than {most} goes unannounced.")
            if self.lead is not None:
                told.append(
                    f"Where the two differ on a tenth of the rows, a lead of {self._amount(self.lead)} is announced. "
                    "Whatever is announced as better is better."
                )
        elif self.mechanism == "Ladder":
            told += [f"{after} a score near one half is certified to {self._half(self.width_with_surprises)}.", fresh]
        else:
            told += [f"{self.mechanism} certifies a score near one half to {self._half(self.width)}.", fresh]
        return told

    def _amount(self, width: float) -> str:
        return f"{width:.3f}" if self.span == 1.0 else show_number(width * self.span, 3)

    def _half(self, width: float) -> str:
        """A half-width; of losses what it is at most, in their own units."""
        return f"± {width:.3f}" if self.span == 1.0 else f"± {show_number(width * self.span, 3)} at most"

    __repr__ = show_fields

    def __str__(self) -> str:
        return "\n".join(self.words)

    def _repr_html_(self) -> str:
        return f"<div>{'<br>'.join(show_html(line) for line in self.words)}</div>"
