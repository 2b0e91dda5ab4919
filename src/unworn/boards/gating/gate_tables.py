"""Where lanes are written: a row per proposal, before its verdict leaves, and the position of each lane.

A lane is a fold over its proposals. Each is entered in one transaction that finds the lane as it was when the proposal
was weighed; whoever came second weighs again. A milestone is entered as pending first, then asked, then settled: what a
crash leaves pending is settled by whoever comes next, and the ledger tells it again, for nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from unworn.basics.json_text import canonical
from unworn.basics.typed_fields import read_fields
from unworn.boards.files.predictions_check import Predictions
from unworn.boards.gate_values import GateClaim, GateVerdict, Milestone
from unworn.boards.gating.gate_climb import LanePosition, WeighedProposal
from unworn.boards.gating.gate_luck import ProposalStep
from unworn.boards.submission_table import pack_predictions, unpack_predictions
from unworn.database import Database, RunSQL

STEPS = (
    """CREATE TABLE gate_lanes (
        team TEXT NOT NULL, lane TEXT NOT NULL, proving BIGINT NOT NULL, position TEXT NOT NULL, claim TEXT,
        PRIMARY KEY (team, lane)
    );
    CREATE TABLE gate_proposals (
        team TEXT NOT NULL, lane TEXT NOT NULL, number BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL,
        digest TEXT NOT NULL, request TEXT, message TEXT, weighed TEXT NOT NULL, verdict TEXT,
        PRIMARY KEY (team, lane, number)
    );
    CREATE INDEX gate_requests ON gate_proposals (team, lane, request);
    CREATE TABLE gate_predictions (
        team TEXT NOT NULL, lane TEXT NOT NULL, number BIGINT NOT NULL, data BLOB NOT NULL,
        PRIMARY KEY (team, lane, number)
    )""",
    """ALTER TABLE gate_proposals ADD COLUMN checked BIGINT;
    CREATE TABLE gate_repeats (
        team TEXT NOT NULL, lane TEXT NOT NULL, request TEXT NOT NULL, number BIGINT NOT NULL,
        PRIMARY KEY (team, lane, request)
    )""",
)
HISTORY = 5_000
"""Proposals whose gains say how much of a gain is luck. All of a hundred thousand would say hardly more, and keep the
board busy for ten seconds at every check: in its turn, for which others wait."""
_LANE = "team = :team AND lane = :lane"


@dataclass(frozen=True)
class RecordedProposal:
    """A proposal as it was entered; its verdict is missing while its milestone is pending."""

    number: int
    digest: str
    request: str | None
    message: str | None
    weighed: WeighedProposal
    verdict: GateVerdict | None
    check: bool = False

    def is_repeated_by(self, digest: str, message: str | None, check: bool) -> bool:
        """Whether the same comes again; a check counts as made where it was asked for, or its milestone was due."""
        is_checked = self.check or self.verdict is None or self.verdict.milestone is not None
        return (self.digest, self.message) == (digest, message) and (is_checked or not check)


@dataclass(frozen=True)
class RecordedLane:
    """A lane as it was at one moment: where it stood, its last proposal, and what the next one is compared with.

    ``steps`` are the latest, after so many that were ``skipped``.
    """

    is_proving: bool
    position: LanePosition
    claim: GateClaim | None
    last: RecordedProposal
    predictions: Mapping[int, Predictions] = field(default_factory=dict)
    steps: Sequence[ProposalStep] = ()
    skipped: int = 0
    milestones: Sequence[Milestone] = ()

    def is_pending_at(self, number: int) -> bool:
        """Whether the milestone of this proposal is still to be settled."""
        return self.position.is_pending and self.last.number == number


class GateTables:
    """The lanes of one team's gate in the board's database."""

    def __init__(self, database: Database, team: str, lane: str) -> None:
        self.database, self._key = database, {"team": team, "lane": lane}
        database.migrate("gate", STEPS)

    def load(self, within: RunSQL | None = None, *, with_history: bool = False) -> RecordedLane | None:
        """The lane as it is, with its predictions, or None where nothing was proposed; steps are read on request.

        All in one transaction: a position whose kept state was let go of meanwhile would have nothing to compare with.
        """

        def work(run: RunSQL) -> RecordedLane | None:
            lane = self._load(run)
            if lane is None:
                return None
            found = run(f"SELECT number, data FROM gate_predictions WHERE {_LANE}", **self._key)
            lane = replace(lane, predictions={int(number): unpack_predictions(bytes(data)) for number, data in found})
            return self._with_history(run, lane) if with_history else lane

        return self.database.transact(work, write=False) if within is None else work(within)

    def _load(self, run: RunSQL) -> RecordedLane | None:
        lanes = run(f"SELECT proving, position, claim FROM gate_lanes WHERE {_LANE}", **self._key)
        if not lanes:
            return None
        proving, text, claim = lanes[0]
        position = read_fields(LanePosition, json.loads(text))
        return RecordedLane(
            bool(proving),
            position,
            None if claim is None else GateClaim.from_json(json.loads(claim)),
            self._read(run, "number = :number", number=position.proposals)[0],
        )

    def _read(self, run: RunSQL, which: str, **values: Any) -> list[RecordedProposal]:
        found = run(
            "SELECT number, digest, request, message, weighed, verdict, checked FROM gate_proposals "
            f"WHERE {_LANE} AND {which} ORDER BY number",
            **self._key,
            **values,
        )
        return [_recorded(*row) for row in found]

    def proposal(self, number: int, run: RunSQL) -> RecordedProposal:
        """One proposal of the lane."""
        return self._read(run, "number = :number", number=number)[0]

    def find(
        self, lane: RecordedLane, digest: str, message: str | None, request: str | None, check: bool = False
    ) -> RecordedProposal | None:
        """The proposal that a request made; or the last one, if file and message are the same: it was sent again.

        Another message makes it another idea, which came to the same predictions. A key that comes with a repeat is
        noted, so that it stands for the same ever after.
        """
        if request is not None:
            found = self.database.transact(lambda run: self._requested(run, request), write=False)
            if found:
                return found[0]
        if not lane.last.is_repeated_by(digest, message, check):
            return None
        return lane.last if request is None else self.database.transact(partial(self._note, lane.last, request))

    def _requested(self, run: RunSQL, request: str) -> list[RecordedProposal]:
        repeats = f"SELECT number FROM gate_repeats WHERE {_LANE} AND request = :request"
        return self._read(run, f"(request = :request OR number IN ({repeats}))", request=request)

    def _note(self, proposal: RecordedProposal, request: str, run: RunSQL) -> RecordedProposal:
        found = self._requested(run, request)
        if not found:
            run(
                "INSERT INTO gate_repeats VALUES (:team, :lane, :request, :number)",
                **self._key,
                request=request,
                number=proposal.number,
            )
        return found[0] if found else proposal

    def _with_history(self, run: RunSQL, lane: RecordedLane) -> RecordedLane:
        before = max(lane.position.proposals - HISTORY, 1)  # the first is no step
        latest = self._read(run, "number > :before", before=before)
        steps = [ProposalStep(each.weighed.gain, each.weighed.error, each.weighed.is_better) for each in latest]
        told = (each.verdict for each in self._read(run, "verdict LIKE :mark", mark='%"milestone":{%'))
        milestones = [each.milestone for each in told if each is not None and each.milestone is not None]
        return replace(lane, steps=steps, skipped=before - 1, milestones=milestones)

    def enter(
        self,
        position: LanePosition,
        proposal: RecordedProposal,
        kept: Mapping[int, Predictions],
        *,
        is_proving: bool,
    ) -> bool:
        """Write a proposal down; False where another one came first, and nothing was written."""
        data = pack_predictions(kept[proposal.number]) if proposal.number in kept else None

        def work(run: RunSQL) -> bool:
            now = self._load(run)
            if (0 if now is None else now.position.proposals) != proposal.number - 1:
                return False
            if now is not None and (now.position.is_pending or now.claim is not None):
                return False
            if proposal.request is not None and self._requested(run, proposal.request):
                return False
            run(
                "INSERT INTO gate_lanes (team, lane, proving, position) VALUES (:team, :lane, :proving, :position) "
                "ON CONFLICT (team, lane) DO UPDATE SET position = excluded.position",
                **self._key,
                proving=int(is_proving),
                position=_position(position),
            )
            run(
                "INSERT INTO gate_proposals VALUES (:team, :lane, :number, :at, :digest, :request, :message, :weighed, "
                ":verdict, :checked)",
                **self._key,
                number=proposal.number,
                at=round(time.time(), 3),
                digest=proposal.digest,
                request=proposal.request,
                message=proposal.message,
                weighed=canonical(asdict(proposal.weighed)),
                verdict=_text(proposal.verdict),
                checked=int(proposal.check),
            )
            if data is not None:
                run(
                    "INSERT INTO gate_predictions VALUES (:team, :lane, :number, :data)",
                    **self._key,
                    number=proposal.number,
                    data=data,
                )
            self._forget(run, set(kept))
            return True

        return self.database.transact(work)

    def settle(
        self, position: LanePosition, verdict: GateVerdict, kept: set[int], within: RunSQL | None = None
    ) -> GateVerdict:
        """Write down what a milestone said; what was written first is returned."""

        def work(run: RunSQL) -> GateVerdict:
            known = self.proposal(verdict.proposal, run).verdict
            if known is not None:
                return known
            run(
                f"UPDATE gate_proposals SET verdict = :verdict WHERE {_LANE} AND number = :number",
                **self._key,
                number=verdict.proposal,
                verdict=_text(verdict),
            )
            run(f"UPDATE gate_lanes SET position = :position WHERE {_LANE}", **self._key, position=_position(position))
            self._forget(run, kept)
            return verdict

        return self.database.transact(work) if within is None else work(within)

    def finish(self, claim: GateClaim, within: RunSQL | None = None) -> GateClaim:
        """Write down the last word on the lane, once."""

        def work(run: RunSQL) -> GateClaim:
            now = self._load(run)
            if now is not None and now.claim is not None:
                return now.claim
            text = canonical(claim.to_json())
            run(f"UPDATE gate_lanes SET claim = :claim WHERE {_LANE}", **self._key, claim=text)
            return claim

        return self.database.transact(work) if within is None else work(within)

    def _forget(self, run: RunSQL, needed: set[int]) -> None:
        """Let go of predictions that no later step is compared with."""
        kept = run(f"SELECT number FROM gate_predictions WHERE {_LANE}", **self._key)
        for number in {int(row[0]) for row in kept} - needed:
            run(f"DELETE FROM gate_predictions WHERE {_LANE} AND number = :number", **self._key, number=number)


def _text(verdict: GateVerdict | None) -> str | None:
    return None if verdict is None else canonical(verdict.to_json())


def _position(position: LanePosition) -> str:
    return canonical(asdict(position))


def _recorded(
    number: int,
    digest: str,
    request: str | None,
    message: str | None,
    weighed: str,
    verdict: str | None,
    checked: int | None,
) -> RecordedProposal:
    told = None if verdict is None else GateVerdict.from_json(json.loads(verdict))
    read: Any = read_fields(WeighedProposal, json.loads(weighed))
    return RecordedProposal(int(number), digest, request, message, read, told, bool(checked))
