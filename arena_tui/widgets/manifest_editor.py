"""An editor of YAML: coloured, with marks beside lines that are wrong, and completion in a popup.

It knows no manifest: who uses it says what is wrong (`set_marks`) and what fits (`complete`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Segment, Strip
from textual.widget import Widget
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from arena_tui.safetext import safe_text
from arena_tui.widgets.yaml_spans import Span, spans_of

MOST_OFFERED = 200
_POPUP_WIDTH = 64


@dataclass(frozen=True)
class Mark:
    """Something wrong with a stretch of the text; lines and columns are counted from 0.

    Attributes:
        line, start, end: Which columns of which line.
        severity: "error" or "warning".
    """

    line: int
    start: int
    end: int
    severity: str = "error"


@dataclass(frozen=True)
class Offer:
    """Something that fits at the cursor.

    Attributes:
        label: What the list shows.
        insert: What takes the place of the word that is begun.
        about: A line on it.
    """

    label: str
    insert: str
    about: str = ""


Complete = Callable[[str, int, int], Sequence[Offer]]
"""From text, line and column (from 0) to what fits there."""


class Popup(OptionList, can_focus=False):
    """What fits at the cursor; the editor keeps the focus and moves the highlight."""

    DEFAULT_CSS = """
    Popup {
        overlay: screen; constrain: none inside; display: none; position: absolute;
        width: 66; max-width: 90%; height: auto; max-height: 10;
        background: $panel; border: none; padding: 0 1; scrollbar-size-vertical: 1;
    }
    Popup > .option-list--option-highlighted { background: $primary; color: $background; }
    """


class YamlEditor(TextArea):
    """YAML that is written; escape closes the popup first, then leaves."""

    DEFAULT_CSS = """
    YamlEditor, YamlEditor:focus { border: none; padding: 0; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("ctrl+space,ctrl+@,ctrl+n", "complete", "Complete", show=False),
        Binding("ctrl+home", "top", "Top", show=False),
        Binding("ctrl+end", "bottom", "Bottom", show=False),
    ]

    class Left(Message):
        """The editor was left by escape."""

    class Moved(Message):
        """The cursor came to another place."""

    def __init__(self, *, complete: Complete | None = None, id: str | None = None) -> None:
        """Make an empty editor.

        Args:
            complete: Says what fits at a place; without it there is no completion.
            id: The widget's id.
        """
        super().__init__("", show_line_numbers=True, id=id, tab_behavior="indent")
        self.indent_width = 2
        self.marks: list[Mark] = []
        self.popup = Popup(id="popup")
        self._complete = complete
        self._offers: list[Offer] = []
        self._spans: list[list[Span]] = []
        self._spans_of = ""

    async def on_mount(self) -> None:
        """Put the popup beside the editor, as a text area has no room for children."""
        assert isinstance(self.parent, Widget)
        await self.parent.mount(self.popup)

    # Colours -------------------------------------------------------------------------------------

    def set_marks(self, marks: Sequence[Mark]) -> None:
        """Show what is wrong."""
        self.marks = list(marks)
        self._line_cache.clear()
        self.refresh()

    def restyle(self) -> None:
        """Draw anew, for instance under another theme."""
        self._line_cache.clear()
        self.refresh()

    def _style_of(self, kind: str) -> Style:
        theme = self.app.current_theme
        colours: dict[str, str | None] = {
            "key": theme.primary,
            "number": theme.accent,
            "word": theme.accent,
            "quoted": theme.success,
            "text": theme.success,
        }
        colour = str(colours.get(kind) or "")
        if kind in ("comment", "mark"):
            return Style(dim=True, italic=kind == "comment")
        if not colour.startswith("#"):
            colour = colour.removeprefix("ansi_") or "default"
        return Style(color=colour, bold=kind == "key")

    def get_line(self, line_index: int) -> Text:
        """Return a line with its colours, what is wrong underlined."""
        text = super().get_line(line_index)
        whole = self.text
        if whole != self._spans_of:
            self._spans, self._spans_of = spans_of(whole), whole
        if line_index < len(self._spans):
            for start, end, kind in self._spans[line_index]:
                text.stylize(self._style_of(kind), start, end)
        for mark in self.marks:
            if mark.line == line_index:
                text.stylize(
                    Style(underline=True, bold=True), mark.start, max(mark.end, mark.start + 1)
                )
        return text

    def render_line(self, y: int) -> Strip:
        """Return a line with a mark between its number and its text when it is wrong."""
        strip = super().render_line(y)
        row = y + self.scroll_offset.y
        if not self.marks or row >= self.wrapped_document.height:
            return strip
        line, column = self.wrapped_document.offset_to_location(Offset(0, row))
        worst = {mark.severity for mark in self.marks if mark.line == line}
        if not worst or column:
            return strip
        is_error = "error" in worst
        theme = self.app.current_theme
        colour = str((theme.error if is_error else theme.warning) or "")
        colour = colour if colour.startswith("#") else colour.removeprefix("ansi_") or "default"
        width = self.gutter_width
        gutter = strip.crop(0, width - 2)
        ground = next(iter(strip), Segment("")).style or Style()
        sign = Segment("✗ " if is_error else "! ", ground + Style(color=colour, bold=True))
        return Strip.join([gutter, Strip([sign], 2), strip.crop(width)])

    # Completion ----------------------------------------------------------------------------------

    @property
    def is_offering(self) -> bool:
        """Whether the popup is open."""
        return bool(self.popup.display)

    def action_complete(self) -> None:
        """Show what fits at the cursor."""
        self._offer(asked=True)

    def _word_start(self) -> int:
        line, column = self.cursor_location
        before = self.document.get_line(line)[:column]
        start = len(before)
        while start and (before[start - 1].isalnum() or before[start - 1] in "_-./"):
            start -= 1
        return start

    def _offer(self, *, asked: bool = False) -> None:
        if self._complete is None or self.read_only:
            return
        line, column = self.cursor_location
        begun = column > self._word_start()
        if not asked and not begun:
            self.close_popup()
            return
        offers = list(self._complete(self.text, line, column))[:MOST_OFFERED]
        word = self.document.get_line(line)[self._word_start() : column]
        if not offers or (not asked and [offer.label for offer in offers] == [word]):
            self.close_popup()
            return
        self._offers = offers
        popup = self.popup
        width = max(len(offer.label) for offer in offers)
        room = max(8, _POPUP_WIDTH - width - 4)
        popup.clear_options()
        for offer in offers:
            label = Text(f"{safe_text(offer.label):<{width}}  ", no_wrap=True)
            about = safe_text(offer.about)
            label.append(about if len(about) <= room else f"{about[: room - 1]}…", style="dim")
            popup.add_option(Option(label))
        popup.highlighted = 0
        popup.display = True
        self._place_popup(len(offers))

    def _place_popup(self, count: int) -> None:
        assert isinstance(self.parent, Widget)
        at = self.cursor_screen_offset
        height = min(10, count)
        # Above the line where there is no room below it.
        fits = at.y + 1 + height <= self.screen.size.height - 1
        y = at.y + 1 if fits else max(0, at.y - height)
        origin = self.parent.content_region.offset
        self.popup.styles.offset = (at.x - 2 - origin.x, y - origin.y)

    def close_popup(self) -> None:
        """Offer nothing."""
        self.popup.display = False

    def _accept(self) -> None:
        offer = self._offers[self.popup.highlighted or 0]
        line, column = self.cursor_location
        start = self._word_start()
        rest = self.document.get_line(line)[column:]
        insert = offer.insert
        if insert.endswith(": ") and rest.lstrip().startswith(":"):
            insert = insert[:-2]
        indent = " " * self._indent(line)
        insert = insert.replace("\n", "\n" + indent)
        self.close_popup()
        self.replace(insert, (line, start), (line, column), maintain_selection_offset=False)
        first = start + insert.find("min: ") + 5 if "min: ," in insert else None
        if first is not None:
            self.move_cursor((line, first))
        elif "\n" in insert:
            self.move_cursor((line + insert.count("\n"), len(insert.rpartition("\n")[2])))
        else:
            self.move_cursor((line, start + len(insert)))

    def _indent(self, line: int) -> int:
        text = self.document.get_line(line)
        return len(text) - len(text.lstrip(" "))

    async def _on_key(self, event: events.Key) -> None:
        if self.is_offering and event.key in ("up", "down", "enter", "tab", "escape"):
            event.stop()
            event.prevent_default()
            if event.key == "escape":
                self.close_popup()
            elif event.key in ("enter", "tab"):
                self._accept()
            else:
                count = len(self._offers)
                at = (self.popup.highlighted or 0) + (1 if event.key == "down" else -1)
                self.popup.highlighted = at % count
            return
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self._new_line()
            return
        await super()._on_key(event)
        if event.is_printable or (event.key == "backspace" and self.is_offering):
            self.call_after_refresh(self._offer)

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Keep the keys of the popup from the bindings while it is open."""
        if self.is_mounted and self.is_offering and key in ("escape", "up", "down"):
            return True
        return super().check_consume_key(key, character)

    def _new_line(self) -> None:
        """Begin a line as deep as this one, or deeper behind a key without a value."""
        line, column = self.cursor_location
        before = self.document.get_line(line)[:column]
        deeper = before.rstrip().endswith(":") and not before.lstrip().startswith("#")
        indent = min(self._indent(line), column) + (2 if deeper else 0)
        self.replace("\n" + " " * indent, (line, column), self.selection.end)

    def action_top(self) -> None:
        """Go to the beginning."""
        self.move_cursor((0, 0))

    def action_bottom(self) -> None:
        """Go to the end."""
        self.move_cursor(self.document.end)

    def action_leave(self) -> None:
        """Leave the editor, so that letters are keys again."""
        if self.is_offering:
            self.close_popup()
        else:
            self.post_message(self.Left())

    def on_blur(self) -> None:
        """Offer nothing to nobody."""
        self.close_popup()

    def _watch_selection(self, previous: Any, selection: Any) -> None:
        super()._watch_selection(previous, selection)
        if previous.end != selection.end:
            if self.is_mounted and self.is_offering and previous.end[0] != selection.end[0]:
                self.close_popup()
            self.post_message(self.Moved())

    def go_to(self, line: int, column: int = 0) -> None:
        """Put the cursor somewhere, counted from 0, and take the focus."""
        line = min(max(0, line), self.document.line_count - 1)
        self.move_cursor((line, min(column, len(self.document.get_line(line)))), center=True)
        self.focus()
