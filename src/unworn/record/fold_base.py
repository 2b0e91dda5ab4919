"""All that a chain has led to up to one of its entries: what a checkpoint keeps, and what goes on from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from unworn.errors import Tampered
from unworn.ledger import Key
from unworn.ledger.checkpoint import Checkpoint
from unworn.mechanisms.contract.mechanism import State
from unworn.record.drawn_rows import Draw, DrawnRows
from unworn.record.question_index import Name, QuestionIndex, Run, index_run, read_run, write_run
from unworn.record.state_text import state_from_json, state_to_json

FOLD = 1
"""Changes with whatever a fold makes of the same events: checkpoints of another fold are made anew."""


class Step(NamedTuple):
    """What one entry adds. ``name`` and ``family`` are there where a repeat, or a guess, may go back to it."""

    hash: str
    state: State
    name: Name | None
    family: str | None
    draw: Draw | None


@dataclass(frozen=True, slots=True)
class FoldBase:
    """Where a chain stands after entry ``index``; ``families`` has the latest answer to each metric."""

    index: int
    hash: str
    state: State
    questions: QuestionIndex
    families: Mapping[str, int] = field(default_factory=dict)
    drawn: DrawnRows = field(default_factory=DrawnRows)

    def after(self, steps: Sequence[Step]) -> FoldBase:
        """Where it stands after these."""
        return self._after(steps, self._run(steps))

    def seal(self, steps: Sequence[Step], key: Key) -> tuple[Checkpoint, FoldBase]:
        """The same, and the checkpoint that says so; ``ValueError`` for a state that no checkpoint can keep."""
        run = self._run(steps)
        after = self._after(steps, run)
        return Checkpoint.seal(self.questions.holdout, after.index, self._tell(after), write_run(run), key), after

    def check(self, checkpoint: Checkpoint, before: FoldBase, public: str) -> None:
        """``Tampered`` where a checkpoint says otherwise of the entries since ``before``, whose questions these are."""
        told, replayed = checkpoint.read(public), before._tell(self)
        questions = b"".join(map(write_run, self.questions.runs))
        if checkpoint.questions != questions or not is_close({name: told.get(name) for name in replayed}, replayed):
            raise Tampered(
                f"checkpoint {checkpoint.index} says what does not follow from the entries.\n"
                "  The entries count: what was answered from the wrong state must not be relied on. Export the ledger "
                "and restore it into a new file, which has no checkpoints, and is priced by its entries alone.",
                index=checkpoint.index,
            )

    def without_questions(self) -> FoldBase:
        """What a replay needs: it looks nothing up."""
        return replace(self, questions=QuestionIndex(self.questions.holdout))

    def follow(self, checkpoint: Checkpoint, public: str) -> FoldBase:
        """Where the chain stands at a checkpoint that follows this one; ``Tampered`` if it does not count."""
        told = checkpoint.read(public)
        try:
            if (told["fold"], told["follows"]) != (FOLD, self.index) or checkpoint.index <= self.index:
                raise ValueError("it does not follow the one before it")
            run = read_run(checkpoint.questions)
            state = state_from_json(told["state"])
            places = run[1]
            if len(places) and not (self.index < places.min() and places.max() <= checkpoint.index):
                raise ValueError("it names entries that are not its own")
            families, drawn = dict(told["families"]), DrawnRows.from_json(told["drawn"])
            return FoldBase(checkpoint.index, told["head"], state, self.questions.with_run(run), families, drawn)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Tampered(f"checkpoint {checkpoint.index} cannot be read: {error}", index=checkpoint.index) from error

    def _tell(self, after: FoldBase) -> dict[str, Any]:
        return {
            "fold": FOLD,
            "follows": self.index,
            "head": after.hash,
            "state": state_to_json(after.state),
            "families": dict(after.families),
            "drawn": after.drawn.to_json(),
        }

    def _run(self, steps: Sequence[Step]) -> Run:
        return index_run(self.questions.holdout, [step.name for step in steps], self.index + 1)

    def _after(self, steps: Sequence[Step], run: Run) -> FoldBase:
        last = steps[-1]
        latest = {step.family: place for place, step in enumerate(steps, self.index + 1) if step.family is not None}
        draws = [step.draw for step in steps if step.draw is not None]
        return FoldBase(
            self.index + len(steps),
            last.hash,
            last.state,
            self.questions.with_run(run),
            {**self.families, **latest} if latest else self.families,
            self.drawn.with_draws(draws) if draws else self.drawn,
        )


def is_close(told: Any, replayed: Any) -> bool:
    """Whether two JSON values are the same, up to the last bits of a float, which machines may differ in."""
    if isinstance(replayed, Mapping):
        same = isinstance(told, Mapping) and told.keys() == replayed.keys()
        return same and all(is_close(told[name], replayed[name]) for name in replayed)
    if isinstance(replayed, list | tuple):
        same = isinstance(told, list | tuple) and len(told) == len(replayed)
        return same and all(map(is_close, told, replayed))
    if type(told) is float and type(replayed) is float:
        return abs(told - replayed) <= 1e-9 + 1e-9 * abs(replayed)
    return bool(told == replayed)
