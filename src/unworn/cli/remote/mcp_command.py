"""``unworn mcp``: tools for an agent, on standard input and output, over a connection to a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unworn.cli.output import BadInput


def mcp(
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The server, or one of its boards or holdouts.")],
    folder: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Files of predictions are sent from below it only.")
    ] = Path(),
) -> None:
    """Give an agent a metric without its rows: the tools submit, gate, finish, ask, quote, standings, budget.

    It speaks the Model Context Protocol on standard input and output: an agent's host starts it, as in

    \b
      {"mcpServers": {"unworn": {"command": "unworn", "args": ["mcp", "--to", "http://127.0.0.1:8765/boards/bench"]}}}

    The token comes from UNWORN_TOKEN or from "unworn login URL". The agent never needs to see it; whoever lets an agent
    run commands as the same user should know that it could (docs: "Keep an agent honest").
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder.\n  Name the one that the agent writes its predictions to.")
    from unworn.client import connect
    from unworn.client.agent_verbs import VerbsOverWire
    from unworn.client.mcp_tools import make_mcp_server
    from unworn.client.remote_server import RemoteServer

    connection = connect(to)
    _ = connection.account if isinstance(connection, RemoteServer) else connection.details  # refused now, if at all
    verbs = VerbsOverWire(connection)
    make_mcp_server(lambda headers: verbs, folder=folder).run("stdio")
