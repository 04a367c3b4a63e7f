"""The names of the checks, in the contract's order; without any import."""

CHECK_NAMES = (
    "Environment class path",
    "Class exists in path",
    "Preliminary environment",
    "Action space",
    "Action space limits",
    "Observation space",
    "Observation space limits",
    "Seed deprecation",
    "Reset return info deprecation",
    "Reset return type",
    "Reset seed",
    "Reset options",
    "Reset",
    "Step",
    "Episode lifecycle",
)
