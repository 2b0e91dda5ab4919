"""What a process counts of itself, as Prometheus reads it."""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Seconds at which durations are counted."""
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Counters:
    """Requests, durations and answers of one process; each worker has its own, told apart by ``worker``.

    >>> counters = Counters()
    >>> counters.count_request("GET", "/health", 200, 0.002)
    >>> 'status="200"' in counters.write({})
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._answers: Counter[str] = Counter()
        self._submissions: Counter[str] = Counter()
        self._durations = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request that was answered."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._durations[bisect_left(BOUNDS, seconds)] += 1
            self._seconds += seconds

    def count_answers(self, sources: Iterable[str]) -> None:
        """Answers by where their values come from; ``surprise`` is one of these."""
        with self._lock:
            self._answers.update(sources)

    def count_submission(self, status: str) -> None:
        """A submission: checked, unchecked or failed."""
        with self._lock:
            self._submissions[status] += 1

    def write(self, gauges: Mapping[str, float]) -> str:
        """Everything as text, with other numbers of the moment."""
        with self._lock:
            requests, answers, submissions = dict(self._requests), dict(self._answers), dict(self._submissions)
            durations, seconds = list(self._durations), self._seconds
        worker = f'worker="{os.getpid()}"'
        lines = ["# TYPE unworn_requests_total counter"]
        for (method, route, status), count in sorted(requests.items()):
            labels = f'{worker},method="{method}",route="{_escape(route)}",status="{status}"'
            lines.append(f"unworn_requests_total{{{labels}}} {count}")
        lines.append("# TYPE unworn_refusals_total counter")
        refused = sum(count for (_, _, status), count in requests.items() if status == 409)
        lines.append(f"unworn_refusals_total{{{worker}}} {refused}")
        lines.append("# TYPE unworn_request_seconds histogram")
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), durations, strict=True):
            total += count
            lines.append(f'unworn_request_seconds_bucket{{{worker},le="{bound}"}} {total}')
        lines += [
            f"unworn_request_seconds_sum{{{worker}}} {seconds:.6f}",
            f"unworn_request_seconds_count{{{worker}}} {total}",
        ]
        for name, label, counts in (("answers", "source", answers), ("submissions", "outcome", submissions)):
            lines.append(f"# TYPE unworn_{name}_total counter")
            lines += [
                f'unworn_{name}_total{{{worker},{label}="{_escape(key)}"}} {n}' for key, n in sorted(counts.items())
            ]
        for name, value in gauges.items():
            lines += [f"# TYPE unworn_{name} gauge", f"unworn_{name}{{{worker}}} {value:g}"]
        return "\n".join(lines) + "\n"


def memory_bytes() -> int:
    """How much memory this process has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
