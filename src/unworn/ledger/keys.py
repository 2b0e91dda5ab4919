"""The one secret of a holdout: it signs the ledger and seeds every draw."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

from unworn.errors import LedgerError

_SIGNING = "unworn/ledger/ed25519"
_BLOCK = 64
_PUBLIC, _SIGNATURE = 32, 64
"""Bytes of a public key and of a signature."""


def prepare_hmac(secret: bytes) -> Callable[[bytes], bytes]:
    """HMAC-SHA256 under one secret, for many messages: both of its pads are hashed once, which is most of the work.

    >>> prepare_hmac(b"secret")(b"message") == hmac.digest(b"secret", b"message", "sha256")
    True
    """
    if len(secret) > _BLOCK:
        secret = hashlib.sha256(secret).digest()
    padded = secret.ljust(_BLOCK, b"\0")
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in padded)) for pad in (0x36, 0x5C))

    def digest(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return digest


class Key:
    """32 secret bytes, from which every other key of a holdout is derived by HMAC-SHA256 with a label.

    One secret means one thing to back up and one to protect. It never prints and never pickles:
    with it, and the ledger, every past and future draw of noise can be repeated.

    >>> key = Key(bytes(32))
    >>> key
    Key(public='8e35b5ef…')
    >>> check_signature(key.public, "00" * 32, key.sign("00" * 32))
    True
    """

    __slots__ = ("_pair", "_secret", "_sign")

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != 32:
            raise LedgerError("a key is exactly 32 secret bytes")
        self._secret = secret
        self._pair: tuple[bytes, bytes] | None = None
        self._sign: Callable[[bytes, bytes], bytes]

    @classmethod
    def new(cls) -> Key:
        """A fresh key from the operating system's generator."""
        return cls(os.urandom(32))

    @classmethod
    def from_hex(cls, text: str) -> Key:
        """Read :meth:`hex` back. The message of a failure never repeats the text."""
        try:
            secret = bytes.fromhex(text.strip())
        except (ValueError, AttributeError, TypeError):
            raise LedgerError("a key is 64 hex digits; this text is not") from None
        return cls(secret)

    def hex(self) -> str:
        """The secret itself: for a key file, never for a page or a log."""
        return self._secret.hex()

    def derive(self, label: str) -> bytes:
        """32 bytes for one purpose; knowing them tells nothing about any other label's bytes."""
        return hmac.digest(self._secret, label.encode(), hashlib.sha256)

    def derive_many(self) -> Callable[[str], bytes]:
        """:meth:`derive`, for many labels."""
        digest = prepare_hmac(self._secret)
        return lambda label: digest(label.encode())

    def _halves(self) -> tuple[bytes, bytes]:
        """The public and the secret half of the Ed25519 key, made on first use."""
        if self._pair is None:
            from nacl.bindings import crypto_sign, crypto_sign_seed_keypair

            self._sign = crypto_sign
            self._pair = crypto_sign_seed_keypair(self.derive(_SIGNING))
        return self._pair

    @property
    def public(self) -> str:
        """The public half, as hex: entry 0 of a holdout names it."""
        return self._halves()[0].hex()

    def sign(self, digest: str) -> str:
        """The signature, as hex, over the bytes of a hex digest."""
        _, secret = self._halves()
        return self._sign(bytes.fromhex(digest), secret)[:_SIGNATURE].hex()

    def __eq__(self, other: object) -> bool:
        return hmac.compare_digest(self._secret, other._secret) if isinstance(other, Key) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.public)

    def __repr__(self) -> str:
        return f"Key(public='{self.public[:8]}…')"

    def __copy__(self) -> Key:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Key:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("keys never travel in pickles: let the other process open the ledger's store itself")

    __reduce__ = __reduce_ex__  # type: ignore[assignment]


@lru_cache(maxsize=64)
def _public_bytes(public: str) -> bytes:
    told = bytes.fromhex(public)
    if len(told) != _PUBLIC:
        raise ValueError("not the length of a public key")
    return told


def check_signature(public: str, digest: str, signature: str) -> bool:
    """Whether ``signature`` over ``digest`` was made by the key with this public half (all hex).

    Text that is not hex of the right length is a wrong signature, not an error.

    >>> check_signature("00", "zz", "not hex")
    False
    """
    from nacl.bindings import crypto_sign_open
    from nacl.exceptions import CryptoError

    try:
        told = bytes.fromhex(signature)
        if len(told) != _SIGNATURE:  # the library takes signature and digest as one, and would cut them elsewhere
            return False
        crypto_sign_open(told + bytes.fromhex(digest), _public_bytes(public))
    except (CryptoError, ValueError, TypeError):
        return False
    return True
