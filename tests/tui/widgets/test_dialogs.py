"""Dialogs, driven by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, Static

from arena_tui.widgets.dialogs import ChoiceDialog, ConfirmDialog, MessageDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.path_dialog import PathDialog, PathTree

NOTHING = object()


async def opened(pilot: Pilot[None], dialog: ModalScreen[Any]) -> list[Any]:
    answers: list[Any] = []
    await pilot.app.push_screen(dialog, answers.append)
    await pilot.pause()
    return answers


async def typed(pilot: Pilot[None], text: str) -> None:
    for character in text:
        await pilot.press("space" if character == " " else character)


def problem(dialog: ModalScreen[Any], wid: str = "dialog-problem") -> str:
    line = dialog.query_one(f"#{wid}", Static)
    return str(line.render()) if line.display else ""


async def test_a_message_is_closed_by_enter_or_escape(stage: Callable) -> None:
    async with stage().run_test(size=(80, 24)) as pilot:
        for key in ("enter", "escape"):
            dialog = MessageDialog("Failed", "[b]no[/b]\x1b[31m", kind="error")
            answers = await opened(pilot, dialog)
            assert "[b]no[/b]␛[31m" in str(pilot.app.screen.query_one("#dialog-text").render())
            await pilot.press(key)
            assert answers == [None]


async def test_what_loses_something_says_no_at_first(stage: Callable) -> None:
    async with stage().run_test(size=(80, 24)) as pilot:
        dialog = ConfirmDialog("Delete", "Delete run-1?", loses=["run-1", "3 checkpoints"])
        answers = await opened(pilot, dialog)
        text = str(dialog.query_one("#dialog-text").render())
        assert "run-1" in text
        assert "3 checkpoints" in text
        await pilot.press("enter")
        assert answers == [False]
        answers = await opened(pilot, ConfirmDialog("Delete", "Delete run-1?"))
        await pilot.press("tab", "enter")
        assert answers == [True]
        answers = await opened(pilot, ConfirmDialog("Stop", "Stop?", confirm="Stop", danger=False))
        await pilot.press("enter")
        assert answers == [True]


async def test_a_name_has_to_be_typed(stage: Callable) -> None:
    async with stage().run_test(size=(80, 24)) as pilot:
        dialog = ConfirmDialog("Delete", "Delete all of it?", typed="demo")
        answers = await opened(pilot, dialog)
        await typed(pilot, "dem")
        assert dialog.query_one("#ok", Button).disabled
        await pilot.press("enter")
        assert answers == []
        assert problem(dialog) == "That is not demo."
        await typed(pilot, "o")
        assert problem(dialog) == ""
        await pilot.press("enter")
        assert answers == [True]
        answers = await opened(pilot, ConfirmDialog("Delete", "All?", typed="demo"))
        await pilot.press("escape")
        assert answers == [False]


async def test_a_choice_is_made_by_arrows_and_enter(stage: Callable) -> None:
    async with stage().run_test(size=(80, 24)) as pilot:
        answers = await opened(pilot, ChoiceDialog("Pick", [("[one]", 1), ("two", 2)]))
        await pilot.press("down", "enter")
        assert answers == [2]
        answers = await opened(pilot, ChoiceDialog("Pick", [("one", 1)]))
        await pilot.press("escape")
        assert answers == [None]


FIELDS = [
    Field("name", "Name", required=True),
    Field("steps", "Steps", "integer", 1000, minimum=1, maximum=10_000_000),
    Field("lr", "Learning rate", "number", help="above 0"),
    Field("tier", "Tier", "select", "local", choices=["local", ("Large", "large")], required=True),
    Field("dry", "Dry run", "switch", True),
]


async def test_a_form_gives_values_in_their_types(stage: Callable) -> None:
    async with stage().run_test(size=(80, 40)) as pilot:
        answers = await opened(pilot, FormDialog("New", FIELDS))
        await typed(pilot, "run 1")
        await pilot.press("tab")
        await pilot.press("end", *["backspace"] * 4)
        await typed(pilot, "2e6")
        await pilot.press("tab")
        await typed(pilot, "0.001")
        await pilot.press("enter")
        assert answers == [
            {"name": "run 1", "steps": 2_000_000, "lr": 0.001, "tier": "local", "dry": True}
        ]


async def test_a_form_says_what_is_wrong_where_it_is(stage: Callable) -> None:
    def check(values: dict[str, Any]) -> dict[str, str] | None:
        return {"name": "The name is taken."} if values["name"] == "taken" else None

    async with stage().run_test(size=(80, 40)) as pilot:
        dialog = FormDialog("New", FIELDS, check=check)
        answers = await opened(pilot, dialog)
        dialog.query_one("#field-steps", Input).value = "1.5"
        await pilot.press("enter")
        assert answers == []
        assert problem(dialog, "problem-name") == "Name is needed."
        assert problem(dialog, "problem-steps") == "Steps must be a whole number."
        assert dialog.focused is dialog.query_one("#field-name")
        dialog.query_one("#field-steps", Input).value = "0"
        await typed(pilot, "taken")
        await pilot.press("enter")
        assert problem(dialog, "problem-name") == ""
        assert problem(dialog, "problem-steps") == "Steps must be at least 1."
        dialog.query_one("#field-steps", Input).value = "5"
        await pilot.press("enter")
        assert problem(dialog, "problem-name") == "The name is taken."
        await pilot.press("escape")
        assert answers == [None]


@pytest.mark.parametrize(
    ("field", "raw", "value"),
    [
        (Field("n", "N", "integer"), "1_000", 1000),
        (Field("n", "N", "integer"), "", None),
        (Field("n", "N", "number"), "-1e-3", -0.001),
        (Field("n", "N", "text"), "  a b ", "a b"),
        (Field("n", "N", "lines"), "a\nb", "a\nb"),
    ],
)
def test_fields_parse(field: Field, raw: str, value: Any) -> None:
    assert field.parse(raw) == value


@pytest.mark.parametrize(
    ("kind", "raw"), [("number", "nan"), ("number", "inf"), ("integer", "x"), ("integer", "inf")]
)
def test_fields_refuse_what_is_no_number(kind: str, raw: str) -> None:
    with pytest.raises(ValueError, match="must be a"):
        Field("n", "N", kind).parse(raw)


async def test_markup_in_labels_is_text(stage: Callable) -> None:
    async with stage().run_test(size=(80, 24)) as pilot:
        dialog = FormDialog("[red]T[/red]", [Field("a", "[b]A[/b]", help="[i]h[/i]")], submit="[b]")
        await opened(pilot, dialog)
        assert str(dialog.query_one(Label).render()) == "[b]A[/b]"
        assert dialog.query_one("#ok", Button).label.plain == "[b]"


async def test_a_folder_is_typed(stage: Callable, tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "file.py").write_text("x")
    async with stage().run_test(size=(80, 24)) as pilot:
        dialog = PathDialog("Source", tmp_path)
        answers = await opened(pilot, dialog)
        line = dialog.query_one("#path", Input)
        line.value = str(tmp_path / "none")
        await pilot.press("enter")
        assert "does not exist" in problem(dialog)
        line.value = str(tmp_path / "file.py")
        await pilot.press("enter")
        assert "is a file" in problem(dialog)
        line.value = "~nobody-of-this-name/x"
        await pilot.press("enter")
        assert problem(dialog)
        line.value = "\0"
        await pilot.press("enter")
        assert problem(dialog)
        line.value = str(tmp_path / "env")
        await pilot.press("enter")
        assert answers == [tmp_path / "env"]


async def test_a_file_is_picked_in_the_tree(stage: Callable, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("x")
    (tmp_path / "other.txt").write_text("x")
    (tmp_path / ".hidden.yaml").write_text("x")
    (tmp_path / "[b]\x1b[31m.yaml").write_text("x")
    async with stage().run_test(size=(80, 24)) as pilot:
        dialog = PathDialog("Manifest", tmp_path, pick="file", suffixes=[".yaml"])
        answers = await opened(pilot, dialog)
        tree = dialog.query_one(PathTree)
        tree.focus()
        for _ in range(50):
            await pilot.pause(0.02)
            if tree.root.children:
                break
        names = [str(node.label) for node in tree.root.children]
        assert names == ["[b]␛[31m.yaml", "run.yaml"]
        await pilot.press("down", "down", "enter")
        assert answers == [tmp_path / "run.yaml"]


async def test_a_path_can_be_refused(stage: Callable, tmp_path: Path) -> None:
    async with stage().run_test(size=(80, 24)) as pilot:
        dialog = PathDialog("Source", tmp_path, check=lambda path: "No environment is in there.")
        answers = await opened(pilot, dialog)
        await pilot.press("enter")
        assert problem(dialog) == "No environment is in there."
        await pilot.press("escape")
        assert answers == [None]
