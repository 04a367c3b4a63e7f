"""What a requirements.txt asks for, what of it is here already, and what a resolver's words mean.

The training stack (AgileRL, torch, Gymnasium and all that they need) is fixed: an environment is
trained in the process that holds both. So requirements are resolved with the stack's versions as
constraints, and only what it lacks is installed.
"""

from __future__ import annotations

import importlib.metadata as metadata
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

STACK_ROOTS = (
    "agilerl",
    "gymnasium",
    "numpy",
    "peft",
    "pettingzoo",
    "pillow",
    "psutil",
    "pydantic",
    "pyyaml",
    "torch",
    "uvicorn",
)
INDEX_OPTIONS = ("--index-url", "-i", "--extra-index-url", "--find-links", "-f", "--pre")
LAST_LINES = 12


class InstallError(Exception):
    """Requirements that could not be installed.

    Args:
        message: One sentence: what, why, and what to do.
        reason: `incompatible`, `missing`, `offline`, `build`, `timeout`, `invalid` or `failed`.
        package: The package that it is about, where one is.
        lines: The resolver's own last lines.
    """

    def __init__(
        self, message: str, reason: str, package: str | None = None, lines: list[str] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.package = package
        self.lines = lines or []

    def detail(self) -> dict[str, object]:
        """Return the detail of a `failed` status."""
        return {
            "error_code": "INSTALL_FAILED",
            "package": self.package,
            "reason": self.reason,
            "resolver": self.lines,
        }


@dataclass(frozen=True)
class Pin:
    """One package that a resolution settled on.

    Attributes:
        name: Canonical name.
        version: Version, or the URL that it comes from.
        line: The line of the resolution without its comment.
        parents: Names of what needs it.
        direct: True when the requirements name it themselves.
    """

    name: str
    version: str
    line: str
    parents: tuple[str, ...]
    direct: bool


def requirement_lines(text: str) -> list[str]:
    """Return the requirements of a file: no comments, no blank lines, continued lines joined.

    Raises:
        InstallError: It refers to other files, which are not there.
    """
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    lines = []
    for raw in joined.splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        if not line:
            continue
        option = line.split("=")[0].split()[0]
        if line.startswith("-") and option not in INDEX_OPTIONS:
            raise InstallError(
                f"requirements.txt has the line {line!r}, which cannot be followed here; write the"
                " packages themselves.",
                "invalid",
            )
        if not line.startswith("-"):
            _check(line)
        lines.append(line)
    return lines


def _check(line: str) -> None:
    try:
        Requirement(line)
    except InvalidRequirement as error:
        if "://" in line:  # a bare URL, which the resolver knows
            return
        reason = str(error).splitlines()[0]
        raise InstallError(
            f"requirements.txt has the line {line!r}, which is no requirement ({reason}).",
            "invalid",
        ) from None


def missing(lines: list[str]) -> list[str]:
    """Return the lines that what is installed here does not already satisfy."""
    return [line for line in lines if not line.startswith("-") and not _is_satisfied(line)]


def _is_satisfied(line: str) -> bool:
    try:
        return _satisfied(Requirement(line), set())
    except InvalidRequirement:
        return False


def _satisfied(requirement: Requirement, seen: set[str]) -> bool:
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return True
    if requirement.url is not None:
        return False
    version = installed().get(canonicalize_name(requirement.name))
    if version is None or not requirement.specifier.contains(version, prereleases=True):
        return False
    for extra in requirement.extras:
        key = f"{requirement.name}[{extra}]"
        if key in seen:
            continue
        seen.add(key)
        for needed in _requires(requirement.name):
            wanted = needed.marker is not None and needed.marker.evaluate({"extra": extra})
            if wanted and not needed.marker.evaluate({"extra": ""}):  # type: ignore[union-attr]
                bare = Requirement(str(needed).split(";")[0])
                if not _satisfied(bare, seen):
                    return False
    return True


@cache
def installed() -> dict[str, str]:
    """Return what is installed here: versions by canonical name, without local labels."""
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found.setdefault(canonicalize_name(name), Version(distribution.version).public)
    return found


@cache
def stack() -> dict[str, str]:
    """Return the training stack: versions by name of its roots and all that they need."""
    todo = [canonicalize_name(name) for name in STACK_ROOTS]
    here = installed()
    found: dict[str, str] = {}
    while todo:
        name = todo.pop()
        if name in found or name not in here:
            continue
        found[name] = here[name]
        for needed in _requires(name):
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                todo.append(canonicalize_name(needed.name))
    return found


def _requires(name: str) -> Iterator[Requirement]:
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    for line in lines:
        yield Requirement(line)


def constraints() -> str:
    """Return the stack as a constraints file."""
    return "".join(f"{name}=={version}\n" for name, version in sorted(stack().items()))


def ranges() -> str:
    """Return what the stack allows as a constraints file: its roots fixed, the rest in range.

    An environment may so bring another version of a package that the stack needs only in some
    version, such as a printer of tables.
    """
    roots = {canonicalize_name(name) for name in STACK_ROOTS}
    here = stack()
    lines = {f"{name}=={version}" for name, version in here.items() if name in roots}
    for requirer in here:
        for needed in _requires(requirer):
            name = canonicalize_name(needed.name)
            applies = needed.marker is None or needed.marker.evaluate({"extra": ""})
            if applies and name in here and name not in roots and needed.specifier:
                lines.add(f"{name}{needed.specifier}")
    return "".join(f"{line}\n" for line in sorted(lines))


def parse_resolution(text: str) -> list[Pin]:
    """Read what `uv pip compile --annotation-style line` printed."""
    pins = []
    for raw in text.splitlines():
        line, _, comment = raw.partition("#")
        line = line.strip()
        if not line or line.startswith("-"):
            continue
        name, _, version = line.partition(" @ ") if " @ " in line else line.partition("==")
        parents = [part.strip() for part in comment.removeprefix(" via").split(",")]
        direct = any(part.startswith("-r ") for part in parents)
        by_name = tuple(canonicalize_name(part) for part in parents if not part.startswith("-"))
        pins.append(
            Pin(
                canonicalize_name(name.split("[")[0].strip()),
                version.split(";")[0].strip(),
                line,
                by_name,
                direct,
            )
        )
    return pins


def to_install(pins: list[Pin], lines: list[str]) -> list[Pin]:
    """Return the pins that are not here and that something not here needs.

    What only a package needs that is here already (the GPU libraries of a published torch, where
    ours is a CPU build) is left out.

    Args:
        pins: The resolution.
        lines: The requirements; one with an extra needs more than the package that is here.
    """
    here = installed()
    satisfied = {pin.name for pin in pins if here.get(pin.name) == pin.version.split("+")[0]}
    extended = {canonicalize_name(_name(line) or "") for line in lines if "[" in line}
    todo = [
        pin for pin in pins if pin.direct and (pin.name not in satisfied or pin.name in extended)
    ]
    reached: set[str] = set()
    while todo:
        pin = todo.pop()
        if pin.name not in reached:
            reached.add(pin.name)
            todo.extend(p for p in pins if pin.name in p.parents and p.name not in satisfied)
    return [pin for pin in pins if pin.name in reached - satisfied]


def explain_failure(output: str, lines: list[str]) -> InstallError:
    """Say what a resolver's or installer's failure means.

    Args:
        output: What it printed.
        lines: The requirements.
    """
    last = [line.rstrip() for line in output.splitlines() if line.strip()][-LAST_LINES:]
    text = " ".join(line.strip() for line in last)
    absent = re.search(r"Because ([\w.\-\[\]]+) was not found in the package registry", text)
    if absent:
        name = absent[1]
        return InstallError(
            f"The package {name!r} was not found in the package index; check its spelling in"
            " requirements.txt.",
            "missing",
            name,
            last,
        )
    lowered = text.lower()
    if any(sign in lowered for sign in OFFLINE_SIGNS):
        host = re.search(r"https?://[^\s/)`]+", text)
        where = f" at {host[0]}" if host else ""
        return InstallError(
            f"The package index{where} could not be reached, so the requirements were not"
            " installed; check the network and try again.",
            "offline",
            None,
            last,
        )
    unknown = re.search(
        r"there (?:is|are) (?:no version|only the following versions) of (\S+)", text
    )
    if unknown:
        return InstallError(
            f"The package index has no release {unknown[1]}; change the version in"
            " requirements.txt.",
            "missing",
            _name(unknown[1]),
            last,
        )
    if "failed to build" in lowered or "build backend" in lowered:
        built = re.search(r"[Ff]ailed to (?:download and )?build `?([\w.\-]+)", text)
        what = f"The package {built[1]!r}" if built else "A required package"
        return InstallError(
            f"{what} could not be built from its source.",
            "build",
            built[1] if built else None,
            last,
        )
    if "unsatisfiable" in lowered or "no solution found" in lowered:
        return _conflict(text, lines, last)
    return InstallError("The requirements could not be installed.", "failed", None, last)


OFFLINE_SIGNS = (
    "failed to fetch",
    "error sending request",
    "dns error",
    "connection refused",
    "network was disabled",
    "network connectivity is disabled",
    "timed out",
)


def _name(requirement: str) -> str | None:
    match = re.match(r"[\w.\-]+", requirement)
    return match[0] if match else None


def _conflict(text: str, lines: list[str], last: list[str]) -> InstallError:
    """Name the requirement and the package of the stack that exclude each other."""
    fixed = stack()
    for name, version in sorted(fixed.items(), key=lambda item: -len(item[0])):
        if not re.search(rf"(?<![\w.\-]){re.escape(name)}=={re.escape(version)}(?![\w.])", text):
            continue
        # The requirement that is to blame, by its own name, else the one that it is.
        guilty = next(
            (line for line in lines if _name(line) and f" {_name(line)}" in f" {text}"), name
        )
        package = canonicalize_name(_name(guilty) or name)
        return InstallError(
            f"The requirement {guilty!r} cannot be met beside {name} {version}, which the training"
            " stack here needs; loosen it or leave it out.",
            "incompatible",
            package,
            last,
        )
    blamed = next((line for line in lines if (_name(line) or "?") in text), "")
    return InstallError(
        "The requirements exclude each other; see the resolver's lines.",
        "incompatible",
        _name(blamed),
        last,
    )
