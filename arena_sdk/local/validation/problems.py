"""What went wrong in user code, as sentences that say where and how to mend it."""

from __future__ import annotations

from pathlib import Path

from arena_sdk.local.validation.stacks import raised_at

DISPLAY_SIGNS = (
    "no available video device",
    "nosuchdisplay",
    "no display name",
    "cannot connect to",
    "could not connect to display",
    "couldn't connect to display",
    "failed to open display",
    "no x11 display",
    "x11: the display environment variable is missing",
    "glfwerror",
)
MESSAGE_LIMIT = 400


class CheckFailed(Exception):
    """A finding that would break training.

    Args:
        message: One or two sentences: what, where, and the fix.
        fatal: True when nothing after it can be judged.
    """

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.fatal = fatal


def explain(doing: str, error: BaseException, source: Path | None) -> str:
    """Say in a sentence or two what an exception of user code means.

    Args:
        doing: What was being done, as the sentence's subject, such as "reset(seed=1)".
        error: The exception.
        source: Root of the environment's files.
    """
    where = raised_at(error, source)
    place = f" ({where})" if where else ""
    if isinstance(error, SystemExit):
        fix = "Raise an error instead."
        if doing.startswith("Importing"):
            fix = 'Put what a program does under if __name__ == "__main__".'
        return f"{doing} left Python by sys.exit({error.code!r}){place}. {fix}"
    name = type(error).__name__
    text = _first_line(error)
    said = f"{doing} raised {name}{': ' + text if text else ''}{place}."
    hint = _hint(error, source)
    return f"{said} {hint}" if hint else said


def _first_line(error: BaseException) -> str:
    try:
        lines = (error.msg if isinstance(error, SyntaxError) else str(error)).strip().splitlines()
    except Exception:
        return "its message cannot be shown"
    text = lines[0].strip().rstrip(".") if lines else ""
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 1] + "…"


def _hint(error: BaseException, source: Path | None) -> str:
    if isinstance(error, ModuleNotFoundError):
        return _missing_module(error.name or "", source)
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
        path = Path(error.filename)
        if not path.is_absolute():
            return (
                "A relative path depends on the folder that Python was started in; resolve it"
                f" beside the module: Path(__file__).parent / {error.filename!r}."
            )
    if isinstance(error, PermissionError) and isinstance(error.filename, str):
        return (
            "A worker may only write to its own folder; use the working folder or tempfile, and"
            " leave the sources as they are."
        )
    if isinstance(error, EOFError) and "reading a line" in _first_line(error):
        return "A worker has no keyboard; take what input() asks for from env_config."
    if isinstance(error, NotImplementedError):
        return "Implement it: Gymnasium's own method only raises."
    text = f"{type(error).__name__} {_first_line(error)}".lower()
    if any(sign in text for sign in DISPLAY_SIGNS):
        return (
            "It needs a display, which a worker does not have; open windows in render(), and only"
            ' for render_mode="human".'
        )
    return ""


def _missing_module(name: str, source: Path | None) -> str:
    top = name.split(".")[0]
    if top == "gym":
        return "Gym is replaced by Gymnasium: import gymnasium as gym."
    if source is not None:
        found = sorted(source.rglob(f"{top}.py")) + sorted(source.rglob(f"{top}/__init__.py"))
        if found:
            place = found[0].relative_to(source).as_posix()
            return f"The source has {place}; import it by its package, or relatively."
    return f"Add the package that provides {top!r} to requirements.txt."
