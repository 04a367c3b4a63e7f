"""From what was sent to a run that can start: everything that can be refused is refused here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from arena_sdk.local.paths import DataPaths
from arena_sdk.local.run_options import RunOptions, read_options
from arena_sdk.local.store import experiments as store
from arena_sdk.local.store import projects
from arena_sdk.local.store.models import Experiment, Project
from arena_sdk.local.training.catalogue import ALGORITHMS
from arena_sdk.local.training.errors import TrainingError
from arena_sdk.local.training.spec import listing, read_manifest
from arena_sdk.names import name_problem

from .naming import stem_for
from .queue import Capacity
from .recorded import bandit_of, with_dataset
from .refusals import conflict, invalid, not_found
from .resolve import ResolvedEnvironment, resolve_environment

LOCAL_RESOURCE = "local"
MOST_OVERRIDES = 100


@dataclass(frozen=True)
class Submission:
    """What a client sent.

    Attributes:
        manifest: The training manifest.
        resource_id: A tier's key; empty for this machine.
        num_nodes: How many nodes were asked for.
        project: The project's name.
        experiment_name: A name, or empty for a generated one.
        has_reward_file: Whether a reward file came with it.
        options: How it is to be run, beyond the manifest; see `run_options`.
        overrides: What a sweep changed in the manifest, by dotted path, to be recorded.
    """

    manifest: Any
    resource_id: str
    num_nodes: Any
    project: str
    experiment_name: str
    has_reward_file: bool = False
    options: Any = None
    overrides: Any = None


@dataclass
class Accepted:
    """A submission that became an experiment."""

    experiment_id: int
    name: str
    project: str
    algorithm: str
    environment: ResolvedEnvironment
    records: list[store.RecordData]
    warnings: list[str] = field(default_factory=list)


def accept(
    session: Session,
    paths: DataPaths,
    submission: Submission,
    tiers: dict[str, Any],
    cluster: str | None = None,
    capacity: Capacity | None = None,
) -> Accepted:
    """Check a submission and make the experiment, queued.

    Args:
        session: A transaction that may write.
        paths: The data folder.
        submission: What was sent.
        tiers: The resources by key; the local one and the hosted price list.
        cluster: Address of the cluster that runs train on; None for this machine.
        capacity: What a run may take at most; without a limit when None.

    Raises:
        ApiError: With a sentence, when any of it cannot be taken.
    """
    payload = checked_manifest(submission.manifest)
    algorithm = checked_algorithm(payload)
    if submission.has_reward_file:
        raise invalid(
            f"A reward file is for reasoning runs of language models; {algorithm} takes none.",
            "REWARD_FILE_UNSUPPORTED",
        )
    options = _options(submission.options, None if cluster else capacity)
    overrides = _overrides(submission.overrides)
    project = _project(session, submission.project)
    environment = _environment(session, paths, payload)
    warnings = _placement(submission, tiers, cluster) + _doubts(payload)
    name = _name(session, submission.experiment_name, algorithm, environment.name)
    training = payload["training"]
    experiment = Experiment(
        name=name,
        project_id=project.id,
        manifest=payload,
        algorithm=algorithm,
        environment=environment.name,
        environment_version=environment.version,
        resource_id=submission.resource_id or LOCAL_RESOURCE,
        num_nodes=submission.num_nodes or 1,
        state="queued",
        warnings=[],
        fitness_history=[],
        generation=0,
        steps=0,
        total_steps=0,
        last_seq=0,
        max_steps=int(training["max_steps"]),
        target_score=training.get("target_score"),
        pop_size=int(training.get("pop_size", 1)),
        options=options,
        overrides=overrides,
    )
    session.add(experiment)
    session.flush()
    records = store.change_state(session, experiment, "queued")
    for message in warnings:
        records += store.add_warning(session, experiment, message)
    return Accepted(experiment.id, name, project.name, algorithm, environment, records, warnings)


def checked_manifest(manifest: Any) -> dict[str, Any]:
    """Return the manifest's payload: filled in, canonical, without nulls.

    Raises:
        ApiError: 422 with what is wrong, when it is not valid or asks for what the engine here
            does not do.
    """
    from arena_sdk.manifest import ManifestError, TrainingManifest

    if not isinstance(manifest, dict):
        raise invalid("The manifest must be a JSON object.", "INVALID_MANIFEST")
    try:
        payload: dict[str, Any] = TrainingManifest.load(manifest).payload()
    except ManifestError as problem:
        raise invalid(str(problem), "INVALID_MANIFEST") from None
    return payload


def _doubts(payload: dict[str, Any]) -> list[str]:
    """Return what is valid in a manifest and yet hardly meant."""
    from arena_sdk.manifest import TrainingManifest

    return [str(problem) for problem in TrainingManifest.load(payload).warnings]


def checked_algorithm(payload: dict[str, Any]) -> str:
    """Return the algorithm's name.

    Raises:
        ApiError: 422 when the engine here does not train it, or not as the manifest asks.
    """
    name = str(payload["algorithm"]["name"])
    if name not in ALGORITHMS:
        raise invalid(
            f"The embedded Arena trains {listing()}; {name} runs on hosted Arena only.",
            "UNSUPPORTED_ALGORITHM",
            supported=list(ALGORITHMS),
        )
    try:
        read_manifest({"manifest": payload})
    except TrainingError as problem:
        raise invalid(str(problem), problem.error_code) from None
    return name


def _options(given: Any, capacity: Capacity | None) -> dict[str, Any] | None:
    try:
        found = read_options(given)
    except ValueError as problem:
        raise invalid(str(problem), "INVALID_OPTIONS") from None
    excess = None if capacity is None else _excess(found, capacity)
    if excess is not None:
        raise invalid(excess, "INVALID_OPTIONS")
    return found.model_dump(exclude_defaults=True) or None


def _excess(options: RunOptions, capacity: Capacity) -> str | None:
    """Say what a run asks for that can never come free here, however long it waits."""
    cpus, memory = options.cpus or 0, options.memory_gb or 0.0
    if cpus > capacity.cpus:
        have = "1 core" if capacity.cpus == 1 else f"{capacity.cpus} cores"
        return (
            f"options.cpus: {cpus} cores are asked for and this Arena gives runs {have}; ask for"
            f" --cpus {capacity.cpus} at most (`arena local up --cpus N` sets what it gives)."
        )
    if memory > capacity.memory_gb:
        most = math.floor(capacity.memory_gb * 10) / 10 or capacity.memory_gb
        return (
            f"options.memory_gb: {memory:g} GiB are asked for and this Arena gives runs {most:g};"
            f" ask for --memory-gb {most:g} at most (`arena local up --memory-gb G` sets what it"
            " gives)."
        )
    return None


def _overrides(given: Any) -> dict[str, Any] | None:
    if given is None:
        return None
    if not isinstance(given, dict) or len(given) > MOST_OVERRIDES:
        raise invalid(
            f"overrides must be an object of at most {MOST_OVERRIDES} paths.", "INVALID_OVERRIDES"
        )
    return given or None


def _project(session: Session, name: str) -> Project:
    if not name:
        raise invalid(
            "Name the project that the experiment belongs to (--project, or `arena projects"
            " set-default NAME`).",
            "PROJECT_REQUIRED",
        )
    project = projects.by_name(session, name)
    if project is None:
        known = projects.names(session)
        have = f"the projects are {', '.join(known)}" if known else "there is none yet"
        raise not_found(
            f"No project is named {name!r}; {have}. `arena projects create {name}` makes it.",
            "PROJECT_NOT_FOUND",
        )
    return project


def manifest_environment(
    session: Session, paths: DataPaths, payload: dict[str, Any], version: str | None = None
) -> ResolvedEnvironment:
    """Return the environment that a manifest names."""
    section, known = payload["environment"], ALGORITHMS.get(payload["algorithm"]["name"])
    if section.get("env_type") == "bandit":
        return bandit_of(section, payload.get("training", {}))
    stated = section.get("version")
    found = resolve_environment(
        session,
        paths,
        str(section["name"]),
        version=version or (None if stated in (None, "") else str(stated)),
        entrypoint=section.get("entrypoint") or None,
        env_config=section.get("env_config"),
        several=known.multi_agent if known is not None else None,
    )
    return with_dataset(found, section) if section.get("env_type") == "offline" else found


def _environment(
    session: Session, paths: DataPaths, payload: dict[str, Any]
) -> ResolvedEnvironment:
    return manifest_environment(session, paths, payload)


def _placement(submission: Submission, tiers: dict[str, Any], cluster: str | None) -> list[str]:
    """Return what the user should know about where it runs."""
    nodes = submission.num_nodes
    if nodes is not None and (
        isinstance(nodes, bool) or not isinstance(nodes, int) or not 1 <= nodes <= 10_000
    ):
        raise invalid("num_nodes must be a whole number from 1 up.", "INVALID_NUM_NODES")
    resource = submission.resource_id or LOCAL_RESOURCE
    if resource not in tiers:
        raise not_found(
            f"No resource is named {resource!r}; there are {', '.join(tiers)}.",
            "RESOURCE_NOT_FOUND",
        )
    if resource != LOCAL_RESOURCE:
        place = f"the Ray cluster at {cluster}" if cluster else f"this machine ({LOCAL_RESOURCE})"
        return [
            f"Resource {resource} belongs to hosted Arena; the run trains on {place}, free of"
            " charge."
        ]
    if cluster is not None:
        return []  # how many nodes it has is seen when the run begins
    if nodes is not None and nodes > 1:
        return [f"{nodes} nodes were asked for; the embedded Arena has one, this machine."]
    return []


def _name(session: Session, asked: str, algorithm: str, environment: str) -> str:
    if not asked:
        return store.free_name(session, stem_for(algorithm, environment))
    problem = name_problem("experiment", asked)
    if problem is not None:
        raise invalid(problem, "INVALID_NAME")
    if store.by_name(session, asked) is not None:
        raise conflict(
            f"An experiment named {asked!r} exists already; choose another name, or resume it"
            f" with `arena experiments resume {asked} --max-steps N`.",
            "NAME_TAKEN",
        )
    return asked
