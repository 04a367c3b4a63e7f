"""What runs can run on, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Polled

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub


class Resources(Polled[list[dict[str, Any]]]):
    """Rows of tiers, each with its id as `id`, cheapest first.

    Attributes:
        chosen: The id to use in the next experiment, or None.
    """

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._list, every=15)
        self.chosen: str | None = None

    async def _list(self) -> list[dict[str, Any]]:
        answer: Any = await self.hub.client.list_resources()
        tiers = answer.get("tiers", answer) if isinstance(answer, dict) else answer
        if isinstance(tiers, dict):
            rows = [{"id": str(key), **dict(tier)} for key, tier in tiers.items()]
        else:
            rows = [{"id": str(tier.get("id", tier.get("name"))), **dict(tier)} for tier in tiers]
        return sorted(rows, key=lambda row: (row.get("price_per_node_hour") or 0.0, row["id"]))

    @property
    def suggested(self) -> str | None:
        """The chosen tier, or else the cheapest."""
        ids = [row["id"] for row in self.value or ()]
        return self.chosen if self.chosen in ids else (ids[0] if ids else None)

    def choose(self, tier: str) -> None:
        """Use a tier in the next experiment."""
        self.chosen = tier
        self.changed()


def fit(tier: dict[str, Any], profile: dict[str, Any]) -> dict[str, float]:
    """Return what a profile allows on a tier: `copies` that fit, and `steps_per_second` of all.

    A copy takes as many cores as its mean CPU load and as much memory as was measured; each runs as
    fast as it did alone, so the speed is what can be expected at best. {} when it cannot be told.
    """
    import math

    cpus, memory = tier.get("num_cpus"), tier.get("ram_gb")
    load, each = profile.get("avg_cpu_per_env"), profile.get("memory_per_env_gb")
    limits = []
    if cpus and load:
        limits.append(float(cpus) * 100.0 / max(float(load), 1.0))
    if memory and each:
        limits.append(float(memory) / max(float(each), 1e-3))
    if not limits:
        return {}
    copies = math.floor(min(limits))
    found: dict[str, float] = {"copies": copies}
    if profile.get("steps_per_second"):
        found["steps_per_second"] = copies * float(profile["steps_per_second"])
    return found
