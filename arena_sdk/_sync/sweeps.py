# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/sweeps.py; change that one.
"""Sweeps: several experiments of one manifest, submitted one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arena_sdk._files import PathLike
from arena_sdk._sync.experiments import Experiments
from arena_sdk.answers import Submission
from arena_sdk.errors import ArenaTrainingError
from arena_sdk.sweeps import Child, expand, free_name

CONFLICT = 409
ATTEMPTS = 20
"""How many names are tried for a child: those of other projects are not listed."""


class Sweeps(Experiments):
    """Training runs, singly and in sweeps."""

    def submit_sweep(
        self,
        manifest: PathLike | dict[str, Any],
        *,
        overrides: Mapping[str, Any] | None = None,
        seeds: Iterable[int] = (),
        grid: Mapping[str, Sequence[Any]] | None = None,
        project: str | None = None,
        experiment_name: str | None = None,
        **submission: Any,
    ) -> list[Submission]:
        """Submit an experiment for each point of a grid, with each seed.

        Every child is checked before the first is submitted. Names that are made up get an ending
        such as `-2` where an experiment has them already; names from `experiment_name` do not.

        Example:
            >>> runs = client.submit_sweep(
            ...     "dqn.yaml", project="walk", seeds=[1, 2], grid={"algorithm.lr": [1e-3, 1e-4]}
            ... )
            >>> [run["experiment_name"] for run in runs]

        Args:
            manifest: A YAML or JSON file, or the manifest itself.
            overrides: What is changed in every child, by dotted path.
            seeds: A child for each of them.
            grid: Values by dotted path; a child for each combination.
            project: The default project when None.
            experiment_name: What the children's names begin with.
            **submission: The rest of what `submit_experiment` takes.

        Returns:
            The answer to each child, with its `experiment_name` and `overrides`; of one that was
            refused after others were taken, `accepted` false and the `error`, and no more after it.

        Raises:
            ArenaConfigError: A path is no path of a manifest, or is given twice.
            ManifestError: A child is not valid.
            ArenaTrainingError: The first child was not accepted; or, with `experiment_name`, there
                is an experiment of a child's name.
        """
        children = expand(
            manifest, overrides=overrides, seeds=seeds, grid=grid, name=experiment_name
        )
        many = len(children) > 1
        taken = {str(row["name"]) for row in self.list_experiments(project)} if many else ()
        known = set(taken)
        if experiment_name is not None:
            _refuse_taken(children, known)
        apart = many and experiment_name is None
        answers: list[Submission] = []
        for child in children:
            try:
                answer = self._submit_child(child, known, project, submission, apart=apart)
            except ArenaTrainingError as error:
                if not answers:
                    raise
                refused = {"experiment_name": child.name, "accepted": False, "error": str(error)}
                answers.append(Submission({**refused, "overrides": child.overrides}))
                break
            answers.append(answer)
        return answers

    def _submit_child(
        self,
        child: Child,
        known: set[str],
        project: str | None,
        submission: Mapping[str, Any],
        *,
        apart: bool,
    ) -> Submission:
        """Submit a child; with `apart` under the next name that is free."""
        for _ in range(ATTEMPTS):
            name = child.name
            if apart and name is not None:
                name = free_name(name, known)
                known.add(name)
            try:
                answer = self.submit_experiment(
                    child.manifest,
                    project=project,
                    experiment_name=name,
                    overrides=child.overrides,
                    **submission,
                )
            except ArenaTrainingError as error:
                if apart and error.status_code == CONFLICT:
                    continue
                raise
            said = {"experiment_name": name} if name is not None else {}
            return Submission({**said, **answer, "overrides": child.overrides})
        raise ArenaTrainingError(
            f"No free name was found for {child.name!r}; give another --experiment-name.",
            status_code=CONFLICT,
        )


def _refuse_taken(children: Sequence[Child], known: set[str]) -> None:
    """Refuse a sweep that was submitted before under the name that was given for it."""
    taken = [child.name for child in children if child.name in known]
    if taken:
        more = f" and {len(taken) - 1} more of this sweep exist" if taken[1:] else " exists"
        raise ArenaTrainingError(
            f"An experiment named {taken[0]!r}{more} already; choose another name for the sweep.",
            status_code=CONFLICT,
            hint_python="Pass another experiment_name.",
            hint_cli="Give another --experiment-name.",
        )
