"""What is wrong with a manifest: where, what was found, what is allowed, what was meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from arena_sdk.errors import ArenaValidationError

ADVICE = "advice"
"""The kind of what is valid and yet hardly meant."""


@dataclass(frozen=True)
class Problem:
    """One mistake, or one thing to know.

    Attributes:
        path: Dotted path of the field, as in `algorithm.lr`.
        message: What was found and what is allowed.
        kind: A word for programs.
        line: 1-based line of the YAML, or None where there is no text.
        column: 1-based column.
        suggestion: The closest real name, for a misspelt one.
        severity: `error`, or `warning` for what is understood but should be changed.
    """

    path: str
    message: str
    kind: str = "value_error"
    line: int | None = None
    column: int | None = None
    suggestion: str | None = None
    severity: str = "error"

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}: " if self.line is not None else ""
        meant = f" Did you mean {self.suggestion!r}?" if self.suggestion else ""
        return f"{place}{self.path or 'manifest'}: {self.message}{meant}"


class ManifestError(ArenaValidationError):
    """A manifest that is not valid; `problems` has every mistake, in the order of the text."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(
            "\n".join(map(str, problems)),
            extras={"errors": [vars(problem) for problem in problems]},
            hint_cli="`arena manifest validate FILE` checks a manifest without submitting it.",
        )


class ManifestUnreadable(ManifestError):
    """What was given is no YAML or JSON, or is not there."""


SYNONYMS = {
    "learning_rate": "lr", "actor_lr": "lr_actor", "critic_lr": "lr_critic", "discount": "gamma",
    "n_envs": "num_envs", "env": "environment", "env_name": "name", "env_id": "name", "id": "name",
    "total_timesteps": "max_steps", "timesteps": "max_steps", "steps": "max_steps",
    "population": "pop_size", "seed": "rand_seed", "buffer_size": "max_size",
    "hidden_sizes": "hidden_size", "hidden_layers": "hidden_size", "head": "head_config",
    "encoder": "encoder_config", "selection": "tournament_selection", "entropy_coef": "ent_coef",
    "value_coef": "vf_coef", "n_steps": "learn_step", "n_epochs": "update_epochs",
    "model": "pretrained_model_name_or_path", "model_name": "pretrained_model_name_or_path",
}  # fmt: skip
"""Names of other libraries, and ours."""


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a wrong one means, or None when none is close."""
    lowered = {candidate.lower(): candidate for candidate in known}
    begun = name.lower()
    if SYNONYMS.get(begun) in lowered:
        return lowered[SYNONYMS[begun]]
    found = get_close_matches(begun, lowered, n=1, cutoff=0.7)
    if found:
        return lowered[found[0]]
    longer = [one for one in lowered if one.startswith(begun) or begun.startswith(one)]
    longer = [one for one in longer if min(len(one), len(begun)) >= 3]
    found = longer or get_close_matches(begun, lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def shown(value: object) -> str:
    """Return a value as a sentence can hold it: short, and quoted where it is text."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}…{text[-8:]}"


def in_order(problems: list[Problem]) -> list[Problem]:
    """Return problems in the order of the text, each once."""
    unique = list(dict.fromkeys(problems))
    return sorted(unique, key=lambda problem: (problem.line or 0, problem.column or 0))
