"""``unworn verify`` of the summary that a closed board leaves."""

from __future__ import annotations

from pathlib import Path

from unworn.cli.output import emit, note, say
from unworn.ledger.open_ledgers import check_not_live

FORMAT = b'"unworn board summary 1"'


def is_summary(path: Path) -> bool:
    """Whether a file begins as the summary of a board does."""
    try:
        with path.open("rb") as file:
            return FORMAT in file.read(200)
    except OSError:
        return False


def checked_summary(path: Path, json: bool) -> None:
    """Check the signature over all of it, by the key that entry 0 of the board's ledger names."""
    from unworn.boards.closing.board_summary import load_summary

    check_not_live(path)
    told = load_summary(path)
    if json:
        emit(
            {"ok": True, "summary": str(path), "board": told["board"], "finals": told["finals"], "head": told["ledger"]}
        )
        return
    say("The summary is valid: all of it is what was signed.")
    say(f"  board {told['board']!r} · {told['submissions']:,} submissions · {told['rows']:,} rows")
    for each in told["finals"]:
        say(f"  {each['team']}: {each['value']:.4g} in [{each['low']:.4g}, {each['high']:.4g}]")
    say(f"Key: {told['public_key']}")
    note("Each number has a card in cards/, which is checked by itself; --ledger replays all of them.")
