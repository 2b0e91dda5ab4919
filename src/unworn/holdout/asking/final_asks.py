"""The last word: what final values would reach, and the asks that tell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from unworn.basics.display import show_fields, show_html, show_line, show_width
from unworn.basics.float_settings import with_usual_floats
from unworn.errors import Unaskable
from unworn.holdout.asks import Ask
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import has_failed
from unworn.mechanisms.contract.record import FINAL, OPEN_FINAL
from unworn.mechanisms.symbols.final_values import (
    expected_final,
    final_nats,
    likely_again,
    takes_expectation,
    widest_final,
)
from unworn.record.transcript import Transcript

_MUCH_LESS = 0.9
"""Below this share of the most that it may be, what a width is likely to be is worth saying."""


@dataclass(frozen=True, repr=False)
class FinalQuote:
    """What final values would reach, told before any row is read.

    ``widths`` are half-widths, at most these; ``likely`` those to be expected, where more is expected than known (how
    much a loss varies, how well a model ranks). Where the holdout ``closes`` nothing can be asked after them; else
    everything that follows pays ``cost`` nats for them. With ``repeat`` all were told before: they are free.
    """

    labels: tuple[str, ...]
    widths: tuple[float, ...]
    closes: bool
    cost: float
    repeat: bool = False
    likely: tuple[float, ...] = ()

    __repr__ = show_fields

    def __str__(self) -> str:
        lines = [f"{show_line(label)}: {width}" for label, width in self._shown()]
        return "\n".join([*lines, self._ending()])

    def _shown(self) -> Iterator[tuple[str, str]]:
        for label, most, likely in zip(self.labels, self.widths, self.likely or self.widths, strict=True):
            about = f"about {show_width(likely)}, " if likely < _MUCH_LESS * most else ""
            yield label, f"{about}at most {show_width(most)}"

    def _ending(self) -> str:
        if self.repeat:
            return "Told before: hearing it again costs nothing."
        them = "it" if len(self.labels) == 1 else "them"
        if self.closes:
            return f"After {them} the holdout is closed."
        return f"What is asked after {them} pays {self.cost:.3g} nats more."

    def _repr_html_(self) -> str:
        cells = (f"<tr><td>{show_html(label)}</td><td>{width}</td></tr>" for label, width in self._shown())
        return f"<table>{''.join(cells)}</table><small>{show_html(self._ending())}</small>"


def final_asks(asks: Sequence[Ask], transcript: Transcript, close: bool) -> list[Ask]:
    """The same questions as final ones, fixed together, with what is known about them.

    Those that have a final value already are told it again, and share nothing with the others.
    """
    if any(ask.facts.null is not None for ask in asks):
        raise Unaskable("a test has no final value: ask for the final value of the question itself")
    names = dict.fromkeys(ask.query.fingerprint for ask in asks)
    last = {name: close or transcript.answered(name, FINAL) is not None for name in names}
    fresh = [name for name in names if transcript.answered(name, FINAL if last[name] else OPEN_FINAL) is None]
    places = {name: (position, len(fresh), close) for position, name in enumerate(fresh)}
    found = []
    for ask in asks:
        name = ask.query.fingerprint
        parent, final = _narrowest(name, transcript), places.get(name, (0, 1, last[name]))
        guess = ask.guess if parent is None and ask.guess and takes_expectation(ask.facts, ask.guess) else None
        found.append(replace(ask, guess=guess, parent=parent, final=final))
    return found


@with_usual_floats
def check_not_wider(asks: Sequence[Ask], transcript: Transcript) -> None:
    """Refuse final values of models that are likely to be wider than what is known, before the holdout is closed.

    Those of all other questions are intersected with what is known; but code may answer differently the second time.
    """
    for ask in asks:
        if not ask.facts.runs_code or ask.parent is None or transcript.answered(*ask.name) is not None:
            continue
        known = transcript.record(ask.parent).published
        offer = transcript.offer(ask.facts, None, ask.parent, 0, ask.final)
        expected = likely_again(offer, known.value)
        before, after = (known.high - known.low) / 2, published_width(transcript.mechanism, offer, expected)
        if after > before:
            raise Unaskable(
                f"the final value of {ask.query.label} would be wider than answer {ask.parent}, ± {before:.4g}: about "
                f"± {after:.4g}.\n  Nothing was charged, and the holdout is as it was. Ask for the final value of its "
                "predictions, given as an array: it is never wider than what is known."
            )


def _narrowest(fingerprint: str, transcript: Transcript) -> int | None:
    """The answer that tells most of a question, if one was given."""
    told = (
        (record.published.high - record.published.low, index)
        for index in _all_told(fingerprint, transcript)
        for record in [transcript.record(index)]
        if record.offer.null is None and not has_failed(record.symbol)
    )
    return min(told, default=(0.0, None))[1]


def _all_told(fingerprint: str, transcript: Transcript) -> Iterator[int]:
    """All answers to a question, and to those all that sharpened them; but no value that closed the holdout."""
    parents: list[int | None] = [None, OPEN_FINAL]
    for parent in parents:
        for index in transcript.all_answered(fingerprint, parent):
            parents.append(index)
            yield index


@with_usual_floats
def quote_final(asks: Sequence[Ask], transcript: Transcript, close: bool) -> FinalQuote:
    """What these final asks would reach."""
    widths, likely, costs = list[float](), list[float](), dict[str, float]()
    for ask in asks:
        told = transcript.answered(*ask.name)
        if told is not None:
            published = transcript.record(told).published
            widths.append((published.high - published.low) / 2)
            likely.append(widths[-1])
            continue
        offer = transcript.offer(ask.facts, ask.guess, ask.parent, 0, ask.final)
        widths.append(widest_final(offer))
        likely.append(min(published_width(transcript.mechanism, offer, expected_final(offer)), widths[-1]))
        costs[ask.query.fingerprint] = 0.0 if close else final_nats(offer)
    labels = tuple(ask.query.label for ask in asks)
    return FinalQuote(labels, tuple(widths), close, sum(costs.values()), not costs, tuple(likely))
