"""The manifest's network section as the `net_config` of an AgileRL algorithm.

With no `arch` the encoder follows from the observation space: AgileRL chooses an MLP for vectors, a
CNN for images and a multi-input encoder for Dict and Tuple spaces, and takes `encoder_config` as
that encoder's arguments.
"""

from __future__ import annotations

import copy
from typing import Any

NOT_ARGUMENTS = ("arch", "has_evolvable_encoder", "name")
"""Keys of the manifest's that say what kind of thing a config is and are no argument of it."""


def net_config(network: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of an agent's network, or {} for AgileRL's defaults.

    Args:
        network: The manifest's `network` section; unchanged.
    """
    config = {
        key: copy.deepcopy(value)
        for key, value in network.items()
        if key not in NOT_ARGUMENTS and value is not None
    }
    encoder = config.pop("encoder_config", None) or {}
    if not config.get("squash_output"):
        config.pop("squash_output", None)  # only stochastic actors take it; False is their default
    arch = encoder.get("arch", network.get("arch"))
    encoder = _plain(encoder)
    if encoder:
        config["encoder_config"] = encoder
    if arch == "simba":
        config["simba"] = True
    head = _plain(config.pop("head_config", None) or {})
    if head:
        config["head_config"] = head
    return config


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config without markers, at every depth."""
    return {
        key: _plain(value) if isinstance(value, dict) else value
        for key, value in config.items()
        if key not in NOT_ARGUMENTS and value is not None
    }
