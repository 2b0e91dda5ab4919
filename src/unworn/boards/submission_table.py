"""Where submissions are kept: a row for each, their predictions, and which request made them.

A submission is written down before any row is asked, as *pending*, and finished once its answer is durable in the
ledger. What a crash leaves pending is finished when the board is opened again or when the same file comes again: its
question is the same, so the ledger knows whether it was answered, and a repeat is free.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import threading
import time
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from unworn.basics.json_text import canonical
from unworn.boards.board_errors import RequestReused, UnknownSubmission
from unworn.boards.files.predictions_check import Predictions
from unworn.boards.submission import Submission
from unworn.database import Database, RunSQL, open_database
from unworn.database.postgres_url import is_postgres

STEPS = (
    """CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE predictions (digest TEXT PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE submissions (
        id TEXT PRIMARY KEY, number BIGINT NOT NULL UNIQUE, team TEXT NOT NULL, digest TEXT NOT NULL,
        at DOUBLE PRECISION NOT NULL, name TEXT, message TEXT, finished BIGINT UNIQUE, told TEXT
    );
    CREATE INDEX submissions_of_team ON submissions (team);
    CREATE TABLE requests (
        team TEXT NOT NULL, request TEXT NOT NULL, digest TEXT NOT NULL, submission TEXT NOT NULL,
        PRIMARY KEY (team, request)
    );
    CREATE TABLE turns (name TEXT PRIMARY KEY, taken BIGINT NOT NULL)""",
)
_DRAFT = "SELECT id, number, team, digest, at, name, message FROM submissions"


def open_tables(where: str | os.PathLike[str], board: str) -> SubmissionTable:
    """A board's tables: a file, or a schema of their own in a PostgreSQL database that many boards share."""
    prefix = ""
    if isinstance(where, str) and is_postgres(where):
        bare = re.sub("[^a-z0-9]", "_", board.lower())[:32]
        prefix = f"board_{bare}_{hashlib.sha256(board.encode()).hexdigest()[:8]}"
    return SubmissionTable(open_database(where, prefix))


@dataclass(frozen=True)
class DraftSubmission:
    """A submission that is written down and not yet answered."""

    id: str
    number: int
    team: str
    digest: str
    at: float
    name: str | None
    message: str | None


class SubmissionTable:
    """The submissions of one board in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        database.migrate("boards", STEPS)
        self._lock = threading.Lock()
        self._finished: list[Submission] = []
        self._places: dict[str, Submission] = {}
        self._last = 0

    # ---- facts

    def fact(self, name: str) -> Any:
        """What was noted of the board, or None."""
        found = self.database.select("SELECT value FROM facts WHERE name = :name", name=name)
        return json.loads(found[0][0]) if found else None

    def note(self, name: str, value: Any, *, in_turn: bool = False) -> Any:
        """Note something for good, once: what was noted first is returned. In turn, after whoever asks just now."""

        def work(run: RunSQL) -> Any:
            if in_turn:
                self.take_turn(run)
            run("INSERT INTO facts VALUES (:name, :value) ON CONFLICT (name) DO NOTHING", name=name, value=told)
            return json.loads(run("SELECT value FROM facts WHERE name = :name", name=name)[0][0])

        told = canonical(value)
        return self.database.transact(work)

    # ---- from draft to finished

    def begin(
        self, id: str, team: str, predictions: Predictions, name: str | None, message: str | None, request: str | None
    ) -> DraftSubmission | Submission:
        """Write a submission down; the finished one, where it was made before."""
        data, digest, now = pack_predictions(predictions), predictions.digest, round(time.time(), 3)

        def work(run: RunSQL) -> str:
            if request is not None:
                known = run(
                    "SELECT digest, submission FROM requests WHERE team = :team AND request = :request",
                    team=team,
                    request=request,
                )
                if known and known[0][0] != digest:
                    raise _reused()
                if not known:
                    run(
                        "INSERT INTO requests VALUES (:team, :request, :digest, :id)",
                        team=team,
                        request=request,
                        digest=digest,
                        id=id,
                    )
            if not run("SELECT 1 FROM submissions WHERE id = :id", id=id):
                run(
                    "INSERT INTO predictions VALUES (:digest, :data) ON CONFLICT (digest) DO NOTHING",
                    digest=digest,
                    data=data,
                )
                number = run("SELECT COALESCE(MAX(number), 0) + 1 FROM submissions")[0][0]
                run(
                    "INSERT INTO submissions (id, number, team, digest, at, name, message) "
                    "VALUES (:id, :number, :team, :digest, :at, :name, :message)",
                    id=id,
                    number=number,
                    team=team,
                    digest=digest,
                    at=now,
                    name=name,
                    message=message,
                )
            return id

        known = self._known(id, team, digest, request)
        if known is not None:
            return known
        self.database.transact(work)
        return self.find(id) or self._draft(id)

    def _known(self, id: str, team: str, digest: str, request: str | None) -> Submission | None:
        """A finished submission that needs nothing written down."""
        if request is not None:
            found = self.database.select(
                "SELECT digest FROM requests WHERE team = :team AND request = :request", team=team, request=request
            )
            if found and found[0][0] != digest:
                raise _reused()
            if not found:
                return None
        return self.find(id)

    def _draft(self, id: str) -> DraftSubmission:
        return DraftSubmission(*self.database.select(f"{_DRAFT} WHERE id = :id", id=id)[0])

    def drafts(self, run: RunSQL | None = None) -> list[DraftSubmission]:
        """What a crash left unfinished or somebody is about to finish, in order."""
        select = run or self.database.select
        found = select(f"{_DRAFT} WHERE finished IS NULL ORDER BY number")
        return [DraftSubmission(*row) for row in found]

    def drop(self, id: str) -> None:
        """Forget a draft whose question was refused: nothing was asked."""
        self.database.transact(
            lambda run: run("DELETE FROM submissions WHERE id = :id AND finished IS NULL", id=id) and None
        )

    @staticmethod
    def take_turn(run: RunSQL) -> None:
        """Whoever holds this row asks the ledger: in PostgreSQL too, others wait here until it is let go."""
        run("INSERT INTO turns VALUES ('ask', 1) ON CONFLICT (name) DO UPDATE SET taken = turns.taken + 1")

    @staticmethod
    def is_closed(run: RunSQL) -> bool:
        """Whether the rows are retired, as whoever holds the turn sees it."""
        return bool(run("SELECT 1 FROM facts WHERE name = 'closed'"))

    @staticmethod
    def finish(run: RunSQL, submission: Submission) -> None:
        """Enter what was told."""
        place = run("SELECT COALESCE(MAX(finished), 0) + 1 FROM submissions")[0][0]
        run(
            "UPDATE submissions SET told = :told, finished = :place WHERE id = :id AND finished IS NULL",
            told=canonical(submission.to_json()),
            place=place,
            id=submission.id,
        )

    # ---- looking up

    def finished(self, run: RunSQL | None = None) -> list[Submission]:
        """All that are finished, in the order of their numbers; each is read once."""
        select = run or self.database.select
        with self._lock:
            found = select(
                "SELECT finished, told FROM submissions WHERE finished > :last ORDER BY finished", last=self._last
            )
            for place, told in found:
                one = Submission.from_json(json.loads(told))
                self._finished.append(one)
                self._places[one.id] = one
                self._last = place
            if found:
                self._finished.sort(key=lambda each: each.number)
            return list(self._finished)

    def find(self, id: str) -> Submission | None:
        """A finished submission by its id."""
        if id not in self._places:
            self.finished()
        return self._places.get(id)

    def predictions(self, digest: str, run: RunSQL | None = None) -> Predictions:
        """What was sent."""
        select = run or self.database.select
        found = select("SELECT data FROM predictions WHERE digest = :digest", digest=digest)
        if not found:
            raise UnknownSubmission(f"the board has no predictions {digest[:12]}…")
        return unpack_predictions(bytes(found[0][0]))

    def close(self) -> None:
        self.database.close()


def _reused() -> RequestReused:
    return RequestReused(
        "this request key came before, with another file.\n  Send a new file under a new key; nothing was charged."
    )


def pack_predictions(predictions: Predictions) -> bytes:
    """Predictions as they are kept: no pickle, and read back the same."""
    buffer, values = io.BytesIO(), predictions.values
    if values.dtype == object:
        buffer.write(b"T" + json.dumps(values.tolist(), ensure_ascii=False).encode())
    else:
        buffer.write(b"N")
        np.save(buffer, values, allow_pickle=False)
    return zlib.compress(buffer.getvalue(), 1)


def unpack_predictions(data: bytes) -> Predictions:
    """What :func:`pack_predictions` made."""
    raw = zlib.decompress(data)
    if raw[:1] == b"T":
        texts = json.loads(raw[1:])
        values = np.empty(len(texts), dtype=object)
        values[:] = texts
    else:
        values = np.load(io.BytesIO(raw[1:]), allow_pickle=False)
    return Predictions(values, len(values))
