"""The environments that this Arena has without an upload: Gymnasium's own."""

from __future__ import annotations

from importlib.util import find_spec

NEEDS = {
    "gymnasium.envs.classic_control": "gymnasium",
    "gymnasium.envs.toy_text": "gymnasium",
    "gymnasium.envs.box2d": "Box2D",
    "gymnasium.envs.mujoco": "mujoco",
}
UNMAKEABLE = frozenset({"Pusher-v4"})
"""Those that Gymnasium registers and refuses to make with the MuJoCo of today."""


def provided_environments() -> dict[str, dict[str, dict[str, bool]]]:
    """Return the Gymnasium ids that can be made here, as the contract lists environments."""
    import gymnasium

    found: dict[str, dict[str, dict[str, bool]]] = {}
    for name, spec in sorted(gymnasium.registry.items()):
        entry = spec.entry_point if isinstance(spec.entry_point, str) else ""
        family = ".".join(entry.partition(":")[0].split(".")[:3])
        needed = NEEDS.get(family)
        if name in UNMAKEABLE:
            continue
        if needed is not None and find_spec(needed) is not None:
            found[name] = {f"v{spec.version}": {"validated": True, "profiled": False}}
    return found
