"""From a dotted path to the field that it names, whatever of the manifest is written."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from arena_sdk.manifest.base import Section, second_spelling


@dataclass(frozen=True)
class Found:
    """A field and where it is.

    Attributes:
        name: Its name, or what stands for any key of a mapping.
        field: What pydantic knows of it, or None for an entry of a mapping.
        owner: The class that has it.
        inside: The class of its value, when that is a section.
    """

    name: str
    field: FieldInfo | None
    owner: type[Section]
    inside: type[Section] | None


def own_field(model: type[Section], name: str) -> tuple[str, FieldInfo] | None:
    """Return a class's field under either of its spellings."""
    field = model.model_fields.get(name)
    if field is not None:
        return name, field
    for real, candidate in model.model_fields.items():
        if second_spelling(candidate) == name:
            return real, candidate
    return None


def sections_in(annotation: Any) -> list[type[Section]]:
    """Return the section classes that a type mentions, in order."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation] if issubclass(annotation, Section) else []
    found: list[type[Section]] = []
    for part in typing.get_args(annotation):
        found += sections_in(part)
    return found


def is_mapping(annotation: Any) -> bool:
    """Tell whether a type is, or may be, a mapping with keys of the user's."""
    if typing.get_origin(annotation) is dict:
        return True
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return any(is_mapping(part) for part in typing.get_args(annotation))
    return False


def is_section(annotation: Any) -> bool:
    """Tell whether a type is, or may be, a section itself rather than something with sections."""
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return any(is_section(part) for part in typing.get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, Section)


def choose(candidates: list[type[Section]], raw: Any) -> type[Section] | None:
    """Return the class that a value is of: the one whose kind it names, or the first."""
    if isinstance(raw, dict):
        for candidate in candidates:
            field = candidate.model_fields.get("arch")
            if field is not None and raw.get("arch") == field.default:
                return candidate
    return candidates[0] if candidates else None


def find(model: type[Section], path: tuple[str, ...], raw: Any = None) -> Found | None:
    """Return the field at a path inside of a section.

    Args:
        model: The section's class.
        path: Keys and indices from the section.
        raw: What is written in it, which chooses between kinds.
    """
    current: type[Section] | None = model
    found: Found | None = None
    free = False
    for part in path:
        below = raw.get(part) if isinstance(raw, dict) else None
        if isinstance(raw, list) and part.isdecimal() and int(part) < len(raw):
            below = raw[int(part)]
        if found is not None and found.field is not None and (part.isdecimal() or free):
            inside = choose(sections_in(found.field.annotation), below)
            found = Found(part, None, found.owner, inside)
            current, free, raw = inside, False, below
            continue
        named = own_field(current, part) if current is not None else None
        if named is None or current is None:
            return None
        name, field = named
        inside = choose(sections_in(field.annotation), below)
        whole = inside is not None and is_section(field.annotation) and _fits(inside, below)
        free = is_mapping(field.annotation) and not whole
        found = Found(name, field, current, inside)
        current, raw = (None if free else inside), below
    return found


def _fits(model: type[Section], raw: Any) -> bool:
    """Tell whether a mapping looks like one of the class rather than one of such mappings."""
    return not isinstance(raw, dict) or not raw or any(own_field(model, str(key)) for key in raw)


def known_names(model: type[Section], path: tuple[str, ...], raw: Any) -> list[str]:
    """Return the names of the fields that may be written at a path, in order."""
    if not path:
        return list(model.model_fields)
    found = find(model, path, raw)
    return list(found.inside.model_fields) if found is not None and found.inside else []


def field_at(path: tuple[str, ...], document: dict[str, Any]) -> Found | None:
    """Return the field at a path of a manifest, sections included.

    Args:
        path: Keys from the root.
        document: What is written, of which the algorithm and the kinds of sections are read.
    """
    from arena_sdk.manifest.normalize import normalized
    from arena_sdk.manifest.sections import TOP_SPELLINGS

    if not path:
        return None
    section = TOP_SPELLINGS.get(path[0], path[0])
    model = section_class(section, document)
    if model is None:
        return None
    rest = path[1:]
    if section == "network" and rest[-1:] == ("arch",) and len(rest) <= 2:
        model, rest = _likeliest(section, None) or model, ("encoder_config", "arch")
    return find(model, rest, normalized(document).get(section)) if rest else None


def section_class(section: str, document: dict[str, Any]) -> type[Section] | None:
    """Return the class of a section, or the likeliest one while its kind is not known."""
    from arena_sdk.manifest.normalize import normalized
    from arena_sdk.manifest.sections import SECTIONS, UnknownKind, algorithm_of, class_for

    if section not in SECTIONS:
        return None
    raw = normalized(document).get(section)
    algorithm = algorithm_of(document)
    try:
        found = class_for(section, raw if isinstance(raw, dict) else {}, algorithm)
    except UnknownKind:
        found = None
    return found or _likeliest(section, algorithm)


def _likeliest(section: str, algorithm: str | None) -> type[Section] | None:
    from arena_sdk.manifest.algorithms.shared import Algorithm
    from arena_sdk.manifest.sections import class_for

    if section == "algorithm":
        return Algorithm
    if section == "network":
        return class_for(section, {"arch": "mlp"}, algorithm)
    return class_for(section, {}, algorithm or "DQN")


def elsewhere(section: str, path: tuple[str, ...], algorithm: str | None) -> str | None:
    """Say where else a field's name is one: in another section, or of another algorithm."""
    from arena_sdk.manifest import algorithms
    from arena_sdk.manifest.sections import SECTIONS

    if len(path) != 1 or path[0] == "name":
        return None
    document = {"algorithm": {"name": algorithm}}
    for other in SECTIONS:
        model = section_class(other, document) if other != section else None
        if model is not None and path[0] in model.model_fields:
            return f"{other}.{path[0]} is one"
    if section != "algorithm":
        return None
    owners = [one for one in algorithms.NAMES if path[0] in algorithms.model_of(one).model_fields]
    return f"it is one of {', '.join(owners)}" if owners else None


def meant_elsewhere(section: str, name: str, algorithm: str | None) -> str | None:
    """Return the path of what a name of another tool means in another section, as `seed`."""
    from arena_sdk.manifest.problems import SYNONYMS
    from arena_sdk.manifest.sections import SECTIONS

    meant = SYNONYMS.get(name.lower())
    if meant in (None, "name"):
        return None
    document = {"algorithm": {"name": algorithm}}
    for other in (section, *SECTIONS):
        model = section_class(other, document)
        if model is not None and meant in model.model_fields:
            return f"{other}.{meant}" if other != section else None
    return None


def line_about(path: tuple[str, ...], document: dict[str, Any]) -> str | None:
    """Return one line about a section or a field, or None when there is none such."""
    from arena_sdk.manifest.sections import SECTIONS

    if len(path) == 1:
        return SECTIONS.get(path[0])
    found = field_at(path, document)
    return found.field.description if found is not None and found.field is not None else None
