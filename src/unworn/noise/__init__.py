"""Every random draw: a keyed stream, and in ``samplers`` exact integer noise, coins and rows made from it.

Samplers are loaded by those who draw: every holdout has a stream, and most never use it.
"""

from unworn.noise.stream import Stream

__all__ = ["Stream"]
