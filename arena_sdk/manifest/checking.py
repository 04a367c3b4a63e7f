"""A document judged: every section by its class, then the rules between sections.

All problems are found at once: a section with mistakes does not hide those of others.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from arena_sdk.manifest import algorithms
from arena_sdk.manifest.base import Section
from arena_sdk.manifest.explain import sentence
from arena_sdk.manifest.normalize import normalized
from arena_sdk.manifest.problems import ADVICE, Problem, closest, in_order, shown
from arena_sdk.manifest.pruning import is_about, pruned
from arena_sdk.manifest.rules import Parts, crossing_faults, doubts
from arena_sdk.manifest.sections import (
    API_VERSION,
    REQUIRED,
    SECTIONS,
    TOP_SPELLINGS,
    UnknownKind,
    algorithm_of,
    class_for,
    environment_defaults,
)
from arena_sdk.manifest.source import Keys, Source

NOT_WRITTEN = ("network", "mutation", "replay_buffer", "tournament_selection")
"""Sections that may be null, which is the same as not written."""


class Check:
    """One judgement.

    Attributes:
        parts: The sections that are valid.
        problems: What is wrong, in the order of the text.
        advice: What is valid and yet hardly meant.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._document = normalized(source.document)
        self.problems: list[Problem] = list(source.problems)
        name = algorithm_of(self._document)
        self.parts = Parts(name or "")
        self._name = name
        self._left_out: set[str] = set()
        self.advice: list[Problem] = []
        if not source.problems or source.document:
            self._run()
        self.problems = in_order(self.problems)

    def _run(self) -> None:
        self._top_level()
        for section in SECTIONS:
            self._section(section)
        if self._name is not None:
            for path, message in crossing_faults(self.parts):
                if not is_about(path, message, self._left_out):
                    self._say(path, message, "value_error")
            if not self.problems:
                self._advise()

    def _advise(self) -> None:
        for path, message in doubts(self.parts):
            line, column = self._source.position(self._as_written(path), of_value=True)
            found = Problem(".".join(path), message, ADVICE, line, column, severity="warning")
            self.advice.append(found)

    def _top_level(self) -> None:
        for key in self._document:
            if key in SECTIONS or key == "apiVersion":
                continue
            path = (str(key),)
            if key in TOP_SPELLINGS:
                other = TOP_SPELLINGS[key]
                self._say(
                    path,
                    f"{other} is written too; keep one of the two.",
                    "extra_forbidden",
                )
                continue
            known = [*SECTIONS, *TOP_SPELLINGS, "apiVersion"]
            meant = closest(str(key), known)
            self._say(path, "There is no such section.", "extra_forbidden", suggestion=meant)
        version = self._document.get("apiVersion", API_VERSION)
        if version != API_VERSION:
            self._say(
                ("apiVersion",),
                f"{shown(version)} is not understood; write {API_VERSION}.",
            )
        for section in REQUIRED:
            if section not in self._document:
                self._say((section,), "This section is required.", "missing")

    def _section(self, section: str) -> None:
        raw = self._document.get(section)
        written = section in self._document
        if not written and section in REQUIRED:
            return
        null_is_nothing = section in NOT_WRITTEN or not written
        if not isinstance(raw, dict) and not (raw is None and null_is_nothing):
            self._say((section,), f"{shown(raw)} is not a mapping of fields.", "dict_type")
            return
        self.parts.network_written |= section == "network" and raw is not None
        raw = self._with_defaults(section, raw)
        if raw is None:
            return
        try:
            model = class_for(section, raw, self._name)
        except UnknownKind as error:
            self._unknown_kind(section, error)
            return
        if model is not None:
            self._judge(section, model, raw)

    def _with_defaults(self, section: str, raw: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return what a section that is left out stands for, or None when that is nothing."""
        if section == "mutation" and not raw:
            from arena_sdk.manifest.mutation import NO_MUTATION

            return {"probabilities": NO_MUTATION}
        if section == "environment" and raw is not None and self._name:
            return environment_defaults(raw, self._name)
        if section == "network" and not raw:
            return None
        if section == "replay_buffer":
            return raw
        return raw or {}

    def _judge(self, section: str, model: type[Section], raw: dict[str, Any]) -> None:
        try:
            found = model.model_validate(raw)
        except ValidationError as error:
            wrong = self._report(section, model, raw, error)
            left, names = pruned(model, raw, wrong)
            self._left_out |= names
            if left is not None:
                self._keep(section, left, names)
            return
        self._keep(section, found, set())

    def _keep(self, section: str, found: Section, left_out: set[str]) -> None:
        """Judge the rules between the fields of a section; of those left out nothing is said."""
        for path, message in found.faults():
            if not is_about(path, message, left_out):
                self._say((section, *path), message)
        found.fill(self._name or "")
        if section == "algorithm":
            found.name = self._name  # type: ignore[attr-defined]
        setattr(self.parts, section, found)

    def _report(
        self,
        section: str,
        model: type[Section],
        raw: dict[str, Any],
        error: ValidationError,
    ) -> list[tuple[Keys, bool]]:
        """Say what pydantic found, once for each field; return where, and if it is missing."""
        by_path: dict[Keys, list[dict[str, Any]]] = {}
        for item in error.errors(include_url=False):
            path = real_path(item["loc"], raw, missing=item["type"] == "missing")
            by_path.setdefault(path, []).append(item)  # type: ignore[arg-type]
        for path, errors in by_path.items():
            message, suggestion = sentence(errors)
            kind = errors[0]["type"]
            if kind == "extra_forbidden":
                message, suggestion = self._unknown_field(section, model, path, raw)
            self._say((section, *path), message, kind, suggestion=suggestion)
        return [(path, errors[0]["type"] == "missing") for path, errors in by_path.items()]

    def _unknown_field(
        self, section: str, model: type[Section], path: Keys, raw: dict[str, Any]
    ) -> tuple[str, str | None]:
        """Return what is said of a field that there is not, and the one that is meant."""
        from arena_sdk.manifest.lookup import elsewhere, known_names, meant_elsewhere, own_field

        name, names = path[-1], known_names(model, path[:-1], raw)
        named = own_field(model, name) if len(path) == 1 else None
        if named is not None:
            other = next(key for key in raw if key != name and own_field(model, str(key)) == named)
            return f"It is the same as {other}, which is written too; keep one of the two.", None
        place = elsewhere(section, path, self._name)
        if place is not None:
            return f"There is no such field here; {place}.", None
        place = meant_elsewhere(section, name, self._name) if len(path) == 1 else None
        if place is not None:
            return f"There is no such field here; {place} is what is meant, perhaps.", None
        meant = closest(name, names)
        if meant is None and 0 < len(names) <= 12:
            return f"There is no such field; there are {', '.join(names)}.", None
        return "There is no such field.", meant

    def _unknown_kind(self, section: str, error: UnknownKind) -> None:
        path = (section, *error.key.split("."))
        if section == "algorithm" and error.found is None:
            message = f"The algorithm needs a name: {', '.join(error.allowed)}."
            self._say(path, message, "missing")
            return
        meant = None
        if isinstance(error.found, str):
            spellings = (
                [*error.allowed, *algorithms.ALIASES] if section == "algorithm" else error.allowed
            )
            meant = closest(error.found, spellings)
        message = f"{shown(error.found)} is not known; allowed: {', '.join(error.allowed)}."
        self._say(path, message, "unknown_name", suggestion=meant)

    def _say(
        self,
        path: Keys,
        message: str,
        kind: str = "value_error",
        *,
        suggestion: str | None = None,
    ) -> None:
        path = self._as_written(path)
        at_key = kind in ("extra_forbidden", "missing", "dict_type")
        line, column = self._source.position(path, of_value=not at_key)
        self.problems.append(Problem(".".join(path), message, kind, line, column, suggestion))

    def _as_written(self, path: Keys) -> Keys:
        """Return the path under which the user wrote what was put elsewhere."""
        document = self._source.document
        head, rest = path[:1], path[1:]
        if head == ("network",):
            written, bounds = (
                _at(document, head),
                _at(document, ("mutation", "network")),
            )
            if rest == ("encoder_config", "arch") and _at(document, path) is None:
                return (
                    ("network", "arch") if isinstance(written, dict) and "arch" in written else path
                )
            words = {"encoder_config": "encoder", "head_config": "head_net"}
            moved = tuple(words.get(name, name) for name in rest[:1]) + rest[1:]
            if (
                isinstance(bounds, dict)
                and _at(document, path) is None
                and _at(bounds, moved) is not None
            ):
                return ("mutation", "network", *moved)
        if head and head[0] not in document:
            spelt = next((key for key, name in TOP_SPELLINGS.items() if name == head[0]), None)
            if spelt in document:
                return (str(spelt), *rest)
        return path


def _at(value: Any, path: Keys) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def real_path(loc: tuple[int | str, ...], raw: Any, *, missing: bool) -> Keys:
    """Return the keys and indices of an error's place, without the kinds that pydantic names.

    Args:
        loc: pydantic's, which names also which of several kinds it tried.
        raw: What was judged.
        missing: The last word is a key that is not there.
    """
    path: list[str] = []
    value = raw
    for index, part in enumerate(loc):
        if _has(value, part):
            path.append(str(part))
            value = value[part]
        elif missing and index == len(loc) - 1:
            path.append(str(part))
    return tuple(path)


def _has(value: Any, part: int | str) -> bool:
    if isinstance(value, dict):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)
