"""URLs of PostgreSQL databases: what is kept of them, and what is not."""

from __future__ import annotations

import pytest

from unworn.database import DatabaseError
from unworn.database.postgres_url import PostgresUrl, is_postgres


@pytest.mark.parametrize(
    ("text", "url", "schema", "password"),
    [
        ("postgresql+psycopg://h/d", "postgresql+psycopg://h/d", "", None),
        ("postgresql+psycopg://a:b%40c@h:5/d", "postgresql+psycopg://a@h:5/d", "", "b@c"),
        (
            "postgresql+psycopg://x@h/d?password=hu%20sh&sslmode=require",
            "postgresql+psycopg://x@h/d?sslmode=require",
            "",
            "hu sh",
        ),
        (
            "postgresql+psycopg:///d?host=/run/pg&schema=s",
            "postgresql+psycopg:///d?host=%2Frun%2Fpg&schema=s",
            "s",
            None,
        ),
        ("POSTGRESQL+psycopg://[::1]:5/d", "postgresql+psycopg://[::1]:5/d", "", None),
    ],
)
def test_what_is_kept(text: str, url: str, schema: str, password: str | None) -> None:
    place = PostgresUrl.parse(text)
    assert (place.url, place.schema, place.password) == (url, schema, password)
    assert PostgresUrl.parse(place.url) == place
    assert "password" not in place.address
    assert str(password) not in repr(place)


def test_a_prefix_goes_into_the_schema() -> None:
    assert PostgresUrl.parse("postgresql+psycopg://h/d", "board_1").schema == "board_1"
    assert PostgresUrl.parse("postgresql+psycopg://h/d?schema=lab", "one").schema == "lab_one"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://h/d",
        "postgresql+psycopg://a:hush@h:port/d",
        "postgresql+psycopg://a:hush@h/d?schema=S;drop",
        "postgresql+psycopg://a:hush@h/d?schema=" + "x" * 64,
        "postgresql+psycopg://a:hush@h/d?=&",
        "postgresql+psycopg://a:hush\0@h/d",
    ],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        PostgresUrl.parse(text)
    assert "hush" not in str(caught.value)
    assert is_postgres(text) == ("+psycopg" in text)
