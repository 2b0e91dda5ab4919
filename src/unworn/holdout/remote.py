"""Asking a holdout that lives in another process of the same machine.

The parent listens on loopback, on a port of its own, and admits only peers that prove to know a secret which travels in
the ticket. A worker sends what it wants scored (its fitted model, pickled, because the rows stay with the parent) and
gets back the signed entries of the answer. The connection never carries rows.
"""

from __future__ import annotations

import json
import pickle
import secrets
import threading
import weakref
from collections.abc import Mapping
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import TYPE_CHECKING, Any, SupportsFloat

from unworn import errors
from unworn.answer import Answer
from unworn.certificate import Certificate
from unworn.errors import UnwornError
from unworn.holdout.guessing import fold_guess
from unworn.ledger import Entry
from unworn.queries.query import Query, canonical

if TYPE_CHECKING:
    from unworn.holdout.holdout import Holdout

Address = tuple[str, int, bytes]


class Server:
    """The parent's side: a thread that admits workers, and one for each of them. All end with the holdout."""

    def __init__(self, holdout: Holdout) -> None:
        self._holdout = weakref.ref(holdout)
        secret = secrets.token_bytes(32)
        self._listener = Listener(("127.0.0.1", 0), authkey=secret)
        host, port = self._listener.address
        self.address: Address = (str(host), int(port), secret)
        self._open = True
        threading.Thread(target=self._admit, name="unworn-workers", daemon=True).start()
        self._finalizer = weakref.finalize(holdout, self.close)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._listener.close()

    def _admit(self) -> None:
        while self._open:
            try:
                connection = self._listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):
                continue  # somebody else knocked
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(connection,), name="unworn-worker", daemon=True).start()

    def _serve(self, connection: Connection[Any, Any]) -> None:
        with connection:
            while True:
                try:
                    request = json.loads(connection.recv_bytes())
                    payload = connection.recv_bytes()
                    connection.send_bytes(canonical(self._reply(request, payload)).encode())
                except (EOFError, OSError, ValueError):
                    return

    def _reply(self, request: dict[str, Any], payload: bytes) -> dict[str, Any]:
        holdout = self._holdout()
        if holdout is None:
            return {
                "error": "LedgerError",
                "message": "the holdout was closed in the parent process",
                "numbers": {},
            }
        try:
            if request["verb"] == "meter":
                return {"meter": holdout.meter.to_json()}
            asked, options = pickle.loads(payload)
            verb = holdout.score if request["verb"] == "score" else holdout.ask
            certificate = verb(asked, request["guess"], guess_se=request["guess_se"], **options).certificate
        except UnwornError as error:
            numbers = {k: v for k, v in error.numbers.items() if isinstance(v, int | float | str | None)}
            return {"error": type(error).__name__, "message": error.message, "numbers": numbers}
        return {"terms": certificate.first.to_json(), "entry": certificate.entry.to_json()}


class RemoteHoldout:
    """A worker's side: the verbs a search needs, answered by the parent."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._connection: Connection[Any, Any] | None = None

    def score(
        self,
        predictions: Any,
        guess: SupportsFloat | None = None,
        *,
        metric: str = "accuracy",
        guess_se: float | None = None,
        **options: Any,
    ) -> Answer:
        """As :meth:`Holdout.score`."""
        return self._answer("score", (predictions, {"metric": metric, **options}), guess, guess_se)

    def ask(
        self,
        question: Query | str,
        guess: SupportsFloat | None = None,
        *,
        guess_se: float | None = None,
        **options: Any,
    ) -> Answer:
        """As :meth:`Holdout.ask`."""
        return self._answer("ask", (question, options), guess, guess_se)

    @property
    def meter(self) -> dict[str, Any]:
        """As :attr:`Holdout.meter`, as plain numbers."""
        return dict(self._call({"verb": "meter"}, b"")["meter"])

    def fold_guess(
        self, estimator: Any, X: Any, y: Any, metric: str, options: Mapping[str, Any]
    ) -> tuple[float, float | None] | None:
        """As :meth:`Holdout.fold_guess`: the fold is here, so it is measured here."""
        return fold_guess(estimator, X, y, metric, options)

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteHoldout, (self._address,)

    def __repr__(self) -> str:
        return "RemoteHoldout()"  # the address holds the secret

    def _answer(self, verb: str, asked: Any, guess: SupportsFloat | None, guess_se: float | None) -> Answer:
        request = {"verb": verb, "guess": None if guess is None else float(guess), "guess_se": guess_se}
        reply = self._call(request, pickle.dumps(asked, protocol=5))
        return Answer.of(Certificate.of(Entry.from_json(reply["terms"]), Entry.from_json(reply["entry"])))

    def _call(self, request: dict[str, Any], payload: bytes) -> dict[str, Any]:
        with self._lock:
            if self._connection is None:
                host, port, secret = self._address
                self._connection = Client((host, port), authkey=secret)
            self._connection.send_bytes(canonical(request).encode())
            self._connection.send_bytes(payload)
            reply: dict[str, Any] = json.loads(self._connection.recv_bytes())
        if "error" in reply:
            kind = getattr(errors, str(reply["error"]), UnwornError)
            raise (kind if issubclass(kind, UnwornError) else UnwornError)(reply["message"], **reply["numbers"])
        return reply
