"""Training manifests: read from files, judged by the SDK, adapted to an environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena_sdk.manifest import Problem
    from arena_sdk.manifest.editor import Diagnostic

SIZE_LIMIT = 1 << 20
"""Bytes of a manifest file that are read; a manifest is some kilobytes."""


@dataclass(frozen=True)
class Diagnosis:
    """What the SDK says of a manifest.

    Attributes:
        problems: What is wrong, in the order of the text; empty when it can be submitted.
        document: The manifest as it is written, or None when it is no YAML mapping.
        facts: Algorithm, environment, version, steps, population, as they are written.
        places: Problems and warnings with the stretch of text that each is about.
    """

    problems: tuple[Problem, ...] = ()
    document: dict[str, Any] | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    places: tuple[Diagnostic, ...] = ()

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is understood but should be changed."""
        return tuple(each.problem for each in self.places if each.severity == "warning")

    def on_line(self, line: int) -> Problem | None:
        """Return what is wrong on a line, counted from 1; the worst first."""
        here = [each for each in self.places if each.line <= line <= each.end_line]
        here.sort(key=lambda each: (each.severity != "error", each.end_line - each.line))
        return here[0].problem if here else None

    @property
    def is_good(self) -> bool:
        """Whether it can be submitted."""
        return not self.problems and self.document is not None


def read(path: Path) -> str:
    """Return the text of a manifest file.

    Raises:
        ValueError: It is too large or no text; the message is one sentence.
        OSError: It cannot be read.
    """
    if path.stat().st_size > SIZE_LIMIT:
        raise ValueError(f"{path} is larger than 1 MB, so it is no manifest.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no UTF-8 text, so it is no manifest.") from None


def diagnose(text: str) -> Diagnosis:
    """Judge the text of a manifest; never raises for what is written in it."""
    from arena_sdk.manifest import ManifestError
    from arena_sdk.manifest.editor import diagnostics
    from arena_sdk.manifest.source import parse

    places = tuple(diagnostics(text))
    problems = tuple(each.problem for each in places if each.severity == "error")
    try:
        document = parse(text).document
    except ManifestError as error:
        return Diagnosis(problems or tuple(error.problems), places=places)
    return Diagnosis(problems, document, facts_of(document), places)


def explanation(text: str, line: int, column: int) -> tuple[str, str] | None:
    """Return (path, what the field at a place is), or None; line and column count from 1."""
    from arena_sdk.manifest.editor import hover

    found = hover(text, line, column)
    return None if found is None else (found.path, found.text)


def fitting(text: str, line: int, column: int) -> list[tuple[str, str, str]]:
    """Return (label, what is inserted, bounds and meaning) of what fits at a place, from 1."""
    from arena_sdk.manifest.describing import describe
    from arena_sdk.manifest.editor import completions
    from arena_sdk.manifest.outline import document_of, place_at

    place = place_at(text, line, column)
    found = []
    for offer in completions(text, line, column):
        about = offer.about
        if place is not None and offer.kind == "field":
            known = describe((*place.path, offer.label), document_of(text))
            if known is not None:
                bounds = f"{known.kind}{f', {known.bounds}' if known.bounds else ''}"
                default = "" if known.default is None else f"; default {known.default}"
                about = f"{bounds}{default} · {about}"
        found.append((offer.label, offer.insert, about))
    return found


def dump(document: dict[str, Any]) -> str:
    """Return a manifest that the service gave as text to edit, a blank line between sections."""
    import yaml

    parts = [
        yaml.safe_dump({name: section}, sort_keys=False, allow_unicode=True, width=88)
        for name, section in document.items()
    ]
    return "\n".join(parts)


def facts_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest is about: algorithm, environment, steps, population."""

    def inside(section: str, key: str) -> Any:
        value = document.get(section)
        return value.get(key) if isinstance(value, dict) else None

    return {
        "algorithm": inside("algorithm", "name"),
        "environment": inside("environment", "name"),
        "version": inside("environment", "version"),
        "max_steps": inside("training", "max_steps"),
        "target_score": inside("training", "target_score"),
        "pop_size": inside("training", "pop_size"),
    }


def with_environment(text: str, name: str, version: str) -> str:
    """Return a manifest for another environment, the rest as it is written.

    The section is replaced as text, so that comments and order elsewhere stay.
    """
    import yaml

    document = yaml.safe_load(text)
    section = document.get("environment") if isinstance(document, dict) else None
    section = dict(section) if isinstance(section, dict) else {}
    section |= {"name": name, "version": version}
    block = yaml.safe_dump({"environment": section}, sort_keys=False, allow_unicode=True)
    lines = text.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if line.startswith("environment:")), None)
    if start is None:
        return text.rstrip("\n") + "\n\n" + block
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t#"):
        end += 1
    return "".join(lines[:start]) + block + "\n" + "".join(lines[end:])


def without_target(text: str) -> str:
    """Return a manifest without its target score, which means nothing in another environment."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.strip().startswith("target_score:"))
