"""The version of this code, in the one place where it is written: what is built, shown and signed reads it here."""

__version__ = "0.1.0"
