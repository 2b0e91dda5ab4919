"""Released: what stands in entry 0 where rows are sealed for one release, and not for questions.

The release follows from these terms, the rows and the key, so the entry is the charge: it is durable before anything is
drawn, and whoever repeats the release on the same terms gets the same one again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from unworn.queries.query import canonical
from unworn.universe.domain.domain import Domain


@dataclass(frozen=True, eq=False, repr=False)
class Released:
    """The terms of a release: its method, its workload and domain, all as JSON, and what it may reveal of one row.

    ``any_method``: whoever opens the rows leaves the method to what was sealed.
    """

    currency: ClassVar[str] = "release"
    promises: ClassVar[bool] = True

    method: dict[str, Any]
    workload: dict[str, Any]
    domain: dict[str, Any]
    epsilon: float
    delta: float
    any_method: bool = False

    def to_json(self) -> dict[str, Any]:
        """What entry 0 records, where other rows have a mechanism."""
        said = {"method": self.method, "workload": self.workload, "domain": self.domain}
        return {"name": type(self).__name__, **said, "epsilon": self.epsilon, "delta": self.delta}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Released) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.epsilon, self.delta))

    def __repr__(self) -> str:
        asked = canonical(self.workload)
        columns = self.domain["columns"] if isinstance(self.domain.get("origin"), str) else self.domain
        return (
            f"a release with epsilon={self.epsilon:g}, delta={self.delta:g}, of {asked:.60}, "
            f"by {self.method.get('method')}, over {len(columns)} columns"
        )

    def accepts(self, sealed: object) -> bool:
        """Whether rows sealed for that may be opened for this release: the same, as far as it says."""
        if not isinstance(sealed, Released):
            return False
        ours, theirs = self._parts(), sealed._parts()
        return {**ours, "method": None} == {**theirs, "method": None} and (
            self.any_method or self.method == sealed.method
        )

    def unlike(self, sealed: object) -> tuple[object, object]:
        """(what rows were sealed for, this), as far as they differ: for telling whoever opens them on other terms."""
        if not isinstance(sealed, Released):
            return sealed, self
        ours, theirs = self._parts(), sealed._parts()
        names = [name for name in ours if ours[name] != theirs.get(name) and not (self.any_method and name == "method")]
        names += [name for name in theirs if name not in ours]
        return {name: theirs.get(name) for name in names}, {name: ours.get(name) for name in names}

    def _parts(self) -> dict[str, Any]:
        """What can differ, piece by piece: of the domain column by column, and not where it was read from."""
        axes = {f"domain of {name!r}": axis for name, axis in Domain(self.domain).columns}
        return {"epsilon": self.epsilon, "delta": self.delta, "workload": self.workload, "method": self.method, **axes}
