"""What can be done, as data: one kind of action behind keys, footer, help, palette and key map.

A screen declares its actions in its own module, as the class attribute `ACTIONS`, and writes a
method `act_<verb>` for each. When an action cannot be done just now, a method `why_not_<verb>`
says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding
from textual.keys import format_key

NEVER = 0
"""Footer rank of an action that is left out of the footer."""


@dataclass(frozen=True)
class Action:
    """One thing that can be done.

    Attributes:
        id: `<where it applies>.<verb>`, as in "experiments.stop"; the name to rebind it by.
        keys: Its keys, comma separated, as Textual names them.
        label: One or two words for the footer.
        help: One sentence for the help and the palette.
        rank: Place in the footer, 1 being the first to stay when there is little room; 0 leaves
            it out.
        changes: It changes something at the service, so `--readonly` refuses it.
        palette: Whether the command palette offers it.
    """

    id: str
    keys: str
    label: str
    help: str
    rank: int = 5
    changes: bool = False
    palette: bool = True

    @property
    def verb(self) -> str:
        """The last part of the id."""
        return self.id.rpartition(".")[2]

    @property
    def scope(self) -> str:
        """Where it applies: the id without its last part."""
        return self.id.rpartition(".")[0]

    def binding(self) -> Binding:
        """Return the key binding of the action; its id lets the key map replace the keys."""
        return Binding(self.keys, f"act('{self.id}')", self.label, show=False, id=self.id)


def bindings(actions: Iterable[Action]) -> list[Binding]:
    """Return the key bindings of some actions."""
    return [action.binding() for action in actions if action.keys]


_SHOWN = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "enter": "enter",
    "escape": "esc",
    "space": "space",
    "plus": "+",
    "minus": "-",
    "full_stop": ".",
    "comma": ",",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


def show_key(key: str) -> str:
    """Return how one key is written in the footer and the help: `^p`, `?`, `G`."""
    key = key.strip()
    if key in _SHOWN:
        return _SHOWN[key]
    if key.startswith("ctrl+"):
        return "^" + show_key(key[5:])
    if key.startswith("shift+"):
        return "⇧" + show_key(key[6:])
    return format_key(key)


def show_keys(keys: str) -> str:
    """Return how the keys of an action are written, parted by a space."""
    return " ".join(show_key(key) for key in keys.split(",") if key)


def clashes(actions: Iterable[Action], keymap: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return (key, action id, action id) for keys that two actions of one place want.

    Args:
        actions: Everything that applies in one place at once.
        keymap: Keys by action id, which go before an action's own.
    """
    taken: dict[str, str] = {}
    found: list[tuple[str, str, str]] = []
    for action in actions:
        for key in (keymap.get(action.id) or action.keys).split(","):
            name = key.strip()
            if not name:
                continue
            if name in taken and taken[name] != action.id:
                found.append((name, taken[name], action.id))
            taken[name] = action.id
    return found
