"""The last word on a lane: what it gained over its start, and its score, certified with all that was said before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unworn.boards.board_errors import GateUnavailable
from unworn.boards.gate_values import GateClaim
from unworn.boards.gating.part_guesses import guess_parts
from unworn.boards.metered_asks import ask_for_what_is_left
from unworn.boards.team_spending import NATS_OF_ONE
from unworn.errors import Unaskable
from unworn.queries.composite import Composite
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer

if TYPE_CHECKING:
    from unworn.boards.gating.gate_climb import Climb
    from unworn.boards.gating.gate_questions import GateQuestions
    from unworn.boards.gating.gate_tables import RecordedLane
    from unworn.holdout import Holdout
    from unworn.queries.composite import Question


class LaneClaim:
    """How a lane is ended: what is asked, and what is told of the answers."""

    def __init__(
        self, holdout: Holdout, questions: GateQuestions, team: str, lane: str, count_left: Callable[[], int]
    ) -> None:
        self._holdout, self._questions, self._count_left = holdout, questions, count_left
        self._team, self._lane = team, lane

    def asked(self, lane: RecordedLane) -> list[Question]:
        """The gain over the start, if there is one, and the score."""
        kept, start = lane.predictions[lane.position.kept], lane.predictions[1]
        score = self._questions.score(kept)
        return [score] if lane.position.kept == 1 else [self._questions.gain(kept, start), score]

    def make(self, lane: RecordedLane, climb: Climb, *, higher_is_better: bool, close: bool) -> GateClaim:
        """Ask, in the lane's turn; ``close`` retires the rows."""
        now, how = lane.position, {"by": self._team, "tags": {"gate": self._lane, "proposal": lane.position.kept}}
        questions = self.asked(lane)
        guesses = self._guesses(questions, climb, higher_is_better)
        answers = self._answers(list(zip(questions, guesses, strict=True)), close, how)
        gain, score = (answers[0] if now.kept != 1 else None), answers[-1]
        parts = [part for each in answers for part in ([each] if isinstance(each, Answer) else each.parts)]
        return GateClaim(
            self._team,
            self._lane,
            now.kept,
            now.proposals,
            None if gain is None else climb.judge.gain(climb.predictions[now.kept], climb.predictions[1], now.pool)[0],
            None if gain is None else gain.value,
            None if gain is None else gain.low,
            None if gain is None else gain.high,
            score.value,
            score.low,
            score.high,
            score.confidence,
            tuple(part.index for part in parts),
        )

    def _answers(
        self, asked: list[tuple[Question, dict[str, Any]]], close: bool, how: dict[str, Any]
    ) -> list[Answer | DerivedAnswer]:
        """Exact values; or what is known, where they would cost more than the team has left.

        So it is where code grades, too: it might be less certain the second time.
        """
        if close:
            return self._close([question for question, _ in asked], asked, how)
        # What goes on after final values first tells roughly where they are.
        first = [self._ask(question, {**guess, **how}) for question, guess in asked]
        most = NATS_OF_ONE * max(self._count_left(), 1)
        try:
            if self._holdout.quote_final(first, close=False).cost > most:
                return first
            return list(self._holdout.final(first, close=False, **how))
        except Unaskable:
            return first

    def _close(
        self, questions: list[Question], asked: list[tuple[Question, dict[str, Any]]], how: dict[str, Any]
    ) -> list[Answer | DerivedAnswer]:
        """The same where nobody asks anything afterwards, so that it costs nobody anything."""
        try:
            return list(self._holdout.final(questions, close=True, **how))
        except Unaskable:
            return [self._holdout.ask(question, **guess, **how) for question, guess in asked]

    def _ask(self, question: Question, how: dict[str, Any]) -> Answer | DerivedAnswer:
        told = ask_for_what_is_left(self._holdout, question, self._count_left, **how)
        if told is None:
            raise GateUnavailable(
                "this team used up what its surprises may cost before all parts of the claim were looked at.\n"
                "  What its milestones certified stands; see the lane's state."
            )
        return told

    def _guesses(self, questions: list[Question], climb: Climb, higher_is_better: bool) -> list[dict[str, Any]]:
        """What to expect of the gain and of the score, in as far as practice rows are not to be believed."""
        expected = climb.expected_gain
        first = climb.judge.score(climb.predictions[1], climb.position.pool)
        score = {"guess": first + (expected if higher_is_better else -expected)}
        kept, start = (self._questions.score(climb.predictions[number]) for number in (climb.position.kept, 1))
        found: list[dict[str, Any]] = []
        for question, told in zip(questions, ({"guess": expected}, score)[-len(questions) :], strict=True):
            if not isinstance(question, Composite):
                _, facts = self._holdout._understand(question)
                found.append({"guess": min(max(told["guess"], facts.low), facts.high)})
            elif len(questions) == 2:
                found.append(guess_parts(self._holdout, question, questions[0], kept, start, expected))
            else:  # the loop is where it began, so that nothing is luck
                found.append({})
        return found
