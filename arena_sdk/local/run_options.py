"""How a run is run, beyond what the manifest says: what the feature `run_options` announces.

The manifest is the published contract and stays as it is, so these travel beside it.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Keep(BaseModel):
    """Which checkpoints are kept; one that fits any of the three is. All are when none is given."""

    model_config = ConfigDict(extra="forbid", strict=True)

    last: int | None = Field(default=None, ge=1, description="So many of the newest.")
    best: int | None = Field(
        default=None, ge=1, description="So many of the highest evaluation score."
    )
    every: int | None = Field(
        default=None, ge=1, description="That of every so manieth generation."
    )

    @property
    def everything(self) -> bool:
        """Whether nothing is ever removed."""
        return self.last is self.best is self.every is None


class RunOptions(BaseModel):
    """Options of one run; the defaults are what a run without any gets."""

    model_config = ConfigDict(extra="forbid", strict=True)

    priority: int = Field(
        default=0,
        ge=-1000,
        le=1000,
        description="Runs of higher priority start first; 0 unless given.",
    )
    cpus: int | None = Field(
        default=None,
        ge=1,
        description="Cores of this machine that the run may use and that are held.",
    )
    memory_gb: float | None = Field(
        default=None, gt=0, description="GiB that the run may use and that are held for it."
    )
    auto_resume: bool = Field(
        default=False, description="Resume it by itself after a crash of the server or the trainer."
    )
    stop_on_divergence: bool = Field(
        default=False, description="End it once no member has a finite loss and a finite fitness."
    )
    keep: Keep = Field(default_factory=Keep, description="Which checkpoints are kept.")


def read_options(given: Any) -> RunOptions:
    """Return checked options.

    Raises:
        ValueError: In one sentence, what is wrong with them.
    """
    if given is None:
        return RunOptions.model_validate({})
    if not isinstance(given, dict):
        raise ValueError("options must be an object.")
    try:
        return RunOptions.model_validate(given)
    except ValidationError as problem:
        first = problem.errors()[0]
        path = ".".join(map(str, ("options", *first["loc"])))
        if first["type"] == "extra_forbidden":
            known = ", ".join(RunOptions.model_fields)
            raise ValueError(f"{path} is not known; the options are {known}.") from None
        raise ValueError(f"{path}: {first['msg']}, not {first['input']!r}.") from None


def described() -> dict[str, str]:
    """Return every option with what it does, for the capabilities document."""
    keep = {f"keep.{name}": field for name, field in Keep.model_fields.items()}
    fields = {name: field for name, field in RunOptions.model_fields.items() if name != "keep"}
    return {name: str(field.description) for name, field in {**fields, **keep}.items()}
