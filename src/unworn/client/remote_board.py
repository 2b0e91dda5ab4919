"""A board behind a wall: the verbs of a board, for a team that has a token and no labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast
from urllib.parse import quote

from unworn.basics.display import show_line
from unworn.basics.typed_fields import read_fields
from unworn.boards.board_promise import BoardPromise
from unworn.boards.gate_values import GateClaim, GateState, GateVerdict
from unworn.boards.standings import Standings
from unworn.boards.submission import Submission
from unworn.boards.team_spending import TeamSpending
from unworn.client.reply_values import read_whole, read_word
from unworn.client.signed_answers import check_claim, check_milestone, check_score, join_answers
from unworn.client.transport.pinned_keys import PinnedKey
from unworn.client.transport.problem_errors import BadReply
from unworn.client.transport.server_address import ServerAddress
from unworn.client.transport.upload_body import make_upload
from unworn.client.transport.wire import Wire
from unworn.errors import Mismatch, Tampered
from unworn.record.certificate import Certificate

_T = TypeVar("_T")
_PROMISED = tuple(part.name for part in fields(BoardPromise))


@dataclass(frozen=True)
class CheckedFile:
    """A file of predictions that can be scored, with so many rows."""

    rows: int


class RemoteBoard:
    """What :func:`~unworn.connect` returns for a board: the verbs of :class:`~unworn.boards.board.Board`.

    A submission's certified interval is compared with the signed entries behind it. The team is the token's.
    """

    def __init__(self, wire: Wire, address: ServerAddress) -> None:
        self._wire, self._address = wire, address
        self._pin = PinnedKey(address)
        self._base = f"/api/boards/{quote(address.name or '')}"
        self._details: dict[str, Any] | None = None
        self._team: str | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return self._address.url

    @property
    def details(self) -> dict[str, Any]:
        """What the board tells everybody: its rules, its promise, how many ids there are to predict."""
        told = self._wire.get(self._base)
        if not isinstance(told, dict):
            raise BadReply(f"{self.url} does not answer like a board")
        self._details = told
        return told

    @property
    def name(self) -> str:
        return read_word(self._details or self.details, "name", self.url)

    @property
    def title(self) -> str:
        return read_word(self._details or self.details, "title", self.url)

    @property
    def size(self) -> int:
        """The number of check rows."""
        return read_whole(self._details or self.details, "size", self.url)

    @property
    def practice_size(self) -> int:
        return read_whole(self._details or self.details, "practice_size", self.url)

    @property
    def closed(self) -> bool:
        """Whether its rows are retired."""
        return self.details.get("closed") is True

    @property
    def team(self) -> str:
        """The team that the token speaks for."""
        if self._team is None:
            told = self._wire.get("/api/me")
            team = told.get("team", told.get("account")) if isinstance(told, dict) else None
            if not isinstance(team, str):
                raise BadReply(f"{self._address.origin} does not say whose token this is")
            self._team = team
        return self._team

    @property
    def ids(self) -> list[str]:
        """The ids to predict, as text, in the order of the board's template."""
        import csv
        import io

        try:
            rows = list(csv.reader(io.StringIO(self.template().decode("utf-8-sig"))))
        except (UnicodeDecodeError, csv.Error):
            raise BadReply(f"{self.url} shows no ids that can be read") from None
        return [row[0] for row in rows[1:] if row]

    def template(self) -> bytes:
        """The file to fill in: the ids to predict, as CSV."""
        return self._wire.get_bytes(f"{self._base}/ids.csv")

    # ------------------------------------------------------------------ submitting

    def validate(self, source: Any, format: str | None = None) -> CheckedFile:
        """Check a file of predictions without scoring it: free, as often as you like.

        ``InvalidSubmission`` names every problem with its line.
        """
        told = self._wire.upload(f"{self._base}/validate", make_upload(source, format))
        if not isinstance(told, dict) or told.get("valid") is not True:
            raise BadReply(f"{self.url} does not say whether the file is valid")
        return CheckedFile(read_whole(told, "rows", self.url))

    def submit(
        self,
        source: Any,
        *,
        team: str | None = None,
        name: str | None = None,
        message: str | None = None,
        format: str | None = None,
        request: str | None = None,
    ) -> Submission:
        """Score a file of predictions (path, bytes, frame, dict of columns): its practice score, and what the check
        rows certify. The same file again is the recorded submission, free.

        ``request`` is an idempotency key of your own, for a call that may be repeated by another process.
        """
        self._check_team(team)
        told = self._wire.upload(
            f"{self._base}/submissions", make_upload(source, format), request=request, name=name, message=message
        )
        self._check_against_cards(submission := self._read_submission(told))
        return submission

    def submissions(self, team: str | None = None) -> list[Submission]:
        """What this account may see: its own, or all of them for the owner; ``team`` keeps one team's only."""
        told = self._wire.get(f"{self._base}/submissions")
        if not isinstance(told, list):
            raise BadReply(f"{self.url} shows no submissions that can be read")
        return [each for each in map(self._read_submission, told) if team is None or each.team == team]

    def submission(self, id: str) -> Submission:
        """One submission by its id."""
        return self._read_submission(self._wire.get(f"{self._base}/submissions/{quote(id, safe='')}"))

    def cards(self, id: str) -> list[Certificate]:
        """The certificates of a submission, each checked: signed by the board's key, as it was seen first."""
        told = self._wire.get(f"{self._base}/submissions/{quote(id, safe='')}/cards")
        if isinstance(told, list):
            return [self._read_card(each) for each in told]
        raise BadReply(f"{self.url} shows no cards that can be read")

    def standings(self) -> Standings:
        """Who is ahead, as far as intervals can tell."""
        try:
            return Standings.from_json(self._wire.get(f"{self._base}/standings"))
        except (TypeError, ValueError):
            raise BadReply(f"{self.url} shows no standings that can be read") from None

    def promise(self) -> BoardPromise:
        """What the board can promise, in words and numbers."""
        told = self.details.get("promise")
        numbers = {name: told[name] for name in _PROMISED if name in told} if isinstance(told, dict) else {}
        return self._believe(lambda: read_fields(BoardPromise, numbers), "promise")

    def spending(self) -> list[TeamSpending]:
        """What each team has spent of everybody's intervals: for the owner."""
        told = self._wire.get(f"{self._base}/spending")
        return self._believe(lambda: [read_fields(TeamSpending, each) for each in told], "spending")

    def own_spending(self) -> TeamSpending:
        """What the token's team has spent, by submissions and behind the gate."""
        told = self._wire.get(f"{self._base}/spending/mine")
        return self._believe(lambda: read_fields(TeamSpending, told), "spending")

    def close_board(self, top: int = 10) -> dict[str, Any]:
        """Close the board for good and retire its rows, for the owner: the signed summary, checked.

        The final page and all cards are in the board's folder, on the server.
        """
        from unworn.boards.closing.board_summary import verify_summary

        summary = verify_summary(self._wire.post(f"{self._base}/close", {"top": top}))
        self._pin.check(str(summary.get("public_key")))
        return summary

    # ------------------------------------------------------------------ the gate

    def gate(
        self,
        source: Any,
        message: str | None = None,
        *,
        check: bool = False,
        lane: str | None = None,
        prove: bool = False,
        format: str | None = None,
        request: str | None = None,
    ) -> GateVerdict:
        """Propose a change to the gate: *keep* or *revert* at once, and at milestones what is real."""
        told = self._wire.upload(
            f"{self._base}/gate",
            make_upload(source, format),
            request=request,
            lane=lane,
            message=message,
            check=check or None,
            prove=prove or None,
        )
        verdict: GateVerdict = self._read(GateVerdict, told)
        if verdict.milestone is not None:
            card = self._wire.get(f"{self._base}/gate/cards/{verdict.milestone.index}", lane=lane)
            check_milestone(verdict.milestone, card, self._pin)
        return verdict

    def gate_state(self, lane: str | None = None) -> GateState:
        """Where a lane of the gate stands."""
        return cast("GateState", self._read(GateState, self._wire.get(f"{self._base}/gate", lane=lane)))

    def gate_finish(self, lane: str | None = None) -> GateClaim:
        """End a lane with its final, certified claim, which is compared with the signed entries behind it."""
        claim: GateClaim = self._read(GateClaim, self._wire.post(f"{self._base}/gate/finish", lane=lane))
        check_claim(claim, self.gate_cards(claim.indexes, lane))
        return claim

    def gate_cards(self, indexes: Sequence[int], lane: str | None = None) -> list[Certificate]:
        """The certificates behind milestones of a lane, or its claim, each checked."""
        return [self._read_card(self._wire.get(f"{self._base}/gate/cards/{each}", lane=lane)) for each in indexes]

    def release(self) -> None:
        """Let go of the connection."""
        self._wire.close()

    # ------------------------------------------------------------------ what is believed

    def _believe(self, read: Callable[[], _T], what: str) -> _T:
        try:
            return read()
        except (TypeError, ValueError, KeyError, AttributeError):
            raise BadReply(f"{self.url} shows no {what} that can be read") from None

    def _read_submission(self, told: Any) -> Submission:
        return cast("Submission", self._read(Submission, told))

    def _read(self, kind: Any, told: Any) -> Any:
        try:
            return kind.from_json(told)
        except (TypeError, ValueError, KeyError, AttributeError):
            raise BadReply(f"{self.url} answers with something that is not a {kind.__name__}") from None

    def _check_team(self, team: str | None) -> None:
        if team is not None and team != self.team:
            raise Mismatch(
                f"this token speaks for the team {show_line(self.team)!r}, not for {show_line(team)!r:.80}.\n"
                "  Leave team= out, or use that team's token."
            )

    def _read_card(self, told: Any) -> Certificate:
        card = Certificate.from_json(told)
        card.verify()
        self._pin.check(card.terms.public)
        return card

    def _check_against_cards(self, submission: Submission) -> None:
        """Refuse a submission that says other than the signed entries behind it.

        The entries may be another team's, who sent the same predictions first: the same question has one answer.
        """
        if not submission.indexes:
            if submission.is_checked or submission.value is not None:
                raise Tampered("this submission has a certified value, and no signed entry behind it")
            return
        cards = self.cards(submission.id)
        if [card.entry.index for card in cards] != list(submission.indexes):
            raise Tampered("the entries behind this submission are those of another one")
        if submission.is_checked and submission.value is not None:
            composite = self._wire.get(f"{self._base}/submissions/{quote(submission.id, safe='')}/composite")
            said = (submission.value, submission.low, submission.high)
            check_score("submission", said, join_answers(cards, composite))

    def __repr__(self) -> str:
        return f"RemoteBoard({self.url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        from unworn.client.connecting import redeem_connection

        return redeem_connection, (self.url, self._wire.ticket)
