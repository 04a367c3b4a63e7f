"""A field in words: what it is, what it may be, what it is when not written, what changes it."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass
from typing import Any

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.base import Section, plain, second_spelling
from arena_sdk.manifest.lookup import Found, field_at, section_class
from arena_sdk.manifest.rules import numeric_fields
from arena_sdk.manifest.sections import (
    ARCHITECTURES,
    BUFFERS,
    ENV_TYPES,
    SECTIONS,
    STRATEGIES,
    TOP_SPELLINGS,
    algorithm_of,
    environment_defaults,
)

WORDS: dict[Any, str] = {
    int: "whole number", float: "number", bool: "true or false", str: "text", dict: "mapping",
    list: "list", type(None): "null", Any: "anything",
}  # fmt: skip
LAYERED = ("hidden_size", "channel_size", "kernel_size", "hidden_state_size", "num_layers",
           "num_blocks", "latent_dim")  # fmt: skip
"""Fields of networks that mutations of the architecture change."""


@dataclass(frozen=True)
class Description:
    """A field in words.

    Attributes:
        path: Dotted path.
        about: What it is, one line.
        kind: What it may be.
        bounds: Between what it may be, empty when anything goes.
        default: What it is when it is not written; None when it is required.
        also: Its second spelling.
        mutated_by: What changes it between generations.
        allowed: The words or names that it may be, for completion.
        fields: The fields inside, when it is a section.
    """

    path: str
    about: str
    kind: str
    bounds: str = ""
    default: str | None = None
    also: str | None = None
    mutated_by: str = ""
    allowed: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return it as text, a fact a line."""
        facts = [
            ("what", self.about),
            ("may be", f"{self.kind}{f', {self.bounds}' if self.bounds else ''}"),
            ("default", self.default if self.default is not None else "none, it is required"),
            ("also spelt", self.also or ""),
            ("mutated by", self.mutated_by),
            ("fields", ", ".join(self.fields)),
        ]
        return [f"{name:<10}  {value}" for name, value in facts if value]


def describe(path: tuple[str, ...], document: dict[str, Any]) -> Description | None:
    """Return what a path of a manifest means.

    Args:
        path: Keys from the root.
        document: What is written; its algorithm and kinds of sections decide.

    Returns:
        The description, or None when there is nothing of that name.
    """
    if len(path) == 1:
        return _section(path[0], document)
    found = field_at(path, document)
    if found is None:
        return None
    if found.field is None:
        return _entry(path, found)
    field = found.field
    return Description(
        ".".join(path),
        field.description or "",
        kind_of(field.annotation),
        bounds_of(field),
        default_of(path, found, document),
        second_spelling(field),
        mutation_of(path, found),
        KINDS.get(path) or allowed_by(field.annotation),
        tuple(found.inside.model_fields) if found.inside else (),
    )


KINDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("algorithm", "name"): tuple(sorted(algorithms.NAMES)),
    ("environment", "env_type"): ENV_TYPES,
    ("replay_buffer", "kind"): BUFFERS,
    ("tournament_selection", "strategy"): STRATEGIES,
    ("network", "arch"): ARCHITECTURES,
    ("network", "encoder_config", "arch"): ARCHITECTURES,
}
"""What the fields may say that choose the class of their section."""


def _section(name: str, document: dict[str, Any]) -> Description | None:
    name = TOP_SPELLINGS.get(name, name)
    if name not in SECTIONS:
        return None
    model = section_class(name, document)
    fields = tuple(model.model_fields) if model is not None else ()
    if name == "training":
        from arena_sdk.manifest.training import telling_order

        fields = telling_order()
    also = next((key for key, real in TOP_SPELLINGS.items() if real == name), None)
    return Description(name, SECTIONS[name], "mapping", default="", also=also, fields=fields)


def _entry(path: tuple[str, ...], found: Found) -> Description:
    inside = tuple(found.inside.model_fields) if found.inside else ()
    about = (found.inside.__doc__ or "").strip().split("\n")[0] if found.inside else "An entry."
    return Description(
        ".".join(path), about, "mapping" if inside else "entry", default="", fields=inside
    )


def kind_of(annotation: Any) -> str:
    """Return what values of a type are, in words."""
    if annotation in WORDS:
        return WORDS[annotation]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return kind_of(parts[0])
    if origin is typing.Literal:
        return " or ".join(str(word) for word in parts)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(kind_of(part) for part in parts))
    if origin in (list, set):
        return f"list of {_plural(kind_of(parts[0]))}"
    if origin is tuple:
        return f"list of {' and '.join(kind_of(part) for part in parts)}"
    if isinstance(annotation, type) and issubclass(annotation, Section):
        arch = annotation.model_fields.get("arch")
        return f"mapping ({arch.default})" if arch is not None else "mapping"
    return "mapping" if origin is dict else "value"


def _plural(noun: str) -> str:
    return noun if noun in ("text", "anything", "true or false") else f"{noun}s"


def bounds_of(field: FieldInfo) -> str:
    """Return the bounds of a field in words, empty when there are none."""
    low, high = "", ""
    for one in field.metadata:
        if isinstance(one, Ge):
            low = f"at least {one.ge:g}"
        elif isinstance(one, Gt):
            low = f"more than {one.gt:g}"
        elif isinstance(one, Le):
            high = f"at most {one.le:g}"
        elif isinstance(one, Lt):
            high = f"less than {one.lt:g}"
        elif isinstance(one, MinLen):
            low = "not empty" if one.min_length == 1 else f"at least {one.min_length} long"
        elif isinstance(one, MaxLen):
            high = f"at most {one.max_length} long"
    return " and ".join(word for word in (low, high) if word)


def default_of(path: tuple[str, ...], found: Found, document: dict[str, Any]) -> str | None:
    """Return the default of a field as YAML would have it, or None when it is required."""
    field = found.field
    assert field is not None
    name = algorithm_of(document)
    if path == ("training", "evo_steps") and name is not None:
        return f"{algorithms.REGISTRY[name].evo_steps}, or max_steps when that is less"
    if path[0] == "environment" and len(path) == 2 and name is not None:
        inferred = environment_defaults({}, name).get(found.name)
        if inferred is not None:
            return str(inferred)
    if field.default_factory is not None:
        value = field.get_default(call_default_factory=True, validated_data={})
        return "as below" if isinstance(value, Section) else _yaml(plain(value))
    if field.default is PydanticUndefined:
        return None
    return _yaml(plain(field.default))


def _yaml(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if value == "" or isinstance(value, list | dict) else str(value)


def mutation_of(path: tuple[str, ...], found: Found) -> str:
    """Return what changes a field between generations, empty when nothing does."""
    if path[0] == "algorithm" and len(path) == 2 and found.name in numeric_fields(found.owner):
        return (
            f"mutation.rl_hp_selection.{found.name}, with chance mutation.probabilities.rl_hp_mut"
        )
    if path[0] == "network" or path[:2] == ("algorithm", "net_config"):
        if found.name in LAYERED:
            return "changes of the architecture, with chance mutation.probabilities.arch_mut"
        if found.name == "activation":
            return "another activation, with chance mutation.probabilities.act_mut"
    return ""


def allowed_by(annotation: Any) -> tuple[str, ...]:
    """Return the words that a type allows, when it allows only some."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is bool:
        return ("true", "false")
    if origin is typing.Literal:
        return tuple(str(word) for word in parts)
    if origin in (typing.Union, types.UnionType, typing.Annotated):
        return tuple(word for part in parts for word in allowed_by(part))
    return ()
