"""Datasets by keys alone, on a real embedded Arena; and reading the headers of files."""

from __future__ import annotations

import pytest
from tui_looking import screen_text

from arena_tui.stores.datasets import header_of, likely


async def type_text(pilot, text):
    names = {"-": "minus", "/": "slash", ".": "full_stop", "_": "underscore", " ": "space"}
    for character in text:
        await pilot.press(names.get(character, character))


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_dataset_is_made_from_a_file_looked_at_and_deleted(
    local_app, until, tmp_path, size
):
    (tmp_path / "sums.csv").write_text(
        "id,Instruction,output\n" + "".join(f"{n},what is {n}+1?,{n + 1}\n" for n in range(30))
    )
    app = local_app
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("3")
        await until(pilot, lambda: "No dataset yet" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: "A new dataset from" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Which file?" in screen_text(app))
        await type_text(pilot, "/sums.csv")
        await pilot.press("enter")
        await until(pilot, lambda: "Category" in screen_text(app))
        await pilot.press("enter")
        # The likely columns are chosen from the file's own header.
        await until(pilot, lambda: "Columns: id, Instruction, output" in screen_text(app))
        assert app.screen.values()[0] == {"prompt": "Instruction", "target": "output"}
        await pilot.press("tab", "tab", "tab", "enter")
        await until(pilot, lambda: "Made dataset sums" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "what is 3+1?" in screen_text(app))
        assert "prompt → Instruction" in screen_text(app)
        await pilot.press("escape", "x")
        await until(pilot, lambda: "Delete dataset sums" in screen_text(app))
        await type_text(pilot, "sums")
        await pilot.press("enter")
        await until(pilot, lambda: "No dataset yet" in screen_text(app))


async def test_one_column_cannot_be_two_things(local_app, until, tmp_path):
    (tmp_path / "two.csv").write_text("prompt,target\na,b\n")
    app = local_app
    async with app.run_test(size=(100, 36), notifications=True) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("3", "n")
        await until(pilot, lambda: "A new dataset from" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Which file?" in screen_text(app))
        await type_text(pilot, "/two.csv")
        await pilot.press("enter")
        await until(pilot, lambda: "Category" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Columns: prompt, target" in screen_text(app))
        await pilot.press("enter")
        await pilot.pause(0.2)
        await pilot.press("down", "enter", "tab", "tab", "tab", "enter")
        await until(pilot, lambda: "target is the prompt already" in screen_text(app))


async def test_a_dataset_that_is_not_on_this_machine_is_said(local_app, until):
    app = local_app
    async with app.run_test(size=(100, 36), notifications=True) as pilot:
        await until(pilot, lambda: "● live" in screen_text(app))
        await pilot.press("3", "n")
        await until(pilot, lambda: "A new dataset from" in screen_text(app))
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "Which dataset of the hub?" in screen_text(app))
        await type_text(pilot, "nobody/nothing")
        await pilot.press("enter")
        await until(pilot, lambda: "Category" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Which column is what?" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "nobody/nothing" in screen_text(app))


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (b"a,b\n1,2\n", ["a", "b"]),
        (b'\xef\xbb\xbfa,"b, c"\n', ["a", "b, c"]),
        ("fråga,svar\n".encode(), ["fråga", "svar"]),
    ],
)
def test_the_header_of_a_csv_file(tmp_path, content, columns):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    assert header_of(path) == columns


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.csv", b"", "no header line"),
        ("x.csv", b"\xff\xfe\x00a", "is no CSV file"),
        ("x.parquet", b"PAR1 not really", "is no Parquet file"),
    ],
)
def test_what_is_no_table_is_one_sentence(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        header_of(path)
    assert "\n" not in str(caught.value)


def test_the_header_of_a_folder_of_shards(tmp_path):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"q": ["a"], "a": ["b"]}), tmp_path / "part-0.parquet")
    assert header_of(tmp_path) == ["q", "a"]
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="holds no Parquet file"):
        header_of(tmp_path / "none")


def test_likely_columns():
    assert likely("prompt", ["id", "Instruction", "out"]) == "Instruction"
    assert likely("chosen", ["id", "my_chosen_text"]) == "my_chosen_text"
    assert likely("answer", ["id", "x"]) is None
