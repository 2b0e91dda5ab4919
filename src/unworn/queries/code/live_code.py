"""Code of the asker's that a question holds on to: what it was when the question was made, and whether it still is.

A question refers to a live object, and an estimator is often one object that is fitted again and again. What runs must
be what the question is known by, so it is looked at again before it runs. (A private copy would stay what it was, but
doubles the memory of a large model, and its class could still be edited.)
"""

from __future__ import annotations

import functools
import types
from contextlib import suppress
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.language.literals import text

_LONGEST_LABEL = 200
"""Characters of what an object calls itself: more are cut off, because nobody chose them for a ledger."""


class Code:
    """A live object that will run on rows, with what it was when a question was made of it.

    Known by ``name`` where it has one: then it need not have a digest, and where it has, that one is only compared.
    ``label`` is the name, or what the object is called: read once, because what it is called after it has seen rows may
    be a fact about rows.
    """

    def __init__(
        self, thing: Any, what: str, name: str | None = None, *, method: str | None = None, watch: bool = True
    ) -> None:
        self.name = None if name is None else text(name, f"the name of a {what}")
        self.thing, self.what, self.method, self.watch = thing, what, method, watch
        self.label = self.name or _label_of(thing, method)
        self.digest: str | None = None
        if name is None:
            self.digest = self._digest()
        elif watch:
            with suppress(Unaskable):  # that nothing else goes by this name is then on the asker's word alone
                self.digest = self._digest()

    def __reduce__(self) -> tuple[Any, ...]:
        return _code_again, (self.thing, self.what, self.name, self.method, self.watch)  # the code of its new process

    def _digest(self) -> str:
        from unworn.queries.code.code_digest import digest_code  # loaded by those who bring code

        runs = None if self.method is None else getattr(self.thing, self.method, None)
        # The method too: it may have been put on the object, and left out of the object's own pickle.
        seen = runs if isinstance(runs, (types.MethodType, types.FunctionType, functools.partial)) else None
        return digest_code((self.thing, seen), self.what, type(self.thing).__name__)

    def check_unchanged(self) -> None:
        """Refuse what is no longer what the question was made of: fitted again, edited, or loaded anew."""
        if self.digest is None or self._digest() == self.digest:
            return
        remedy = (
            "Make the question again."
            if self.name is None
            else "If it is the same to you, NamedPredictions(model, name, watch=False) says so: the recorded answer "
            "comes back, and can be used."
            if self.what == "model"
            else "Make the question again, under another name."
        )
        raise Unaskable(
            f"this {self.what} ({type(self.thing).__name__}) changed since the question was made: it was fitted again, "
            f"its code or its files were edited, or running it changes it.\n  Nothing was asked or charged. {remedy}"
        )


def _label_of(thing: Any, method: str | None) -> str:
    """What a function is called, and else its class, in characters that can be written."""
    own: Any = None
    if method in (None, "__call__"):
        with suppress(Exception):  # whatever stands in for a name, and whatever it raises
            own = thing.__name__
    for name in (own, type(thing).__name__):
        if issubclass(type(name), str) and str.__len__(name):
            plain = str.__str__(name)
            cut = plain if len(plain) <= _LONGEST_LABEL else plain[: _LONGEST_LABEL - 1] + "…"
            return cut.encode(errors="backslashreplace").decode()
    return "code"


def _code_again(thing: Any, what: str, name: str | None, method: str | None, watch: bool) -> Code:
    return Code(thing, what, name, method=method, watch=watch)
