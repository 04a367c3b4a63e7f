"""A dialog with fields, each checked where it stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Button, Input, Label, Select, Static, Switch, TextArea

from arena_tui.safetext import safe_text
from arena_tui.widgets.dialogs import Dialog

Check = Callable[[dict[str, Any]], Mapping[str, str] | str | None]


@dataclass(frozen=True)
class Field:
    """One field of a form.

    Attributes:
        name: Key of its value in the answer.
        label: What stands above it.
        kind: "text", "integer", "number", "select", "switch", "password", "path" or "lines".
        value: What it holds at first.
        choices: For "select": values, or (label, value).
        required: Whether it must be filled.
        help: One line under it.
        minimum: Least value of "integer" and "number".
        maximum: Greatest value of them.
    """

    name: str
    label: str
    kind: str = "text"
    value: Any = None
    choices: Sequence[Any] = ()
    required: bool = False
    help: str = ""
    minimum: float | None = None
    maximum: float | None = None

    def parse(self, raw: Any) -> Any:
        """Return the value of what was entered; raises ValueError with a sentence."""
        if self.kind == "switch":
            return bool(raw)
        empty = raw is None or (isinstance(raw, str) and not raw.strip())
        if empty:
            if self.required:
                raise ValueError(f"{self.label} is needed.")
            return None
        if self.kind in ("integer", "number"):
            return self._number(str(raw).strip().replace("_", ""))
        if self.kind in ("text", "path"):
            return str(raw).strip()
        return raw

    def _number(self, text: str) -> float:
        whole = self.kind == "integer"
        try:
            value: float = int(text) if whole else float(text)
        except ValueError:
            # 1e6 is how people write a million steps.
            try:
                as_float = float(text)
            except ValueError:
                as_float = math.nan
            if not whole or not as_float.is_integer():
                kind = "a whole number" if whole else "a number"
                raise ValueError(f"{self.label} must be {kind}.") from None
            value = int(as_float)
        if math.isnan(value) or math.isinf(value):
            raise ValueError(f"{self.label} must be a finite number.")
        if self.minimum is not None and value < self.minimum:
            raise ValueError(f"{self.label} must be at least {self.minimum:g}.")
        if self.maximum is not None and value > self.maximum:
            raise ValueError(f"{self.label} must be at most {self.maximum:g}.")
        return value


class FormDialog(Dialog[dict[str, Any] | None]):
    """Fields and a button; the answer is their values by name, or None when cancelled."""

    DEFAULT_CSS = """
    FormDialog .field { height: auto; margin-bottom: 1; }
    FormDialog .field Label { color: $text-muted; }
    FormDialog .field SelectCurrent { height: 1; border: none; }
    FormDialog .field Select { height: auto; }
    FormDialog .field Switch { height: 1; border: none; padding: 0; }
    FormDialog .field TextArea { height: 5; border: none; }
    FormDialog .field-help { color: $text-disabled; }
    FormDialog .field-problem { color: $text-error; display: none; }
    """

    def __init__(
        self,
        title: str,
        fields: Sequence[Field],
        *,
        submit: str = "Create",
        intro: str = "",
        check: Check | None = None,
    ) -> None:
        """Make a form.

        Args:
            title: What it is for.
            fields: Its fields, in order.
            submit: The word on the button.
            intro: A sentence above the fields.
            check: Looks at all values; returns sentences by field name, one for all, or None.
        """
        super().__init__(title, intro)
        self.fields = list(fields)
        self._submit = submit
        self._check = check

    def body(self) -> ComposeResult:
        """Make the fields."""
        for field in self.fields:
            with Vertical(classes="field"):
                label = field.label + (" *" if field.required else "")
                yield Label(Text(label), markup=False)
                yield self._widget(field)
                if field.help:
                    yield Static(Text(field.help), classes="field-help", markup=False)
                yield Static("", classes="field-problem", id=f"problem-{field.name}", markup=False)

    def _widget(self, field: Field) -> Widget:
        wid = f"field-{field.name}"
        if field.kind == "switch":
            return Switch(bool(field.value), id=wid)
        if field.kind == "select":
            options = [
                (Text(safe_text(c[0] if isinstance(c, tuple) else c, 200)), self._choice(c))
                for c in field.choices
            ]
            known = any(value == field.value for _, value in options)
            start = field.value if known else Select.NULL
            return Select(options, value=start, allow_blank=not field.required or not known, id=wid)
        text = "" if field.value is None else str(field.value)
        if field.kind == "lines":
            return TextArea(text, id=wid)
        return Input(text, password=field.kind == "password", id=wid)

    @staticmethod
    def _choice(choice: Any) -> Any:
        return choice[1] if isinstance(choice, tuple) else choice

    def buttons(self) -> Sequence[Widget]:
        """Return cancel and submit."""
        return [
            Button("Cancel", id="cancel", flat=True),
            Button(Text(self._submit), variant="primary", id="ok", flat=True),
        ]

    def on_mount(self) -> None:
        """Start at the first field."""
        if self.fields:
            self.query_one(f"#field-{self.fields[0].name}").focus()

    def _raw(self, field: Field) -> Any:
        widget = self.query_one(f"#field-{field.name}")
        if isinstance(widget, TextArea):
            return widget.text
        if isinstance(widget, Select):
            return None if widget.is_blank() else widget.value
        assert isinstance(widget, Input | Switch)
        return widget.value

    def values(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the values by name, and what is wrong with others by name."""
        values: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for field in self.fields:
            try:
                values[field.name] = field.parse(self._raw(field))
            except ValueError as problem:
                problems[field.name] = str(problem)
        return values, problems

    @on(Button.Pressed, "#ok")
    @on(Input.Submitted)
    def submit(self) -> None:
        """Check all fields; leave with the values, or show what is wrong where it is."""
        values, problems = self.values()
        general = ""
        if not problems and self._check is not None:
            found = self._check(values)
            if isinstance(found, str):
                general = found
            elif found:
                problems = dict(found)
        for field in self.fields:
            line = self.query_one(f"#problem-{field.name}", Static)
            line.update(Text(safe_text(problems.get(field.name, ""), 500)))
            line.display = field.name in problems
        self.complain(general)
        if not problems and not general:
            self.dismiss(values)
        elif problems:
            first = next((f for f in self.fields if f.name in problems), self.fields[0])
            self.query_one(f"#field-{first.name}").focus()
