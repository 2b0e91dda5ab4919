"""Texts of the asker's as Python's own ``str``: what is checked is what is kept.

A subclass may answer for itself how long it is, what it equals and which bytes it has, another time otherwise. And what
has no bytes, as half a surrogate pair, can be neither hashed nor entered.
"""

from __future__ import annotations


def plain_text(value: object, most: int) -> str | None:
    r"""The text as a plain one; None for what is not text, is longer than ``most``, or has characters without bytes.

    >>> class Name(str):
    ...     def __len__(self): return 3
    >>> plain_text(Name("abcdef"), 5), type(plain_text(Name("abc"), 5))
    (None, <class 'str'>)
    >>> plain_text("\ud800", 5), plain_text(3, 5)
    (None, None)
    """
    if type(value) is not str and not issubclass(type(value), str):  # and not by what it calls its class
        return None
    plain = str.__str__(value)
    if len(plain) > most:
        return None
    return plain if plain.isascii() or has_bytes(plain) else None


def has_bytes(text: str) -> bool:
    """Whether every character of a text can be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
