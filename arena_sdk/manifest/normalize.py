"""What is written in one section and counts in another, put where it counts."""

from __future__ import annotations

from typing import Any

from arena_sdk.manifest.sections import TOP_SPELLINGS, arch_of


def normalized(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with sections by their payload's names; nested mappings are shared.

    - A second spelling of a section is renamed, unless the first is there too.
    - `mutation.network` is put into `network` when that section is written.
    - `network.arch` is put into its encoder.
    """
    found = {}
    for key, value in document.items():
        name = TOP_SPELLINGS.get(key, key) if isinstance(key, str) else key
        found[key if name in document and name != key else name] = value
    mutation: Any = found.get("mutation")
    network: Any = found.get("network")
    bounds = mutation.get("network") if isinstance(mutation, dict) else None
    if isinstance(network, dict):
        if isinstance(bounds, dict):
            network = _with_bounds(network, bounds)
            found["mutation"] = {**mutation, "network": None}
        found["network"] = with_arch(network)
    return found


def _with_bounds(network: dict[str, Any], bounds: dict[str, Any]) -> dict[str, Any]:
    """Return the network with the bounds that are written beside the mutation; its own win."""
    latent: dict[str, Any] = {
        key: bounds[key] for key in ("min_latent_dim", "max_latent_dim") if key in bounds
    }
    merged = {**latent, **network}
    for key, name in (("encoder", "encoder_config"), ("head_net", "head_config")):
        inner: Any = bounds.get(key)
        own: Any = network.get(name)
        if isinstance(inner, dict) and (own is None or isinstance(own, dict)):
            merged[name] = {**inner, **(own or {})}
    return merged


def with_arch(network: dict[str, Any]) -> dict[str, Any]:
    """Return the network with `arch` inside of its encoder."""
    if "pretrained_model_name_or_path" in network or "max_context_length" in network:
        return network
    encoder: Any = network.get("encoder_config")
    merged = {key: value for key, value in network.items() if key != "arch"}
    arch = arch_of(network)
    if arch is not None and (not encoder or isinstance(encoder, dict)):
        merged["encoder_config"] = {**(encoder or {}), "arch": arch}
    return merged
