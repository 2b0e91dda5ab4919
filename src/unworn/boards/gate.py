"""Gate: keep or revert, at once, for loops that try things; and at milestones, how much of the gain is real."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from unworn.basics.display import show_value
from unworn.basics.plain_text import plain_text
from unworn.boards.board_errors import (
    GateFinished,
    GateUnavailable,
    GraderFailed,
    InvalidBoard,
    InvalidSubmission,
    RequestReused,
)
from unworn.boards.board_view import check_pools
from unworn.boards.gate_values import GateClaim, GateState, GateVerdict
from unworn.boards.gating.gate_climb import Climb, LanePosition, WeighedProposal
from unworn.boards.gating.gate_judge import HoldoutJudge
from unworn.boards.gating.gate_questions import GateQuestions
from unworn.boards.gating.gate_tables import GateTables, RecordedLane, RecordedProposal
from unworn.boards.gating.lane_claim import LaneClaim
from unworn.database import Busy, RunSQL
from unworn.errors import Failed, Mismatch, Refused, Unaskable

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.boards.files.predictions_check import Predictions

_TRIES = 100
NATS_PER_SURPRISE = 10.0
"""What a surprise costs, about; a team may spend as much as its surprises would, on sharper answers too."""
_LONGEST = {"team": 100, "lane": 100, "message": 2_000, "request": 200}


class Gate:
    """One lane of a team behind the gate of a board: any number of processes may propose, one after the other.

    The first proposal is where the loop starts, and is kept. Each later one is kept if it is better than the kept one
    on the practice rows, which are exact, free, and wear out. At milestones, or with ``check``, the check rows say how
    much of the gain since the last confirmed state is real; all that they ever say holds together. With ``prove`` a
    proposal is kept only if the check rows prove it better: then every *keep* is certain, and small gains are lost.
    ``pools`` parts the practice rows of a new lane, which goes on to fresh ones each time it has to go back.
    """

    def __init__(
        self, board: Board, team: str, *, lane: str = "main", prove: bool = False, pools: int | None = None
    ) -> None:
        self._board, self.team, self.lane = board, _checked(team, "team"), _checked(lane, "lane")
        self._is_proving = prove
        self._pools = board.config.pools if pools is None else pools
        if board.config.rule != "practice-and-check" or not board.practice_size:
            raise GateUnavailable(
                f"the board {board.name!r} has the rule {board.config.rule!r} and {board.practice_size:,} practice "
                "rows.\n  A gate climbs on practice rows: make a board with the rule 'practice-and-check'."
            )
        try:
            check_pools(self._pools, board.practice_size)
        except InvalidBoard as why:
            raise GateUnavailable(why.message) from None
        self._tables = GateTables(board._table.database, self.team, self.lane)
        self._questions = GateQuestions(board)

    # ---- proposing

    def propose(
        self,
        source: Any,
        message: str | None = None,
        check: bool = False,
        format: str | None = None,
        request: str | None = None,
    ) -> GateVerdict:
        """Keep or revert. ``source`` is a file of predictions, as for ``Board.submit``.

        ``request`` is an idempotency key: whoever repeats a request that was cut off gets the same verdict. So does
        whoever proposes the same file with the same message twice in a row, under another key too: a loop whose answer
        was lost must not be told *revert* because it equals itself. Only a check that was not asked for is made.
        """
        message = None if not message else _checked(message, "message")
        request = None if request is None else _checked(request, "request")
        predictions = self._board.validate(source, format)
        for _ in range(_TRIES):
            lane = self._tables.load()
            known = None if lane is None else self._tables.find(lane, predictions.digest, message, request, check)
            if known is not None:
                return self._verdict_on(known, predictions.digest)
            if lane is not None and lane.position.is_pending:
                self._settle(lane.last.number)
                continue
            self._check(lane)
            climb = self._climb(lane)
            weighed = self._weigh(climb, predictions)
            climb.enter(weighed, predictions, check=check)
            note = climb.reason_of_no_check(check)
            verdict = None if climb.position.is_pending else climb.verdict(weighed, message, None, note)
            number = climb.position.proposals
            proposal = RecordedProposal(number, predictions.digest, request, message, weighed, verdict, check)
            if self._tables.enter(climb.position, proposal, climb.predictions, is_proving=self._is_proving):
                return verdict if verdict is not None else self._verdict_on(proposal, predictions.digest)
        raise Busy(f"the lane {self.lane!r} is so busy that {_TRIES} times another proposal came first: try again")

    def _verdict_on(self, proposal: RecordedProposal, digest: str) -> GateVerdict:
        """The verdict on a proposal that was entered; its milestone is settled first, where that is still to do."""
        if proposal.digest != digest:
            raise RequestReused(
                "this request key came before, with another file.\n  Propose a new file under a new key."
            )
        return self._settle(proposal.number) if proposal.verdict is None else proposal.verdict

    def _settle(self, number: int) -> GateVerdict:
        """Ask for the milestone pending at a proposal and write it down, or tell what others wrote down meanwhile."""
        lane = self._tables.load()
        if lane is not None and lane.is_pending_at(number) and self._reason_to_skip(self._board.closed) is None:
            pair = self._climb(lane).challengers
            self._questions.grade_ahead([self._questions.gain(*pair)], *pair)
        return self._board.in_turn(partial(self._settle_in_turn, number))

    def _settle_in_turn(self, number: int, run: RunSQL) -> GateVerdict:
        lane = self._tables.load(run, with_history=True)
        if lane is None or not lane.is_pending_at(number):
            settled = self._tables.proposal(number, run).verdict
            if settled is None:
                raise ValueError("a proposal without a verdict is the last one, and its milestone is pending")
            return settled
        climb, last = self._climb(lane), lane.last
        milestone, note = None, self._reason_to_skip(self._board._table.is_closed(run))
        if note is not None and self._questions.are_answered([self._questions.gain(*climb.challengers)]):
            note = None  # a crash came between the answer and this: it was charged, and is told
        if note is None:
            try:
                milestone = climb.settle()
            except Refused as why:
                note = f"the check rows were not asked: {why.message.partition(chr(10))[0]}"
            except Failed:
                note = "the grader failed on the check rows, which was entered and charged"
        if milestone is None:
            climb.skip()
        verdict = climb.verdict(last.weighed, last.message, milestone, note)
        return self._tables.settle(climb.position, verdict, set(climb.predictions), run)

    def _reason_to_skip(self, closed: bool) -> str | None:
        """Why the check rows are not asked: one team must not widen everybody's intervals, and what is closed is."""
        if closed:
            return "the check rows were not asked: the board is closed"
        if self._count_left() > 0:
            return None
        cap = self._board.config.surprises_per_team
        return f"the check rows were not asked: this team has used up what its {cap} surprises may cost"

    def _count_left(self) -> int:
        """How many surprises the team may still make here, where whatever it spends counts."""
        cap, spent = self._board.config.surprises_per_team, self._board.team_spending(self.team)
        return min(cap - spent.surprises, ceil(cap - spent.nats / NATS_PER_SURPRISE))

    def _weigh(self, climb: Climb, predictions: Predictions) -> WeighedProposal:
        try:
            return climb.weigh(predictions)
        except (Unaskable, GraderFailed) as why:
            if not climb.position.proposals:
                raise InvalidSubmission(f"a lane cannot start here: {why.message}") from None
            return WeighedProposal(None, why="the metric or the grader has no score for it on the practice rows")

    def _check(self, lane: RecordedLane | None) -> None:
        self._board._check_open()
        if lane is None:
            return
        if lane.claim is not None:
            raise GateFinished(
                f"the lane {self.lane!r} has ended: {lane.claim.line}.\n  Choose another lane= to start afresh."
            )
        if lane.is_proving != self._is_proving:
            mode = "with" if lane.is_proving else "without"
            raise Mismatch(f"the lane {self.lane!r} was started {mode} prove: go on like that, or choose another lane")

    def _climb(self, lane: RecordedLane | None) -> Climb:
        """The lane in memory, as it was written; steps are compared without their history, and claims with it."""
        position = LanePosition(pools=self._pools) if lane is None else lane.position
        judge = HoldoutJudge(
            self._board.holdout,
            self._questions.score,
            self._questions.gain,
            pools=position.pools,
            by=self.team,
            lane=self.lane,
            count_left=self._count_left,
        )
        if lane is None:
            return Climb(judge, self._is_proving, position)
        steps, milestones, predictions = list(lane.steps), list(lane.milestones), dict(lane.predictions)
        return Climb(judge, lane.is_proving, position, steps, milestones, predictions, lane.skipped)

    # ---- looking, and the end

    @property
    def state(self) -> GateState:
        """Where the lane stands."""
        lane = self._tables.load(with_history=True)
        if lane is None:
            return GateState(self.team, self.lane, 0, 0, 0, None, None, 0.0, 1, 1, self._pools, False, self._is_proving)
        climb, now = self._climb(lane), lane.position
        kept, start = climb.predictions[now.kept], climb.predictions[1]
        return GateState(
            self.team,
            self.lane,
            now.proposals,
            now.kept,
            now.confirmed,
            climb.judge.score(kept, now.pool),
            climb.judge.gain(kept, start, now.pool)[0],
            now.certified,
            now.due,
            now.pool + 1,
            now.pools,
            lane.claim is not None,
            lane.is_proving,
            tuple(climb.milestones),
        )

    @property
    def claim(self) -> GateClaim | None:
        """The last word on the lane, once it has ended."""
        lane = self._tables.load()
        return None if lane is None else lane.claim

    def finish(self, *, close: bool = False) -> GateClaim:
        """End the lane with exact numbers, certified together with all that was said before: gain and score.

        ``close`` retires the board's rows with it, which makes the numbers sharper: nobody may submit afterwards.
        Otherwise they cost as much as a surprise, which everything that is asked later pays for, and count as one.
        """
        for _ in range(_TRIES):
            lane = self._tables.load()
            if lane is None:
                raise GateUnavailable(f"nothing was proposed in the lane {self.lane!r}: there is nothing to finish")
            if lane.claim is not None:
                return lane.claim
            if lane.position.is_pending:
                self._settle(lane.last.number)
                continue
            if close:  # first, as when a board is closed: nobody submits after a final value
                self._board.retire_rows()
            if close or self._reason_to_skip(self._board.closed) is None:
                ends = {number: lane.predictions[number] for number in (lane.position.kept, 1)}
                self._questions.grade_ahead(self._ending.asked(lane), *ends.values())
            claim = self._board.in_turn(partial(self._finish_in_turn, close))
            if claim is not None:
                return claim
        raise Busy(f"the lane {self.lane!r} is so busy that it could not be finished: try again")

    def _finish_in_turn(self, close: bool, run: RunSQL) -> GateClaim | None:
        lane = self._tables.load(run, with_history=True)
        if lane is None or lane.claim is not None or lane.position.is_pending:  # others came first
            return None if lane is None else lane.claim
        is_closed = self._board._table.is_closed(run)
        reason = None if close else self._reason_to_skip(is_closed)
        # A crash may have come between the first answers of the claim and its end: they were charged, so it is told.
        if reason is not None and (is_closed or not self._questions.are_answered(self._ending.asked(lane))):
            raise GateUnavailable(f"{reason}.\n  What its milestones certified stands; see the lane's state.")
        is_rising = self._board.config.higher_is_better
        claim = self._ending.make(lane, self._climb(lane), higher_is_better=is_rising, close=close)
        return self._tables.finish(claim, run)

    @property
    def _ending(self) -> LaneClaim:
        return LaneClaim(self._board.holdout, self._questions, self.team, self.lane, self._count_left)


def _checked(text: Any, what: str) -> str:
    plain = plain_text(text, _LONGEST[what])
    if not plain or "\0" in plain or not plain.strip():
        raise InvalidSubmission(f"{what} is a text of 1 to {_LONGEST[what]:,} characters, not {show_value(text)}")
    return plain.strip()
