"""What an editor asks while a manifest is written: what is wrong, what fits here, what this is.

All three answer for text that is not finished. Lines and columns are counted from 1, as in
`Problem`; a column may be one behind the end of its line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena_sdk.manifest.describing import Description, describe
from arena_sdk.manifest.document import TrainingManifest
from arena_sdk.manifest.outline import Place, document_of, place_at
from arena_sdk.manifest.problems import ManifestError, Problem
from arena_sdk.manifest.sections import SECTIONS
from arena_sdk.manifest.source import Source, parse


@dataclass(frozen=True)
class Diagnostic:
    """A problem with the stretch of text that it is about.

    Attributes:
        problem: What is wrong.
        line, column: Where the stretch begins.
        end_line, end_column: Where it ends; the column is one behind.
    """

    problem: Problem
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def severity(self) -> str:
        """`error` or `warning`."""
        return self.problem.severity


@dataclass(frozen=True)
class Completion:
    """Something that fits.

    Attributes:
        label: The word.
        insert: What is put into the text in place of the word that is begun.
        kind: `section`, `field` or `value`.
        about: One line on it.
    """

    label: str
    insert: str
    kind: str
    about: str = ""


@dataclass(frozen=True)
class Hover:
    """What stands at a position.

    Attributes:
        path: Dotted path of the field.
        text: Lines about it.
    """

    path: str
    text: str


def diagnostics(text: str) -> list[Diagnostic]:
    """Return what is wrong with a text, in its order; warnings too. Never raises."""
    try:
        source = parse(text)
    except ManifestError as error:
        return [_spanned(problem, None) for problem in error.problems]
    try:
        problems = TrainingManifest.from_source(source).warnings
    except ManifestError as error:
        problems = error.problems
    return [_spanned(problem, source) for problem in problems]


def _spanned(problem: Problem, source: Source | None) -> Diagnostic:
    line, column = problem.line or 1, problem.column or 1
    path = tuple(problem.path.split(".")) if problem.path else ()
    if source is not None:
        for of_value in (True, False):
            span = source.span(path, of_value=of_value)
            if span is not None and span[:2] == (line, column):
                return Diagnostic(problem, *span)
    return Diagnostic(problem, line, column, line, column + 1)


def completions(text: str, line: int, column: int) -> list[Completion]:
    """Return what fits at a position, what begins as the word before it first.

    Sections and fields that are written already are left out.
    """
    place = place_at(text, line, column)
    if place is None:
        return []
    document = document_of(text)
    found = _values(place, document) if place.in_value else _names(place, document)
    begun = place.word.lower()
    close = [one for one in found if one.label.lower().startswith(begun)]
    return close or [one for one in found if begun in one.label.lower()]


def _values(place: Place, document: dict[str, Any]) -> list[Completion]:
    about = describe(place.path, document)
    if about is None:
        return []
    words = list(about.allowed)
    default = about.default
    return [
        Completion(word, word, "value", "the default" if word == default else "") for word in words
    ]


def _names(place: Place, document: dict[str, Any]) -> list[Completion]:
    if not place.path:
        sections = [name for name in SECTIONS if name not in place.siblings]
        return [Completion(name, f"{name}:\n  ", "section", SECTIONS[name]) for name in sections]
    if place.path == ("mutation", "rl_hp_selection"):
        return _mutable(place, document)
    about = describe(place.path, document)
    if about is None:
        return []
    found = []
    for name in about.fields:
        if name in place.siblings:
            continue
        inner = describe((*place.path, name), document)
        found.append(Completion(name, f"{name}: ", "field", inner.about if inner else ""))
    return found


def _mutable(place: Place, document: dict[str, Any]) -> list[Completion]:
    from arena_sdk.manifest.lookup import section_class
    from arena_sdk.manifest.rules import numeric_fields

    model = section_class("algorithm", document)
    if model is None:
        return []
    return [
        Completion(
            name, f"{name}: {{min: , max: }}", "field", model.model_fields[name].description or ""
        )
        for name in numeric_fields(model)
        if name not in place.siblings and name in model.model_fields
    ]


def hover(text: str, line: int, column: int) -> Hover | None:
    """Return what the field at a position is, or None where there is none."""
    place = place_at(text, line, column)
    if place is None or not place.key:
        return None
    path = place.path if place.in_value else (*place.path, place.key)
    about: Description | None = describe(path, document_of(text))
    return Hover(about.path, "\n".join(about.lines())) if about is not None else None
