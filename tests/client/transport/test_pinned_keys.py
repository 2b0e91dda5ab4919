"""The key that was seen first is the key: another one is refused until its user says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from unworn.client.transport.pinned_keys import PinnedKey, UnnotedKey, forget_keys
from unworn.client.transport.server_address import parse_address
from unworn.errors import Mismatch


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path / "home"))


def test_first_contact_is_trusted_and_a_change_refused() -> None:
    address = parse_address("http://localhost:1/holdouts/churn")
    PinnedKey(address).check("aa" * 32)
    pin = PinnedKey(address)  # another process, as it were
    pin.check("aa" * 32)
    with pytest.raises(Mismatch, match="another key than at first contact") as refusal:
        pin.check("bb" * 32)
    assert refusal.value.numbers["pinned"] == "aa" * 32
    assert "--forget-keys" in str(refusal.value)
    PinnedKey(parse_address("http://localhost:1/holdouts/other")).check("bb" * 32)
    PinnedKey(parse_address("http://localhost:2/holdouts/churn")).check("bb" * 32)


def test_a_key_that_cannot_be_noted_is_warned_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path / "file" / "home"))
    pin = PinnedKey(parse_address("http://localhost:1/holdouts/churn"))
    with pytest.warns(UnnotedKey, match="cannot be noted"):
        pin.check("aa" * 32)
    pin.check("aa" * 32)
    with pytest.raises(Mismatch):
        pin.check("bb" * 32)


def test_keys_are_forgotten_by_server() -> None:
    for port in (1, 11):
        PinnedKey(parse_address(f"http://localhost:{port}/holdouts/churn")).check("aa" * 32)
    assert forget_keys("http://localhost:1") == 1
    assert forget_keys("http://localhost:1") == 0
    PinnedKey(parse_address("http://localhost:1/holdouts/churn")).check("bb" * 32)
    with pytest.raises(Mismatch):
        PinnedKey(parse_address("http://localhost:11/holdouts/churn")).check("bb" * 32)
