"""How a submission is answered: practice and check, the Ladder, or any mechanism there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unworn.boards.board_config import BoardConfig
from unworn.boards.board_errors import InvalidBoard
from unworn.boards.metered_asks import ask_for_what_is_left, is_answered
from unworn.boards.submission import CHECKED, FAILED, NOT_BETTER, UNCHECKED
from unworn.errors import Failed, UnwornError
from unworn.events import is_surprise
from unworn.mechanisms import GuessAndCheck, Mechanism, from_json
from unworn.queries.composite import Composite, Question
from unworn.queries.conditional_query import ConditionalQuery
from unworn.queries.metrics.paired_query import compare_questions
from unworn.queries.metrics.scored_query import Metric
from unworn.queries.query import Query
from unworn.queries.ranking_query import RankingQuery
from unworn.record.derived_answer import DerivedAnswer

if TYPE_CHECKING:
    from unworn.boards.submission_table import DraftSubmission
    from unworn.holdout import Holdout
    from unworn.record.answer import Answer

FIRST = "first"
"""The source of the first submission of a board that compares rows: there was nothing to be better than."""


@dataclass(frozen=True)
class CheckOutcome:
    """What the check rows said of a submission."""

    status: str
    why: str | None = None
    indexes: tuple[int, ...] = ()
    value: float | None = None
    low: float | None = None
    high: float | None = None
    source: str | None = None
    surprise: bool = False


@dataclass(frozen=True)
class PracticeScore:
    """What the practice rows said; ``failed`` where the grader failed there, ``why`` where there is no score."""

    value: float | None = None
    error: float | None = None
    why: str | None = None
    failed: bool = False


def mechanism_of(config: BoardConfig, question: Question) -> Mechanism:
    """What the rows of a board are sealed with; ``question`` is any of its questions."""
    if config.rule == "mechanism":
        try:
            made = from_json(_tuples(dict(config.mechanism)))
        except (ValueError, TypeError, UnwornError) as why:
            raise InvalidBoard(f"[mechanism]: {why}", setting="mechanism") from None
        if not isinstance(made, Mechanism):
            raise InvalidBoard("[mechanism]: rows sealed for a release have no board", setting="mechanism")
        if not made.promises:
            raise InvalidBoard(
                f"[mechanism]: {type(made).__name__} promises nothing, and a board shows what is certified",
                setting="mechanism",
            )
        return made
    if config.rule == "practice-and-check":
        return GuessAndCheck()
    if config.step is None:
        from unworn.mechanisms import PairedLadder

        return PairedLadder(higher=config.higher_is_better)
    from unworn.mechanisms import Ladder

    part = single_part(question)
    if part is None:
        raise InvalidBoard(
            f"{config.metric} is made of several questions, and a ladder has one score per submission: take the rule "
            "'practice-and-check'",
            setting="rule",
        )
    return Ladder(step=config.step, higher=config.higher_is_better, range=_bounds(part))


def is_pairable(question: Question) -> bool:
    """Whether two submissions can be compared row by row."""
    return isinstance(question, Metric) and not isinstance(question, ConditionalQuery | RankingQuery)


def single_part(question: Question) -> Query | None:
    """The one question that a score is, or is made of."""
    if isinstance(question, Composite):
        return question.questions[0] if len(question.questions) == 1 else None
    return question


def _bounds(part: Query) -> tuple[float, float]:
    return part.bounds if isinstance(part, Metric) else (0.0, 1.0)


def _tuples(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}


class ScoringRule:
    """Asks the check rows about a submission, in its turn."""

    def __init__(
        self,
        config: BoardConfig,
        holdout: Holdout,
        surprises: Callable[[str], int],
    ) -> None:
        self._config, self._holdout, self._surprises = config, holdout, surprises

    @property
    def compares_with_best(self) -> bool:
        """Whether the ledger is asked about the difference to the best so far, row by row."""
        return self._config.rule == "ladder" and self._config.step is None

    def score(
        self, draft: DraftSubmission, question: Question, practice: PracticeScore, best: Callable[[], Question | None]
    ) -> CheckOutcome:
        """What the check rows say, entered in the ledger before it is returned; ``best`` is what there is to beat."""
        if practice.failed:
            return CheckOutcome(FAILED, practice.why)
        asked = self._question(question, best)
        if asked is None:
            return CheckOutcome(CHECKED, None, source=FIRST)
        reason = self._reason_not_to_ask(draft, asked, practice)
        if reason is not None:
            return CheckOutcome(UNCHECKED, reason)
        try:
            how: dict[str, Any] = {"by": draft.team, "name": draft.name, "tags": {"submission": draft.id}}
            if self._config.rule == "practice-and-check":
                told = ask_for_what_is_left(self._holdout, asked, lambda: self._count_left(draft.team), **how)
            else:
                told = self._holdout.ask(asked, **how)
            if told is None:
                return CheckOutcome(UNCHECKED, self._words_for_used_up("only a part of this score was checked"))
            return outcome_of(told, is_paired=asked is not question)
        except Failed as failure:
            index = failure.numbers.get("index")
            entered = (index,) if isinstance(index, int) else ()
            return CheckOutcome(FAILED, "the grader failed on the check rows", entered, surprise=True)

    def will_ask(
        self, draft: DraftSubmission, question: Question, practice: PracticeScore, best: Callable[[], Question | None]
    ) -> bool:
        """Whether a new entry follows; ``Refused`` where the ledger takes no more.

        Where none does, no code may look at the check rows: how long it took would be told by nothing else.
        """
        asked = None if practice.failed else self._question(question, best)
        if asked is None or self._reason_not_to_ask(draft, asked, practice) is not None:
            return False
        parts = asked.questions if isinstance(asked, Composite) else (asked,)
        return not all(self._holdout.quote(part).repeat for part in parts)

    def _reason_not_to_ask(self, draft: DraftSubmission, asked: Question, practice: PracticeScore) -> str | None:
        """Why only practice rows are looked at; known from them and from what was released."""
        if self._config.rule != "practice-and-check":
            return None
        if practice.why is not None:
            return practice.why
        if self._count_left(draft.team) > 0 or is_answered(self._holdout, asked):
            return None
        return self._words_for_used_up("only the practice rows were looked at")

    def _count_left(self, team: str) -> int:
        """How many surprises a team may still make."""
        return self._config.surprises_per_team - self._surprises(team)

    def _words_for_used_up(self, so: str) -> str:
        return f"this team has used up its {self._config.surprises_per_team} surprises, so {so}"

    def _question(self, question: Question, find_best: Callable[[], Question | None]) -> Question | None:
        """What the ledger is asked: the score, or whether it is better than the best."""
        if not self.compares_with_best:
            return question
        best = find_best()
        return None if best is None else compare_questions(question, best)

    def was_answered(self, question: Question, best: Callable[[], Question | None]) -> bool:
        """The same of a submission that a crash left unfinished."""
        asked = self._question(question, best)
        return asked is not None and is_answered(self._holdout, asked)


def outcome_of(answer: Answer | DerivedAnswer, *, is_paired: bool) -> CheckOutcome:
    """An answer of the ledger, as a submission tells it.

    "Not better" tells no value: what the mechanism publishes with it is the best score of the board, which is another
    submission's. What compares rows tells of a difference, and no interval of a score.
    """
    parts = answer.parts if isinstance(answer, DerivedAnswer) else (answer,)
    indexes = tuple(part.index for part in parts)
    surprise = any(is_surprise(part.certificate.record.event) for part in parts)
    if is_paired:
        return CheckOutcome(CHECKED, None, indexes, source=answer.source, surprise=surprise)
    value = None if answer.source == NOT_BETTER else answer.value
    return CheckOutcome(CHECKED, None, indexes, value, answer.low, answer.high, answer.source, surprise)
