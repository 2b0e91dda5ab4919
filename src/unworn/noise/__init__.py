"""Every random draw: a keyed stream, and integer noise made from it."""

from unworn.noise.stream import Stream

__all__ = ["Stream"]
