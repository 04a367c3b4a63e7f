"""One rule for the names that users give to things, the same in the client and the server."""

from __future__ import annotations

MAX_NAME_LENGTH = 100


def name_problem(what: str, name: str) -> str | None:
    """Say in one sentence what is wrong with a name, or None when nothing is.

    A name is 1 to 100 characters: letters and digits of any script, and inside it also
    space, `.`, `_` and `-`. So it is safe as a path component, in a URL and on a terminal.

    Args:
        what: The kind of thing that is named, as in "project".
        name: The name to judge.
    """
    if not name:
        return f"A {what} needs a name."
    if len(name) > MAX_NAME_LENGTH:
        return (
            f"The {what} name is {len(name):,} characters long;"
            f" at most {MAX_NAME_LENGTH} are allowed."
        )
    for position, character in enumerate(name, 1):
        if not (character.isalnum() or character in " ._-"):
            return (
                f"The {what} name has {character!a} at position {position}; use letters, digits,"
                " spaces, dots, hyphens and underscores."
            )
    if not (name[0].isalnum() and name[-1].isalnum()):
        return f"The {what} name {name!r} must begin and end with a letter or a digit."
    return None
