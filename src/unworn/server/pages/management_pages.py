"""The pages of whoever manages a board or a holdout: who spent what, and who may come in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unworn.server.pages.board_pages import BoardFacts, make_board_page
from unworn.server.pages.holdout_pages import HoldoutFacts, make_holdout_page
from unworn.server.pages.web_page import Notice, WebPage

Rows = Sequence[Mapping[str, Any]]
Secret = Mapping[str, str | None] | None
"""A link and a token that were just made: shown once, on a page that no cache keeps."""


def show_board_management(
    board: BoardFacts,
    *,
    spending: Rows,
    allowed: int | None,
    accounts: Rows,
    roles: Sequence[str],
    secret: Secret = None,
    notice: Notice | None = None,
    status: int = 200,
) -> WebPage:
    """For the organiser: who spent what, who may come in, and the end of the board."""
    data = {**_describe_people(accounts, roles, secret, notice), "spending": _share_out(spending), "allowed": allowed}
    return make_board_page(board, "manage", "Manage", data, path="/manage", status=status)


def show_holdout_management(
    holdout: HoldoutFacts,
    *,
    spending: Rows,
    currency: str,
    accounts: Rows,
    roles: Sequence[str],
    secret: Secret = None,
    notice: Notice | None = None,
    status: int = 200,
) -> WebPage:
    """For the custodian: who asked what it cost, and who may ask."""
    told = [{**row, "account": row["team"] or None, "asked": row["submissions"]} for row in _share_out(spending)]
    kept = ("account", "asked", "surprises", "nats", "share")
    rows = [{name: row[name] for name in kept} for row in told]
    data = {**_describe_people(accounts, roles, secret, notice), "spending": rows, "currency": currency}
    return make_holdout_page(holdout, "manage", "manage_holdout.html", "Manage", data, "/manage", status)


def _share_out(spending: Rows) -> list[dict[str, Any]]:
    """The dearest first, each with its share of all."""
    total = sum(row["nats"] for row in spending) or 1.0
    return [{**row, "share": row["nats"] / total} for row in sorted(spending, key=lambda row: -row["nats"])]


def _describe_people(accounts: Rows, roles: Sequence[str], secret: Secret, notice: Notice | None) -> dict[str, Any]:
    return {
        "accounts": [dict(account) for account in accounts],
        "roles": list(roles),
        "secret": None if secret is None else {"link": None, "token": None, **secret},
        "message": notice and notice.to_json(),
    }
