"""What an experiment can run on: this machine, and the hosted tiers as a price list.

A tier's name is its resource id: the published command line shows the name where users look for
what to give as `--resource-id`.
"""

from __future__ import annotations

import platform
from typing import Any

LOCAL = "local"

_HOSTED = """
arena-medium              1 nvidia-l4          15   55.0   2.41
arena-large               1 nvidia-l4          30  110.0   3.65
arena-large-4gpu          4 nvidia-l4          47  165.0   8.41
arena-large-compute-96    0 -                  95  180.0   8.57
arena-a100-40gb-2gpu      2 nvidia-tesla-a100  23  156.0  15.74
arena-extra-large         8 nvidia-l4          94  370.0  16.82
arena-large-compute-192   0 -                 191  370.0  17.15
arena-a100-40gb-4gpu      4 nvidia-tesla-a100  47  312.0  31.47
"""


def local_gpus() -> list[str]:
    """Return the names of this machine's NVIDIA GPUs, asked of the driver, without CUDA."""
    from pathlib import Path

    names = []
    for information in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in information.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key == "Model":
                names.append(value.strip())
    return names


def local_tier() -> dict[str, Any]:
    """Measure this machine."""
    import psutil

    gpus = local_gpus()
    return {
        "name": LOCAL,
        "num_gpus": len(gpus),
        "gpu_type": gpus[0] if gpus else None,
        "num_cpus": psutil.cpu_count() or 1,
        "ram_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "price_per_node_hour": 0.0,
        "description": f"This machine, {platform.node() or 'localhost'}",
        "hosted": False,
    }


def hosted_tiers() -> dict[str, dict[str, Any]]:
    """Return the hosted tiers; prices are credits a node and hour."""
    tiers = {}
    for line in _HOSTED.split("\n"):
        if not line:
            continue
        key, gpus, gpu_type, cpus, ram, price = line.split()
        tiers[key] = {
            "name": key,
            "num_gpus": int(gpus),
            "gpu_type": None if gpu_type == "-" else gpu_type,
            "num_cpus": int(cpus),
            "ram_gb": float(ram),
            "price_per_node_hour": float(price),
            "description": "A tier of hosted Arena, for its price; here it runs on this machine",
            "hosted": True,
        }
    return tiers


def all_tiers() -> dict[str, dict[str, Any]]:
    """Return every tier by key, this machine first."""
    return {LOCAL: local_tier(), **hosted_tiers()}
