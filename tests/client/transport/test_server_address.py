"""A URL names a server, a board or a holdout; secrets in it are refused and never repeated."""

from __future__ import annotations

import pytest

from unworn.client.transport.server_address import BadAddress, ServerAddress, is_name, is_url, parse_address


@pytest.mark.parametrize(
    ("url", "origin", "kind", "name"),
    [
        ("http://127.0.0.1:8765", "http://127.0.0.1:8765", "server", None),
        ("HTTP://LocalHost:8765/", "http://localhost:8765", "server", None),
        ("https://example.org/boards/bench", "https://example.org", "board", "bench"),
        ("https://example.org/boards/bench/submit", "https://example.org", "board", "bench"),
        ("https://example.org/api/holdouts/churn/asks", "https://example.org", "holdout", "churn"),
        ("https://example.org/stats/boards/b-1.x_", "https://example.org/stats", "board", "b-1.x_"),
        ("https://example.org/stats/", "https://example.org/stats", "server", None),
        ("https://example.org/boards", "https://example.org", "server", None),
        ("http://[::1]:80/holdouts/h", "http://[::1]:80", "holdout", "h"),
    ],
)
def test_what_a_url_names(url: str, origin: str, kind: str, name: str | None) -> None:
    address = parse_address(url)
    assert (address.origin, address.kind, address.name) == (origin, kind, name)
    assert parse_address(address.url) == address


def test_another_scheme_is_no_folder() -> None:
    assert [is_url(text) for text in ("ftp://host/x", "HTTP://host", "bench/", "./a:b", 3)] == [True, True] + 3 * [
        False
    ]


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org",
        "example.org/boards/x",
        "http://",
        "http://example.org:99999/",
        "http://user:hunter2@example.org/",
        "http://hunter2@example.org/boards/bench",
        "http://example.org/boards/bench?token=hunter2",
        "http://example.org/boards/bench#hunter2",
        "http://example.org/boards/..",
        "http://example.org/boards/%2e%2e/x",
        "http://example.org/boards/a%2fb",
        "http://example.org/boards/.hidden",
        "http://exa mple.org/",
    ],
)
def test_what_names_nothing_is_refused_without_repeating_secrets(url: str) -> None:
    with pytest.raises(BadAddress) as refusal:
        parse_address(url)
    assert "hunter2" not in str(refusal.value)


def test_loopback_and_plain_connections() -> None:
    assert all(parse_address(url).is_loopback for url in ("http://localhost", "http://127.8.0.1:1", "http://[::1]"))
    assert not parse_address("http://example.org").is_loopback
    assert parse_address("http://example.org").is_plain
    assert not parse_address("https://example.org").is_plain
    assert not parse_address("http://127.0.0.1").is_plain


def test_names_and_urls() -> None:
    assert is_url("https://x")
    assert not is_url("bench/")
    assert not is_url(3)
    assert is_name("bench-2.x")
    assert not is_name("")
    assert not is_name("a/b")
    assert not is_name("a" * 101)
    with pytest.raises(BadAddress):
        ServerAddress("http://localhost").of("board", "../x")
