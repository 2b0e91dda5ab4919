"""What the tools of an agent are written against: the same over a connection and inside a server.

A server gives each request the verbs of its account; ``unworn mcp --to URL`` has those of one token. Neither gives an
agent rows, labels or a key: there is no verb for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from unworn.boards.standings import Standings
from unworn.boards.submission import Submission
from unworn.client.agent_values import ToldBudget
from unworn.client.connected_holdout import ConnectedHoldout
from unworn.client.remote_board import RemoteBoard
from unworn.client.remote_server import RemoteServer
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer, DerivedQuote
from unworn.record.meter import Quote

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.boards.gate import Gate
    from unworn.boards.gate_values import GateClaim
    from unworn.holdout import Holdout


class BoardVerbs(Protocol):
    """One board, for one team."""

    def submit(
        self, source: Any, *, name: str | None = None, message: str | None = None, format: str | None = None
    ) -> Submission: ...

    def gate(
        self,
        source: Any,
        message: str | None = None,
        *,
        check: bool = False,
        lane: str | None = None,
        prove: bool = False,
        format: str | None = None,
    ) -> Any: ...

    def finish(self, lane: str | None = None) -> GateClaim: ...

    def standings(self) -> Standings: ...

    def budget(self) -> ToldBudget: ...


class HoldoutVerbs(Protocol):
    """One holdout, for one account."""

    def ask(self, question: Any, guess: Any = None, *, name: str | None = None) -> Answer | DerivedAnswer: ...

    def quote(self, question: Any, guess: Any = None) -> Quote | DerivedQuote: ...

    def budget(self) -> ToldBudget: ...


class AgentVerbs(Protocol):
    """All that an account can reach, by name."""

    def boards(self) -> Sequence[str]: ...

    def holdouts(self) -> Sequence[str]: ...

    def board(self, name: str) -> BoardVerbs: ...

    def holdout(self, name: str) -> HoldoutVerbs: ...


# ---------------------------------------------------------------------- over a connection


class BoardOverWire:
    """The verbs of a board behind a wall."""

    def __init__(self, board: RemoteBoard) -> None:
        self._board = board
        self.submit, self.gate, self.standings = board.submit, board.gate, board.standings
        self.finish = board.gate_finish

    def budget(self) -> ToldBudget:
        details = self._board.details
        cap = details.get("surprises_per_team", (details.get("config") or {}).get("surprises_per_team"))
        own = len(self._board.submissions(self._board.team))
        return ToldBudget.of_board(
            self._board.name, own, self._board.own_spending(), cap, details.get("closed") is True
        )


class HoldoutOverWire:
    """The verbs of a holdout behind a wall."""

    def __init__(self, holdout: ConnectedHoldout) -> None:
        self._holdout = holdout
        self.ask, self.quote = holdout.ask, holdout.quote

    def budget(self) -> ToldBudget:
        return ToldBudget.of_holdout(self._holdout.name, self._holdout.meter, self._holdout.closed)


class VerbsOverWire:
    """All that a token can reach; or the one board or holdout that a URL names."""

    def __init__(self, connection: RemoteServer | RemoteBoard | ConnectedHoldout) -> None:
        self._connection = connection

    def boards(self) -> Sequence[str]:
        if isinstance(self._connection, RemoteBoard):
            return [self._connection.name]
        return self._connection.boards() if isinstance(self._connection, RemoteServer) else []

    def holdouts(self) -> Sequence[str]:
        if isinstance(self._connection, ConnectedHoldout):
            return [self._connection.name]
        return self._connection.holdouts() if isinstance(self._connection, RemoteServer) else []

    def board(self, name: str) -> BoardVerbs:
        one = self._connection
        return BoardOverWire(one.board(name) if isinstance(one, RemoteServer) else one)  # type: ignore[arg-type]

    def holdout(self, name: str) -> HoldoutVerbs:
        one = self._connection
        return HoldoutOverWire(one.holdout(name) if isinstance(one, RemoteServer) else one)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- inside a server


class BoardOfTeam:
    """The verbs of a board in this process, for one team: what a server gives a request."""

    def __init__(self, board: Board, team: str) -> None:
        self._board, self._team = board, team

    def submit(
        self, source: Any, *, name: str | None = None, message: str | None = None, format: str | None = None
    ) -> Submission:
        return self._board.submit(source, team=self._team, name=name, message=message, format=format)

    def gate(
        self,
        source: Any,
        message: str | None = None,
        *,
        check: bool = False,
        lane: str | None = None,
        prove: bool = False,
        format: str | None = None,
    ) -> Any:
        return self._lane(lane, prove).propose(source, message, check=check, format=format)

    def finish(self, lane: str | None = None) -> GateClaim:
        return self._lane(lane).finish()

    def _lane(self, lane: str | None, prove: bool = False) -> Gate:
        from unworn.boards.gate import Gate

        return Gate(self._board, self._team, lane=lane or "main", prove=prove)

    def standings(self) -> Standings:
        return self._board.standings()

    def budget(self) -> ToldBudget:
        cap = self._board.config.surprise_cap
        own, spent = len(self._board.submissions(self._team)), self._board.team_spending(self._team)
        return ToldBudget.of_board(self._board.name, own, spent, cap, self._board.closed)


class HoldoutOfAccount:
    """The verbs of a holdout in this process, for one account."""

    def __init__(self, holdout: Holdout, account: str, closed: bool = False) -> None:
        self._holdout, self._account, self._closed = holdout, account, closed

    def ask(self, question: Any, guess: Any = None, *, name: str | None = None) -> Answer | DerivedAnswer:
        answer: Answer | DerivedAnswer = self._holdout.ask(question, guess, by=self._account, name=name)
        return answer

    def quote(self, question: Any, guess: Any = None) -> Quote | DerivedQuote:
        quote: Quote | DerivedQuote = self._holdout.quote(question, guess)
        return quote

    def budget(self) -> ToldBudget:
        return ToldBudget.of_holdout(self._holdout.name, self._holdout.meter, self._closed)
