"""Accounts, tokens, links and backups: for owners of the whole server."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec
from litestar import Response, delete, get, post
from litestar.params import FromPath

from unworn.server.account import EVERYWHERE, Account, TokenNote
from unworn.server.accounts import LINK_SECONDS, Accounts
from unworn.server.backups import back_up
from unworn.server.guards import caller_of, check_manager, services_of
from unworn.server.requests.json_reply import reply_json
from unworn.server.requests.request_body import AnyRequest, read_object, run_in_thread
from unworn.server.requests.route_words import describe
from unworn.server.server_errors import NotThere

Reply = Response[bytes]


class AccountBody(msgspec.Struct, forbid_unknown_fields=True):
    """A new account."""

    name: str
    team: str | None = None
    role: str = "participant"
    scopes: list[str] = []


class TokenBody(msgspec.Struct, forbid_unknown_fields=True):
    """A new token: for which places, for how long, and what it is for."""

    scopes: list[str] = msgspec.field(default_factory=lambda: [EVERYWHERE])
    seconds: float | None = None
    label: str | None = None


class LinkBody(msgspec.Struct, forbid_unknown_fields=True):
    """A new sign-in link."""

    seconds: float = LINK_SECONDS


@get("/api/accounts", **describe("All accounts."))
async def list_accounts(request: AnyRequest) -> Reply:
    check_manager(caller_of(request))
    accounts = services_of(request).accounts
    return reply_json([account_json(each) for each in await run_in_thread(request, accounts.accounts)])


@post("/api/accounts", **describe("Make an account.", body=AccountBody, status=201))
async def add_account(request: AnyRequest) -> Reply:
    check_manager(caller_of(request))
    body, _ = await read_object(request, AccountBody)
    accounts = services_of(request).accounts
    made = await run_in_thread(request, lambda: accounts.add(body.name, body.team, body.role, body.scopes))
    return reply_json(account_json(made), 201)


@get("/api/accounts/{name:str}/tokens", **describe("The tokens of an account, without what opens a door."))
async def list_tokens(request: AnyRequest, name: FromPath[str]) -> Reply:
    accounts, caller = services_of(request).accounts, caller_of(request)

    def look() -> list[TokenNote]:
        _check_own(accounts, caller, name)
        return accounts.tokens(name)

    return reply_json([asdict(each) for each in await run_in_thread(request, look)])


@post("/api/accounts/{name:str}/tokens", **describe("A new token, shown this once.", body=TokenBody, status=201))
async def add_token(request: AnyRequest, name: FromPath[str]) -> Reply:
    check_manager(caller_of(request))
    body, _ = await read_object(request, TokenBody)
    accounts = services_of(request).accounts

    def issue() -> str:
        return accounts.issue_token(name, scopes=body.scopes, seconds=body.seconds, label=body.label)

    return reply_json({"account": name, "token": await run_in_thread(request, issue)}, 201)


@post("/api/accounts/{name:str}/links", **describe("A link that signs in once.", body=LinkBody, status=201))
async def add_link(request: AnyRequest, name: FromPath[str]) -> Reply:
    check_manager(caller_of(request))
    body, _ = await read_object(request, LinkBody)
    services = services_of(request)
    code = await run_in_thread(request, lambda: services.accounts.issue_link(name, body.seconds))
    return reply_json({"account": name, "link": f"{services.settings.address}/sign-in/{code}"}, 201)


@delete("/api/accounts/{name:str}/tokens/{id:str}", status_code=200, **describe("End a token, now and for good."))
async def end_token(request: AnyRequest, name: FromPath[str], id: FromPath[str]) -> Reply:
    accounts, caller = services_of(request).accounts, caller_of(request)

    def end() -> None:
        _check_own(accounts, caller, name)
        if id not in [token.id for token in accounts.tokens(name)]:
            raise NotThere("this account has no such token")
        accounts.revoke_token(id)

    await run_in_thread(request, end)
    return reply_json({"ended": id})


@post("/api/admin/backup", status_code=200, **describe("Write a backup of every ledger and table, while running."))
async def make_backup(request: AnyRequest) -> Reply:
    check_manager(caller_of(request))
    services = services_of(request)
    return reply_json(await run_in_thread(request, lambda: back_up(services)))


def account_json(account: Account) -> dict[str, Any]:
    """An account as plain values."""
    return {"account": account.name, "team": account.team, "role": account.role, "scopes": list(account.scopes)}


def _check_own(accounts: Accounts, caller: Account, name: str) -> None:
    """Refuse another's tokens, and one's own to a token for some of one's places: it must not end the others."""
    if caller.name != name or caller != accounts.account(name):
        check_manager(caller)


ROUTES = [list_accounts, add_account, list_tokens, add_token, add_link, end_token, make_backup]
