"""Asking a holdout that lives in another process of the same machine.

The parent listens on loopback, on a port of its own, and admits only peers that prove to know a secret which travels in
the ticket. A worker sends what it wants scored (its fitted model, pickled, because the rows stay with the parent) and
gets back the signed entries of the answer. The connection never carries rows.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import secrets
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from typing import TYPE_CHECKING, Any, SupportsFloat

from unworn import errors
from unworn.errors import Failed, LedgerError, Unaskable, UnwornError
from unworn.holdout.asking.guesses import fold_guess
from unworn.holdout.practice import Practice
from unworn.ledger import Entry
from unworn.queries import parse_composite
from unworn.queries.composite import Question
from unworn.queries.query import Query, canonical
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.derived_answer import DerivedAnswer
from unworn.record.practice_estimate import PracticeEstimate

if TYPE_CHECKING:
    from unworn.holdout.holdout import Holdout

Address = tuple[str, int, bytes]
_LOOKS: dict[str, Callable[..., PracticeEstimate]] = {
    "ask": Practice.ask,
    "score": Practice.score,
    "compare": Practice.compare,
}


class Server:
    """The parent's side: a thread that waits for workers, and one for each of them. All end with the holdout.

    Who knocks is tested in a thread of their own: a stranger who says nothing, or nonsense, keeps nobody waiting.
    """

    def __init__(self, holdout: Holdout) -> None:
        self._holdout = weakref.ref(holdout)
        self._secret = secrets.token_bytes(32)
        self._listener = Listener(("127.0.0.1", 0), backlog=64)
        host, port = self._listener.address
        self.address: Address = (str(host), int(port), self._secret)
        self._open = True
        threading.Thread(target=self._admit, name="unworn-workers", daemon=True).start()
        self._finalizer = weakref.finalize(holdout, self.close)

    def close(self) -> None:
        if self._open:
            self._open = False
            with contextlib.suppress(OSError):  # closing alone does not wake a thread that waits for a connection
                socket.create_connection(self.address[:2], timeout=1).close()
            self._listener.close()

    def _admit(self) -> None:
        while self._open:
            try:
                connection = self._listener.accept()
            except OSError:
                time.sleep(0.05)  # out of files, perhaps: the next one may be lucky
                continue
            threading.Thread(target=self._serve, args=(connection,), name="unworn-worker", daemon=True).start()

    def _serve(self, connection: Connection[Any, Any]) -> None:
        with connection, contextlib.suppress(AuthenticationError, EOFError, OSError):
            deliver_challenge(connection, self._secret)
            answer_challenge(connection, self._secret)
            while self._open:
                request, payload = json.loads(connection.recv_bytes()), connection.recv_bytes()
                connection.send_bytes(canonical(self._reply(request, payload)).encode())

    def _reply(self, request: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """What a worker gets: entries, or the error it raises again. Whatever goes wrong, it gets something."""
        holdout = self._holdout()
        if holdout is None:
            return _as_reply(LedgerError("the holdout was closed in the parent process"))
        try:
            if request["verb"] == "meter":
                return {"meter": holdout.meter.to_json()}
            try:
                asked, options = pickle.loads(payload)
            except Exception as error:
                raise Unaskable(
                    f"the process with the rows cannot read what the worker sent ({type(error).__name__}: {error}).\n"
                    "  Define the model in a module that both can import."
                ) from None
            if request["verb"] == "practice":
                return {"practice": list(astuple(_LOOKS[request["look"]](holdout.practice, *asked, **options)))}
            verb = holdout.score if request["verb"] == "score" else holdout.ask
            answer = verb(asked, request["guess"], guess_se=request["guess_se"], **options)
        except UnwornError as error:
            return _as_reply(error)
        except KeyboardInterrupt:
            return _as_reply(
                Failed(Failed.MESSAGE)
            )  # raised by the worker's code on the rows: charged like any failure
        except Exception as error:
            return _as_reply(UnwornError(f"{type(error).__name__}: {error}"))
        if isinstance(answer, DerivedAnswer):
            proofs = [part.certificate for part in answer.parts]
            entries = [proof.entry.to_json() for proof in proofs]
            return {"terms": proofs[0].first.to_json(), "entries": entries, "derived": answer.query.to_json()}
        return {"terms": answer.certificate.first.to_json(), "entry": answer.certificate.entry.to_json()}


def _as_reply(error: UnwornError) -> dict[str, Any]:
    numbers = {k: v for k, v in error.numbers.items() if isinstance(v, int | float | str | None)}
    return {"error": type(error).__name__, "message": error.message, "numbers": numbers}


class RemoteHoldout:
    """A worker's side: the verbs a search needs, answered by the parent."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._connection: Connection[Any, Any] | None = None

    def score(
        self,
        predictions: Any,
        guess: SupportsFloat | Sequence[float | None] | None = None,
        *,
        metric: str | None = None,
        guess_se: float | Sequence[float | None] | None = None,
        **options: Any,
    ) -> Answer | DerivedAnswer:
        """As :meth:`Holdout.score`."""
        return self._answer("score", (predictions, {"metric": metric, **options}), guess, guess_se)

    def ask(
        self,
        question: Question | str,
        guess: SupportsFloat | Sequence[float | None] | None = None,
        *,
        guess_se: float | Sequence[float | None] | None = None,
        **options: Any,
    ) -> Answer | DerivedAnswer:
        """As :meth:`Holdout.ask`."""
        return self._answer("ask", (question, options), guess, guess_se)

    @property
    def practice(self) -> RemotePractice:
        """As :attr:`Holdout.practice`."""
        return RemotePractice(self)

    @property
    def meter(self) -> dict[str, Any]:
        """As :attr:`Holdout.meter`, as plain numbers."""
        return dict(self._call({"verb": "meter"}, b"")["meter"])

    def fold_guess(
        self, estimator: Any, X: Any, y: Any, metric: str, options: Mapping[str, Any]
    ) -> tuple[Any, Any] | None:
        """As :meth:`Holdout.fold_guess`: the fold is here, so it is measured here."""
        return fold_guess(estimator, X, y, metric, options)

    def __copy__(self) -> RemoteHoldout:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> RemoteHoldout:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteHoldout, (self._address,)

    def __repr__(self) -> str:
        return "RemoteHoldout()"  # the address holds the secret

    def _answer(self, verb: str, asked: Any, guess: Any, guess_se: Any) -> Answer | DerivedAnswer:
        expected = guess if guess is None or isinstance(guess, Sequence) else float(guess)
        request = {"verb": verb, "guess": expected, "guess_se": guess_se}
        reply = self._call(request, pickle.dumps(asked, protocol=5))
        first = Entry.from_json(reply["terms"])
        if "derived" in reply:
            parts = [Answer.of(Certificate.of(first, Entry.from_json(entry))) for entry in reply["entries"]]
            return DerivedAnswer.of(parse_composite(reply["derived"]), parts)
        return Answer.of(Certificate.of(first, Entry.from_json(reply["entry"])))

    def look(self, verb: str, asked: tuple[Any, ...], options: dict[str, Any]) -> PracticeEstimate:
        """What the practice rows say, which are the parent's."""
        reply = self._call({"verb": "practice", "look": verb}, pickle.dumps((asked, options), protocol=5))
        return PracticeEstimate(*reply["practice"])

    def _call(self, request: dict[str, Any], payload: bytes) -> dict[str, Any]:
        if self._pid != os.getpid():  # forked: the connection is the parent's, and so is whoever holds the lock
            self._lock, self._pid, self._connection = threading.Lock(), os.getpid(), None
        with self._lock:
            connection, self._connection = self._connection, None
            try:
                if connection is None:
                    host, port, secret = self._address
                    connection = Client((host, port), authkey=secret)
                connection.send_bytes(canonical(request).encode())
                connection.send_bytes(payload)
                reply: dict[str, Any] = json.loads(connection.recv_bytes())
            except (OSError, EOFError, AuthenticationError) as error:
                raise LedgerError(
                    f"the process that holds the rows does not answer ({type(error).__name__}).\n"
                    "  It has ended or closed the holdout: keep it open while workers score."
                ) from None
            self._connection = connection  # only now: one interrupted before its reply would answer the next question
        if "error" in reply:
            kind = getattr(errors, str(reply["error"]), UnwornError)
            raise (kind if issubclass(kind, UnwornError) else UnwornError)(reply["message"], **reply["numbers"])
        return reply


class RemotePractice:
    """A worker's side of the practice rows: the same verbs as :class:`~unworn.holdout.practice.Practice`."""

    def __init__(self, holdout: RemoteHoldout) -> None:
        self._holdout = holdout

    def ask(self, question: Query | str) -> PracticeEstimate:
        """As :meth:`Practice.ask`."""
        return self._holdout.look("ask", (question,), {})

    def score(self, predictions: Any, **options: Any) -> PracticeEstimate:
        """As :meth:`Practice.score`."""
        return self._holdout.look("score", (predictions,), options)

    def compare(self, first: Any, second: Any, **options: Any) -> PracticeEstimate:
        """As :meth:`Practice.compare`."""
        return self._holdout.look("compare", (first, second), options)
