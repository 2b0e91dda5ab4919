"""What can go wrong with tables. None of it says what is in them."""

from __future__ import annotations

from unworn.errors import UnwornError


class DatabaseError(UnwornError):
    """Tables could not be read or changed; where the message does not say otherwise, nothing was changed."""


class Busy(DatabaseError):
    """Others changed the same at the same time, or held it for too long: nothing was changed; try again."""


class Unreachable(DatabaseError):
    """The database's server does not answer at the moment, or a disk is full: it may be tried again later."""


class ConstraintBroken(DatabaseError):
    """A rule of a table, such as that a name is there once, refused this; nothing was changed."""


class NewerTables(DatabaseError):
    """The tables were made by a newer version than this one, which would misread them."""
