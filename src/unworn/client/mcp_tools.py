"""Tools for agents (Model Context Protocol): a metric without its rows.

The same definitions serve ``unworn mcp --to URL`` on standard input and output, and ``/mcp`` on a server; only where
the verbs come from differs (:mod:`~unworn.client.agent_verbs`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from unworn.basics.display import show_line
from unworn.client.agent_instructions import INSTRUCTIONS
from unworn.client.agent_values import (
    ToldAnswer,
    ToldBudget,
    ToldClaim,
    ToldQuote,
    ToldStandings,
    ToldSubmission,
    ToldVerdict,
)
from unworn.client.agent_verbs import AgentVerbs, BoardVerbs, HoldoutVerbs
from unworn.errors import MissingExtra, Unaskable, UnwornError
from unworn.queries import Query

try:
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations
except ImportError:
    raise MissingExtra.of("agents", "tools for agents over MCP") from None

FindVerbs = Callable[[Mapping[str, str] | None], AgentVerbs]
"""From the headers of a request (none on standard input) to the verbs of whoever sent it."""
Format = Literal["csv", "jsonl"]
_ENDINGS = (".csv", ".jsonl", ".ndjson", ".parquet")
_MOST_TEAMS = 100
_T = TypeVar("_T")

_LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_COUNTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_GATES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)


def make_mcp_server(find_verbs: FindVerbs, *, folder: Path | None = None, name: str = "unworn") -> MCPServer:
    """An MCP server with all tools. With ``folder``, predictions may be files below it: for a server that runs beside
    the agent. On a remote one there is no ``folder``, and predictions come as text.
    """
    server = MCPServer(name, title="unworn", instructions=INSTRUCTIONS, log_level="WARNING")
    tools = AgentTools(find_verbs, folder)
    server.add_tool(tools.submit_text if folder is None else tools.submit, name="submit", annotations=_COUNTS)
    server.add_tool(tools.gate_text if folder is None else tools.gate, name="gate", annotations=_GATES)
    server.add_tool(tools.finish, annotations=_COUNTS)
    server.add_tool(tools.ask, annotations=_COUNTS)
    server.add_tool(tools.quote, annotations=_LOOKS)
    server.add_tool(tools.standings, annotations=_LOOKS)
    server.add_tool(tools.budget, annotations=_LOOKS)
    return server


class AgentTools:
    """The tools, as methods whose signatures and docstrings are what an agent reads."""

    def __init__(self, find_verbs: FindVerbs, folder: Path | None = None) -> None:
        self._find, self._folder = find_verbs, None if folder is None else folder.resolve()

    def submit_text(
        self,
        ctx: Context[Any, Any],
        predictions: str,
        board: str | None = None,
        name: str | None = None,
        message: str | None = None,
        format: Format = "csv",
    ) -> ToldSubmission:
        """Submit predictions to a board: its practice score at once, and a certified interval from the sealed rows.

        `predictions` is the whole file: CSV with a header (the id column and the prediction column), or JSON lines
        with format="jsonl"; one row for every id of the board. The practice score is the guess that the sealed rows
        check: agreement is nearly free, disagreement is a surprise, and a team has only a few of those before its
        further scores are practice only. A file that cannot be scored costs nothing and is told line by line. `name`
        and `message` say what you tried; the same file again is free. `board` may be left out if there is only one.
        """
        return self._submitted(ctx, board, predictions.encode(), name, message, format)

    def submit(
        self,
        ctx: Context[Any, Any],
        file: str | None = None,
        predictions: str | None = None,
        board: str | None = None,
        name: str | None = None,
        message: str | None = None,
        format: Format = "csv",
    ) -> ToldSubmission:
        """Submit predictions to a board: its practice score at once, and a certified interval from the sealed rows.

        Give `file`, the path of a .csv, .jsonl or .parquet file below the folder that this tool was started in
        (better: predictions need not pass through you), or `predictions`, the whole file as text (CSV with a header, or
        JSON lines with format="jsonl"); one row for every id of the board. The practice score is the guess that the
        sealed rows check: agreement is nearly free, disagreement is a surprise, and a team has only a few of those
        before its further scores are practice only. A file that cannot be scored costs nothing and is told line by
        line. `name` and `message` say what you tried; the same file again is free. `board`: if there is more than one.
        """
        return self._submitted(ctx, board, self._source(file, predictions), name, message, _format(file, format))

    def gate_text(
        self,
        ctx: Context[Any, Any],
        predictions: str,
        message: str | None = None,
        board: str | None = None,
        check: bool = False,
        lane: str | None = None,
        prove: bool = False,
        format: Format = "csv",
    ) -> ToldVerdict:
        """Propose one change of a loop that keeps or reverts: `keep` tells which. Call it after each change.

        `predictions` is the whole file of predictions of the changed program, as text. If `keep` is false, go back to
        proposal `kept`: usually the state before this change, after a milestone perhaps an earlier one. At milestones
        (or with check=true, which may cost) `milestone` says how much of the gain since the last confirmed state is
        real: `low` to `high`, certified; where nothing is proven yet, the loop goes on from where it is. `message` says
        what was changed, `lane` separates loops side by side, and one with prove=true keeps only what is proven.
        """
        return self._gated(
            ctx, board, predictions.encode(), message, format=format, check=check, lane=lane, prove=prove
        )

    def gate(
        self,
        ctx: Context[Any, Any],
        file: str | None = None,
        predictions: str | None = None,
        message: str | None = None,
        board: str | None = None,
        check: bool = False,
        lane: str | None = None,
        prove: bool = False,
        format: Format = "csv",
    ) -> ToldVerdict:
        """Propose one change of a loop that keeps or reverts: `keep` tells which. Call it after each change.

        Give `file`, the path of the changed program's predictions below the folder that this tool was started in, or
        `predictions` as text. If `keep` is false, go back to proposal `kept`: usually the state before this change,
        after a milestone perhaps an earlier one. At milestones (or with check=true, which may cost) `milestone` says
        how much of the gain since the last confirmed state is real: `low` to `high`, certified; where nothing is proven
        yet, the loop goes on from where it is. `message` says what was changed, `lane` separates loops side by side,
        and one with prove=true keeps only what is proven.
        """
        source = self._source(file, predictions)
        return self._gated(
            ctx, board, source, message, format=_format(file, format), check=check, lane=lane, prove=prove
        )

    def finish(self, ctx: Context[Any, Any], board: str | None = None, lane: str | None = None) -> ToldClaim:
        """End a lane of `gate` for good: its gain over the first proposal and its score, exact and certified.

        Report these, and no practice score. It costs as much as a surprise and counts as one: call it once, at the end.
        """
        return self._run(ctx, lambda verbs: ToldClaim.of(_board(verbs, board).finish(lane)))

    def ask(
        self,
        ctx: Context[Any, Any],
        question: str,
        guess: float | None = None,
        low: float | None = None,
        high: float | None = None,
        holdout: str | None = None,
        name: str | None = None,
    ) -> ToldAnswer:
        """Ask a holdout about the population its rows came from, and get an interval that holds.

        `question` is a condition as in SQL ("age > 65 and plan = 'basic'"): the answer is the share for which it is
        true. With `low` and `high` it is a number, cut to that range, and the answer is its mean. `guess` is what you
        expect, in the same units: agreement is nearly free, disagreement is a surprise and costs about ten nats; no
        guess costs a little. Look at `quote` first if you are unsure. The same question again is free.
        """

        def asked(verbs: AgentVerbs) -> ToldAnswer:
            where = _holdout(verbs, holdout)
            return ToldAnswer.of(where.ask(_question(question, low, high), guess, name=name))

        return self._run(ctx, asked)

    def quote(
        self,
        ctx: Context[Any, Any],
        question: str,
        guess: float | None = None,
        low: float | None = None,
        high: float | None = None,
        holdout: str | None = None,
    ) -> ToldQuote:
        """What `ask` with the same arguments would cost and how wide its interval would be. Free: nothing is asked.

        `cost` is paid if the rows agree with the guess, `surprise_cost` if they do not, both in nats; `width` is half
        the length of the interval. `repeat` means that it was asked before, so that the answer is free.
        """

        def priced(verbs: AgentVerbs) -> ToldQuote:
            return ToldQuote.of(_holdout(verbs, holdout).quote(_question(question, low, high), guess))

        return self._run(ctx, priced)

    def standings(self, ctx: Context[Any, Any], board: str | None = None) -> ToldStandings:
        """Who is ahead on a board, with certified intervals. Teams that cannot be told apart share a rank. Free."""

        def looked(verbs: AgentVerbs) -> ToldStandings:
            name = _one_of(verbs.boards(), board, "board")
            return ToldStandings.of(name, verbs.board(name).standings(), _MOST_TEAMS)

        return self._run(ctx, looked)

    def budget(self, ctx: Context[Any, Any], board: str | None = None, holdout: str | None = None) -> list[ToldBudget]:
        """What was asked, how many surprises there were, and what is left: of one board or holdout, or of all. Free.

        Call it first: it also says which boards and holdouts there are.
        """

        def counted(verbs: AgentVerbs) -> list[ToldBudget]:
            boards = verbs.boards() if board is None and holdout is None else [board] if board is not None else []
            holdouts = verbs.holdouts() if board is None and holdout is None else [holdout] if holdout else []
            return [verbs.board(each).budget() for each in boards] + [verbs.holdout(each).budget() for each in holdouts]

        return self._run(ctx, counted)

    # ------------------------------------------------------------------ how they do it

    def _submitted(
        self, ctx: Any, board: str | None, source: Any, name: str | None, message: str | None, format: str
    ) -> ToldSubmission:
        def sent(verbs: AgentVerbs) -> ToldSubmission:
            where = _board(verbs, board)
            submission = where.submit(source, name=name, message=message, format=format)
            return ToldSubmission.of(submission, where.standings())

        return self._run(ctx, sent)

    def _gated(self, ctx: Any, board: str | None, source: Any, message: str | None, **how: Any) -> ToldVerdict:
        return self._run(ctx, lambda verbs: ToldVerdict.of(_board(verbs, board).gate(source, message, **how)))

    def _run(self, ctx: Any, what: Callable[[AgentVerbs], _T]) -> _T:
        """What was asked for; what went wrong in the package's own words, for the agent to read and mend."""
        try:
            return what(self._find(ctx.headers))
        except UnwornError as error:
            raise ToolError(f"{type(error).__name__}: {error.message}") from None

    def _source(self, file: str | None, predictions: str | None) -> Any:
        if (file is None) == (predictions is None):
            raise ToolError("give either file, a path, or predictions, the text of one")
        return predictions.encode() if predictions is not None else self._path(str(file))

    def _path(self, file: str) -> Path:
        """A file that may be sent: of predictions, by its name, and below the folder. Nothing else leaves."""
        folder = self._folder
        if folder is None:
            raise ToolError("predictions come as text here")
        path = (folder / file).resolve()
        if not path.is_relative_to(folder) or path.suffix.lower() not in _ENDINGS:
            raise ToolError(
                f"{show_line(file)[:200]} is not a file of predictions below {folder}: its name ends in "
                f"{', '.join(_ENDINGS)}"
            )
        if not path.is_file():
            raise ToolError(f"there is no file {show_line(file)[:200]} in {folder}")
        return path


def _format(file: str | None, format: str) -> str:
    return format if file is None else Path(file).suffix.lower().lstrip(".").replace("ndjson", "jsonl")


def _question(text: str, low: float | None, high: float | None) -> Query:
    from unworn.queries.language.sql_text import parse as parse_sql

    if (low is None) != (high is None):
        raise Unaskable("a mean needs both ends of its range: give low and high, or neither for a share")
    return parse_sql(text, range=None if low is None or high is None else (low, high))


def _board(verbs: AgentVerbs, name: str | None) -> BoardVerbs:
    return verbs.board(_one_of(verbs.boards(), name, "board"))


def _holdout(verbs: AgentVerbs, name: str | None) -> HoldoutVerbs:
    return verbs.holdout(_one_of(verbs.holdouts(), name, "holdout"))


def _one_of(names: Sequence[str], name: str | None, kind: str) -> str:
    if name is not None:
        return name
    if len(names) == 1:
        return names[0]
    there = f"there are {', '.join(names[:20])}" if names else "there is none that you may use"
    raise Unaskable(f"say which {kind} you mean, as in {kind}=...: {there}")
