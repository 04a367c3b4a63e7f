"""A small working environment to begin with: code, test, requirements, settings, manifest.

Imports nothing but the standard library; the templates beside it are filled in as text.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from importlib import resources
from pathlib import Path
from string import Template

from arena_sdk.errors import ArenaValidationError
from arena_sdk.names import name_problem

TEMPLATES = {
    "environment.py.txt": "{module}.py",
    "test_environment.py.txt": "test_{module}.py",
    "requirements.txt": "requirements.txt",
    "env_config.yaml": "env_config.yaml",
    "manifest.yaml": "manifest.yaml",
}


def create(directory: Path, name: str | None = None) -> list[Path]:
    """Write the scaffold of an environment.

    Args:
        directory: Where to; made when it is not there, and must be empty.
        name: Name of the environment; the folder's own when None.

    Returns:
        The files that were written.

    Raises:
        ArenaValidationError: The folder holds something, cannot be written, or the name cannot be
            used.
    """
    name = name or directory.resolve().name
    problem = name_problem("environment", name)
    if problem:
        raise ArenaValidationError(problem)
    values = {"name": name, "module": module_name(name), "class_name": class_name(name)}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise ArenaValidationError(
                f"The folder {str(directory)!r} is not empty; name one that is new."
            )
        return [_write(template, directory, values) for template in TEMPLATES]
    except OSError as error:
        raise ArenaValidationError(
            f"The folder {str(directory)!r} cannot be written: {error.strerror}."
        ) from None


def module_name(name: str) -> str:
    """Return a name as Python names modules: `my-env` as `my_env`."""
    found = re.sub(r"\W+", "_", name.lower()).strip("_")
    usable = found.isidentifier() and not keyword.iskeyword(found) and not _is_taken(found)
    return found if usable else f"env_{found}"


def _is_taken(module: str) -> bool:
    """Tell whether a module of that name would hide one that is installed, such as `numpy`."""
    if module in sys.stdlib_module_names:
        return True
    spec = importlib.util.find_spec(module)
    return spec is not None and "-packages" in (spec.origin or "")


def class_name(name: str) -> str:
    """Return a name as Python names classes: `my-env` as `MyEnv`."""
    words = [word for word in module_name(name).split("_") if word]
    found = "".join(word[0].upper() + word[1:] for word in words)
    return found if found.endswith("Env") else f"{found}Env"


def _write(template: str, directory: Path, values: dict[str, str]) -> Path:
    folder = resources.files("arena_sdk.scaffold") / "templates"
    text = (folder / template).read_text(encoding="utf-8")
    path = directory / TEMPLATES[template].format(**values)
    path.write_text(Template(text).substitute(values), encoding="utf-8")
    return path
