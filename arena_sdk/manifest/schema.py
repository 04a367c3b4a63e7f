"""The JSON Schema (2020-12) of manifests as they are written, for editors.

It says what one field may be, and which fields go with which algorithm; the rules between fields
are checked by `arena manifest validate`.
"""

from __future__ import annotations

import functools
from typing import Any

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.base import Section, second_spelling
from arena_sdk.manifest.lookup import sections_in
from arena_sdk.manifest.sections import API_VERSION, REQUIRED, SECTIONS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REFERENCE = "#/$defs/{model}"

INFERRED = ("env_type",)
"""Fields that need not be written because they follow from the algorithm."""

Schema = dict[str, Any]


def section_models() -> dict[str, tuple[type[Section], ...]]:
    """Return the classes that each section but the algorithm may be of."""
    from arena_sdk.manifest import buffers, environment, mutation, network, selection, training
    from arena_sdk.manifest.environment_llm import LlmEnvironment

    return {
        "environment": (
            environment.GymEnvironment, environment.OfflineEnvironment,
            environment.BanditEnvironment, LlmEnvironment,
        ),
        "training": (training.Training,),
        "network": (network.Network, network.DeferredNetwork, network.PretrainedNetwork),
        "mutation": (mutation.Mutation,),
        "replay_buffer": (buffers.ReplayBuffer, buffers.RolloutBuffer),
        "tournament_selection": (selection.Tournament, selection.MultiFrequency),
    }  # fmt: skip


@functools.cache
def _schema() -> Schema:
    definitions: Schema = {}
    names = {name: _define(algorithms.model_of(name), definitions) for name in algorithms.NAMES}
    for name, definition in names.items():
        spellings = [name, *(other for other, real in algorithms.ALIASES.items() if real == name)]
        definitions[definition]["properties"]["name"] |= {"enum": spellings}
    properties: Schema = {"algorithm": _algorithm(names)}
    for section, models in section_models().items():
        options = [{"$ref": REFERENCE.format(model=_define(m, definitions))} for m in models]
        properties[section] = options[0] if len(options) == 1 else {"anyOf": options}
    properties["network"] = _network(properties["network"])
    for section, description in SECTIONS.items():
        properties[section] = {
            "title": section.replace("_", " ").capitalize(), "description": description,
            **properties[section],
        }  # fmt: skip
        if section not in (*REQUIRED, "training"):
            properties[section] = _or_null(properties[section])
    properties["selection_strategy"] = properties["tournament_selection"]
    properties["apiVersion"] = {"const": API_VERSION, "description": "Version of the contract."}
    return {
        "$schema": DIALECT,
        "title": "Training manifest",
        "description": "What a population is trained with on Arena.",
        "type": "object",
        "properties": properties,
        "required": list(REQUIRED),
        "additionalProperties": False,
        "$defs": definitions,
    }


def schema() -> Schema:
    """Return a schema of one's own to change."""
    import copy

    return copy.deepcopy(_schema())


def _define(model: type[Section], definitions: Schema) -> str:
    """Put a class and those inside it among the definitions; return its name there."""
    name = model.__name__
    if name in definitions:
        return name
    found = model.model_json_schema(ref_template=REFERENCE, by_alias=False)
    found.pop("$defs", None)
    definitions[name] = found
    for field_name, field in model.model_fields.items():
        found["properties"][field_name]["description"] = field.description
        for inner in sections_in(field.annotation):
            _define(inner, definitions)
    found["properties"] |= _second_spellings(model, found["properties"])
    if "required" in found:
        found["required"] = [one for one in found["required"] if one not in INFERRED]
    return name


def _second_spellings(model: type[Section], properties: Schema) -> Schema:
    found = {}
    for name, field in model.model_fields.items():
        other = second_spelling(field)
        if other is not None:
            found[other] = {**properties[name], "description": f"The same as `{name}`."}
    return found


def _algorithm(names: dict[str, str]) -> Schema:
    """Choose the algorithm's fields by its name, so that editors complete and judge by it."""
    cases = []
    for name, definition in names.items():
        spellings = [name, *(other for other, real in algorithms.ALIASES.items() if real == name)]
        cases.append(
            {
                "if": {"properties": {"name": {"enum": spellings}}, "required": ["name"]},
                "then": {"$ref": REFERENCE.format(model=definition)},
            }
        )
    spellings = [*names, *algorithms.ALIASES]
    return {
        "type": "object",
        "properties": {"name": {"enum": spellings, "description": "Name of the algorithm."}},
        "required": ["name"],
        "allOf": cases,
    }


def _network(found: Schema) -> Schema:
    """Allow `arch` at the top, from where it is put into the encoder."""
    from arena_sdk.manifest.network import ENCODERS

    arch = {"enum": list(ENCODERS), "description": "Kind of encoder."}
    named = {"type": "object", "properties": {"arch": arch}, "required": ["arch"]}
    return {"anyOf": [*found["anyOf"], named]}


def _or_null(found: Schema) -> Schema:
    return {
        "title": found.pop("title"), "description": found.pop("description"),
        "anyOf": [*(found.get("anyOf") or [found]), {"type": "null"}],
    }  # fmt: skip
