"""What a notebook shows by other ways than streams, withheld likewise: displays, tracebacks, widgets and figures.

These go from the kernel to the page as messages of their own, past standard output; and standard output goes the same
way, some time after it was written. Only messages that show something are dropped: a kernel that said no more whether
it is busy, or answered no request, would hang the page. A figure is shown when its cell ends or when somebody calls
``show``, which is after the code: one that was opened by the code is closed with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_SHOWN = frozenset(
    {
        "stream",
        "display_data",
        "update_display_data",
        "execute_result",
        "error",
        "clear_output",
        "comm_open",
        "comm_msg",
        "comm_close",
    }
)
"""Types of messages that show something."""

Put = Callable[[Any, str, Any], None]
"""Puts a value in the place of an attribute for as long as output is withheld."""


def mute_displays(put: Put, undo: Callable[[Callable[[], object]], None]) -> None:
    """Withhold them from now on; where no notebook is loaded there is nothing to do."""
    shells = sys.modules.get("IPython.core.interactiveshell")
    if shells is not None and shells.InteractiveShell.initialized():
        shell = shells.InteractiveShell.instance()
        publisher = type(shell.display_pub)  # which also remembers what it was handed
        put(publisher, "publish", _drop)
        put(publisher, "clear_output", _drop)
        if hasattr(getattr(shell, "kernel", None), "_allow_stdin"):
            put(shell.kernel, "_allow_stdin", False)  # a prompt is shown too, and a debugger would wait at one
    session = getattr(sys.modules.get("jupyter_client.session"), "Session", None)
    if session is not None:
        _flush()  # what was printed before is said
        put(session, "send", _sending_the_rest(session.send))
        undo(_flush)  # and what the code printed, by whatever it kept of a stream, is dropped with the rest
    before = set(_figures())
    undo(lambda: _close_all_but(before))


def _flush() -> None:
    """Send what a kernel's streams hold back for a moment."""
    for stream in {id(each): each for each in (sys.stdout, sys.stderr)}.values():
        if type(stream).__module__ == "ipykernel.iostream":
            stream.flush()


def _drop(*args: Any, **options: Any) -> None:
    """In place of whatever would show."""


def _sending_the_rest(send: Callable[..., Any]) -> Callable[..., Any]:
    def send_rest(session: Any, stream: Any, message: Any, *args: Any, **options: Any) -> Any:
        kind = message if isinstance(message, str) else message["header"]["msg_type"]
        return None if kind in _SHOWN else send(session, stream, message, *args, **options)

    return send_rest


def _figures() -> dict[Any, Any]:
    """The figures that pyplot will show."""
    managers = getattr(sys.modules.get("matplotlib._pylab_helpers"), "Gcf", None)
    return {} if managers is None else managers.figs


def _close_all_but(before: set[Any]) -> None:
    for number in [number for number in _figures() if number not in before]:
        sys.modules["matplotlib._pylab_helpers"].Gcf.destroy(number)
