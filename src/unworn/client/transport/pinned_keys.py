"""Keys seen at first contact: whoever answers later must sign with the same one.

Nobody vouches for a holdout's public key when it is seen first. From then on it is known, as with ``ssh``: a server
that answers for the same board or holdout under another key is another ledger, and whatever it certifies is not about
the rows that were asked before.
"""

from __future__ import annotations

import warnings
from typing import Any

from unworn.client.transport.server_address import ServerAddress
from unworn.client.transport.user_files import UserFile
from unworn.errors import Mismatch
from unworn.ledger.registry.home import Unwritable

_KEYS = UserFile("known_keys.json", "the keys of holdouts you have asked")


class UnnotedKey(UserWarning):
    """A key was seen for the first time, and could not be written down."""


class PinnedKey:
    """The public key of one board or holdout, as it was seen first. Kept in memory too: asks come in thousands."""

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self._known: str | None = None

    def check(self, public: str) -> None:
        """Note who signs, or refuse another than was noted."""
        if public == self._known:
            return
        seen = self._known or _KEYS.read().get(self.address.url)
        if not isinstance(seen, str):
            seen = self._note(public)
        if seen != public:
            raise Mismatch(
                f"{self.address.url} answers under another key than at first contact: "
                f"{_short(public)} instead of {_short(seen)}.\n"
                "  Its rows were sealed anew, or this is not the server it was. Ask whoever runs it; if that is so, "
                f"accept the new key by: unworn login {self.address.origin} --forget-keys",
                url=self.address.url,
                public_key=public,
                pinned=seen,
            )
        self._known = public

    def _note(self, public: str) -> Any:
        """Note a key that is seen for the first time; what is noted then: another process may have been first."""
        try:
            _KEYS.change(lambda keys: keys.setdefault(self.address.url, public))
        except Unwritable:
            warnings.warn(
                f"the key of {self.address.url} cannot be noted, because {_KEYS.path.parent} cannot be written: "
                "another key would be noticed by this program only, while it runs",
                UnnotedKey,
                stacklevel=2,
            )
            return public
        return _KEYS.read().get(self.address.url)


def forget_keys(origin: str) -> int:
    """Forget the keys of all boards and holdouts of a server; how many there were."""
    stale = [url for url in _KEYS.read() if url == origin or url.startswith(f"{origin}/")]

    def forget(keys: dict[str, Any]) -> None:
        for url in stale:
            keys.pop(url, None)

    if stale:
        _KEYS.change(forget)
    return len(stale)


def _short(key: Any) -> str:
    return f"{key[:12]}…" if isinstance(key, str) else "none"
