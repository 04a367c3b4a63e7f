"""What all sections share: how a field is declared, checked and written into a payload.

`about` declares a field, `refine` changes the default or the bounds of one that a family has
declared already, and `Section.faults` holds the rules that concern more than one field.
"""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, TypeVar

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

Model = TypeVar("Model", bound=BaseModel)
Fault = tuple[tuple[str, ...], str]
"""A broken rule: the path of the field to point at, relative to the section, and a sentence."""

Unset: Any = ...


def fault(message: str, *path: str) -> Fault:
    """Return a broken rule.

    Args:
        message: A sentence.
        *path: The field to point at, relative to the section.
    """
    return path, message


def about(description: str, default: Any = Unset, *, also: str | None = None, **bounds: Any) -> Any:
    """Declare a field.

    Args:
        description: One line: what it is, with its unit.
        default: Its value when it is not written; without one it is required. A type or function
            is called to make it.
        also: A second spelling that is read but never written.
        **bounds: pydantic's, as `ge`, `gt`, `le`, `lt`, `min_length`, `pattern`.
    """
    if callable(default):
        bounds["default_factory"] = default
    else:
        bounds["default"] = default
    if also is not None:
        bounds["validation_alias"] = also
    return Field(description=description, **bounds)


def refine(**changes: dict[str, Any]) -> Callable[[type[Model]], type[Model]]:
    """Change what a class inherits.

    Args:
        **changes: By field, any of `default`, `ge`, `le`, `min_length`, `also`, `type`, and
            `allowed` (a tuple of words).
    """

    def decorate(model: type[Model]) -> type[Model]:
        for name, change in changes.items():
            field = copy.copy(model.model_fields[name])
            field.metadata = list(field.metadata)
            if "default" in change:
                field.default = (
                    PydanticUndefined if change["default"] is Unset else change["default"]
                )
            if "ge" in change:
                field.metadata.append(Ge(change["ge"]))
            if "le" in change:
                field.metadata.append(Le(change["le"]))
            if "min_length" in change:
                field.metadata.append(MinLen(change["min_length"]))
            if "also" in change:
                field.validation_alias, field.alias_priority = change["also"], 2
            if "type" in change:
                field.annotation = change["type"]
            if "allowed" in change:
                field.annotation = _one_of(change["allowed"])
            model.model_fields[name] = field
        return model

    return decorate


class Section(BaseModel):
    """A section: unknown keys are errors; nothing is built before it is first used."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, defer_build=True)

    only_when_written: ClassVar[frozenset[str]] = frozenset()
    """Fields that a payload has only where the manifest wrote them."""

    never_sent: ClassVar[frozenset[str]] = frozenset()
    """Fields that a payload never has."""

    unordered: ClassVar[frozenset[str]] = frozenset()
    """Stems of `min_…` and `max_…` fields that need not be in order."""

    def fill(self, context: str) -> None:
        """Give fields that are not written what follows from others.

        Args:
            context: The algorithm's name.
        """

    def faults(self) -> Iterator[Fault]:
        """Yield every broken rule of this section and of those inside it."""
        yield from ordered_pairs(self)
        yield from self.inner_faults()

    def inner_faults(self) -> Iterator[Fault]:
        """Yield every broken rule of the sections inside this one."""
        for name in type(self).model_fields:
            for inner, value in _sections_in(getattr(self, name)):
                for path, message in value.faults():
                    yield fault(message, name, *inner, *path)

    def payload(self) -> dict[str, Any]:
        """Return the section as it is submitted: defaults filled in, no unset fields."""
        found = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            silent = name in self.only_when_written and name not in self.model_fields_set
            if value is not None and not silent and name not in self.never_sent:
                found[name] = plain(value)
        return found


class Named(Section):
    """A section that may be given a name."""

    name: str | None = about("Name of this set-up.", None)


def _one_of(words: tuple[str, ...]) -> Any:
    return Literal[words]


def _sections_in(value: Any) -> Iterator[tuple[tuple[str, ...], Section]]:
    if isinstance(value, Section):
        yield (), value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, Section):
                yield (str(index),), item
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, Section):
                yield (str(key),), item


def ordered_pairs(section: Section) -> Iterator[Fault]:
    """Yield a fault for every `min_…` above its `max_…`, and for a value outside of the two."""
    names = type(section).model_fields
    for name in names:
        stem = name.removeprefix("min_")
        if stem == name or f"max_{stem}" not in names or stem in section.unordered:
            continue
        low, high = getattr(section, name), getattr(section, f"max_{stem}")
        if low is None or high is None:
            continue
        if low > high:
            yield fault(f"{name} ({low}) must not be above max_{stem} ({high}).", name)
            continue
        for word in (stem, f"num_{stem}"):
            value = getattr(section, word, None)
            if isinstance(value, int) and value < low:
                yield fault(f"{word} ({value}) must not be below {name} ({low}).", word)
            elif isinstance(value, int) and value > high:
                yield fault(f"{word} ({value}) must not be above max_{stem} ({high}).", word)


def plain(value: Any) -> Any:
    """Return a field's value as JSON can carry it."""
    if isinstance(value, Section):
        return value.payload()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value


def second_spelling(field: FieldInfo) -> str | None:
    """Return the other name that a field is read under, or None."""
    return field.validation_alias if isinstance(field.validation_alias, str) else None
