"""Accounts, and what stands for them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from unworn.database import open_database
from unworn.server.accounts import Accounts
from unworn.server.server_errors import Malformed, NotThere


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    return Accounts(open_database(tmp_path / "server.db"))


def test_secrets_are_kept_as_digests_only(accounts: Accounts, tmp_path: Path) -> None:
    accounts.add("ann", "blue", "participant", ["board:bench"])
    token, code = accounts.issue_token("ann"), accounts.issue_link("ann")
    session = accounts.redeem_link(code, 60)
    assert session is not None
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (token, token[4:], code, session):
        assert secret.encode() not in kept
    with sqlite3.connect(tmp_path / "server.db") as tables:
        digests = [row[0] for row in tables.execute("SELECT digest FROM tokens")]
    assert all(len(digest) == 64 for digest in digests)
    assert len(token) == 4 + 43
    assert (tmp_path / "server.db").stat().st_mode & 0o077 == 0


def test_an_account_is_what_its_token_says(accounts: Accounts) -> None:
    made = accounts.add("ann", "blue", "participant", ["board:bench"])
    assert accounts.account_of_token(accounts.issue_token("ann")) == made
    assert accounts.account("ann") == made
    assert accounts.accounts() == [made]


def test_names_roles_and_scopes_are_checked(accounts: Accounts) -> None:
    for name in ("", " ", "a" * 101, "a\nb", "\x00", "\u202e", 7):
        with pytest.raises(Malformed):
            accounts.add(name)  # type: ignore[arg-type]
    for wrong in ({"role": "root"}, {"scopes": ["boards:x"]}, {"scopes": "board:x"}, {"scopes": ["board:"]}):
        with pytest.raises(Malformed):
            accounts.add("ann", **wrong)  # type: ignore[arg-type]
    for strange in (["board:a\0b"], ["board:\u202e"], ["board:" + "a" * 200], [f"board:{n}" for n in range(1001)]):
        with pytest.raises(Malformed):
            accounts.add("ann", scopes=strange)
    accounts.add("ann")
    with pytest.raises(Malformed, match="already"):
        accounts.add("ann")
    with pytest.raises(NotThere):
        accounts.issue_token("nobody")
    with pytest.raises(Malformed):
        accounts.issue_token("ann", seconds=-1)


def test_time_ends_tokens_links_and_sessions(tmp_path: Path) -> None:
    now = [1000.0]
    accounts = Accounts(open_database(tmp_path / "server.db"), clock=lambda: now[0])
    accounts.add("ann")
    token, code = accounts.issue_token("ann", seconds=100), accounts.issue_link("ann", 50)
    session = accounts.redeem_link(accounts.issue_link("ann", 50), 100)
    assert session is not None
    assert accounts.account_of_token(token)
    assert accounts.account_of_session(session)
    now[0] += 60
    assert accounts.redeem_link(code, 100) is None
    assert accounts.account_of_token(token)
    now[0] += 60
    assert accounts.account_of_token(token) is None
    assert accounts.account_of_session(session) is None


def test_what_another_process_revokes_ends_within_seconds(tmp_path: Path) -> None:
    now = [1000.0]
    ours, theirs = (Accounts(open_database(tmp_path / "server.db"), clock=lambda: now[0]) for _ in range(2))
    ours.add("ann")
    token = ours.issue_token("ann")
    assert ours.account_of_token(token)
    theirs.revoke_token(theirs.tokens("ann")[0].id)
    now[0] += 2.1
    assert ours.account_of_token(token) is None


@pytest.mark.parametrize("name", ["Blue", "BLUE", "blue  team", "ｂｌｕｅ", "Ｂlue", "ca\u0301t"])
def test_names_that_look_like_another_team_are_refused(tmp_path: Path, name: str) -> None:
    accounts = Accounts(open_database(tmp_path / "server.db"))
    for own in ("blue", "blue team", "cát"):
        accounts.add(own)
    with pytest.raises(Malformed, match="looks like"):
        accounts.add(name)
    with pytest.raises(Malformed, match="looks like"):
        accounts.add("somebody", team=name)


def test_nobody_joins_a_team_by_being_called_so(tmp_path: Path) -> None:
    accounts = Accounts(open_database(tmp_path / "server.db"))
    accounts.add("ann", team="blue")
    with pytest.raises(Malformed, match="say team= to join"):
        accounts.add("blue")
    assert accounts.add("bob", team="blue").team == "blue"


@pytest.mark.parametrize("unseen", ["\u3164", "\ufe0f", "\u2800", "\u034f", "\u115f", "\U000e0100"])
def test_what_is_not_seen_makes_no_other_name(tmp_path: Path, unseen: str) -> None:
    accounts = Accounts(open_database(tmp_path / "server.db"))
    accounts.add("blue")
    for name in (f"blue{unseen}", f"bl{unseen}ue", f"{unseen} blue", unseen):
        with pytest.raises(Malformed, match=r"looks like|can be seen"):
            accounts.add(name)


def test_a_session_ends_with_the_token_that_began_it(tmp_path: Path) -> None:
    """Else whoever found a token for an hour would be in for a fortnight."""
    now = [1000.0]
    accounts = Accounts(open_database(tmp_path / "server.db"), clock=lambda: now[0])
    accounts.add("ann")
    short, long = accounts.issue_token("ann", seconds=100), accounts.issue_token("ann")
    brief, lasting = accounts.begin_session(short, 1e6), accounts.begin_session(long, 1e6)
    other = accounts.redeem_link(accounts.issue_link("ann"), 1e6)
    assert brief is not None
    assert lasting is not None
    assert other is not None
    assert all(accounts.account_of_session(each) for each in (brief, lasting, other))
    now[0] += 101
    assert accounts.account_of_session(brief) is None
    assert accounts.begin_session(short, 1e6) is None
    accounts.revoke_token(next(token.id for token in accounts.tokens("ann") if token.expires is None))
    assert accounts.account_of_session(lasting) is None
    assert accounts.account_of_session(other)


def test_sessions_and_links_do_not_pile_up(accounts: Accounts, tmp_path: Path) -> None:
    accounts.add("ann")
    accounts.add("bob")
    token, kept = accounts.issue_token("ann"), accounts.redeem_link(accounts.issue_link("bob"), 60)
    sessions = [accounts.begin_session(token, 60) for _ in range(60)]
    codes = [accounts.issue_link("ann") for _ in range(60)]
    with sqlite3.connect(tmp_path / "server.db") as tables:
        counts = dict(tables.execute("SELECT kind, count(*) FROM tokens WHERE account = 'ann' GROUP BY kind"))
    assert counts == {"token": 1, "session": 50, "link": 50}
    assert sessions[-1] is not None
    assert kept is not None
    assert accounts.account_of_session(sessions[-1])
    assert accounts.account_of_session(kept)
    assert accounts.peek_link(codes[-1])
    assert accounts.peek_link(codes[0]) is None


def test_whoever_tries_codes_writes_nothing_and_makes_nobody_unknown(accounts: Accounts) -> None:
    accounts.add("ann")
    token = accounts.issue_token("ann")
    assert accounts.account_of_token(token)
    assert accounts.redeem_link("A" * 43, 60) is None
    assert accounts.begin_session("unw_" + "A" * 43, 60) is None
    assert accounts.remembers("token", token)
