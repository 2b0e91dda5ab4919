"""Tokens are found, kept for their owner alone, and shown nowhere."""

from __future__ import annotations

import copy
import pickle
import stat
from pathlib import Path

import pytest

from unworn.client.transport.credentials import BadToken, Secret, check_token, find_token, forget_token, store_token
from unworn.errors import LedgerError

TOKEN = "unw_0123456789abcdef"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("UNWORN_TOKEN", raising=False)
    return tmp_path / "home"


def test_the_argument_counts_before_the_environment_and_that_before_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_token("http://a") is None
    store_token("http://a", Secret("unw_stored_token"))
    stored = find_token("http://a")
    assert stored is not None
    assert stored.reveal() == "unw_stored_token"
    assert find_token("http://b") is None  # a token is for its server only
    monkeypatch.setenv("UNWORN_TOKEN", f" {TOKEN}\n")
    named = find_token("http://a")
    assert named is not None
    assert named.reveal() == TOKEN
    given = find_token("http://a", "unw_given_token")
    assert given is not None
    assert given.reveal() == "unw_given_token"


def test_the_file_is_private_and_refused_where_it_is_not(home: Path) -> None:
    where = Path(store_token("http://a", Secret(TOKEN)))
    assert stat.S_IMODE(where.stat().st_mode) == 0o600
    store_token("http://b", Secret("unw_another_one"))
    assert find_token("http://a") is not None
    assert find_token("http://b") is not None
    where.chmod(0o644)
    with pytest.raises(LedgerError, match="chmod 600"):
        find_token("http://a")


def test_a_spoiled_file_is_told_without_its_content(home: Path) -> None:
    where = Path(store_token("http://a", Secret(TOKEN)))
    where.write_text(f'{{"http://a": "{TOKEN}"')
    with pytest.raises(LedgerError) as refusal:
        find_token("http://a")
    assert TOKEN not in str(refusal.value)


def test_a_token_can_be_forgotten() -> None:
    store_token("http://a", Secret(TOKEN))
    assert forget_token("http://a") is True
    assert forget_token("http://a") is False
    assert find_token("http://a") is None


@pytest.mark.parametrize("text", ["", "short", "two words of it", "unw_" + "x" * 600, "unw_tokën_with_umlaut"])
def test_what_cannot_be_a_token_is_refused_unrepeated(text: str) -> None:
    with pytest.raises(BadToken) as refusal:
        check_token(text)
    assert not text or text not in str(refusal.value)


def test_a_secret_is_not_shown_and_not_pickled() -> None:
    secret = check_token(TOKEN)
    assert TOKEN not in f"{secret} {secret!r} {[secret]}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        copy.deepcopy(secret)
