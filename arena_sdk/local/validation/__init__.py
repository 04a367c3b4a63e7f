"""Judging other people's environments: finding entrypoints, loading, checking, measuring.

Only worker processes import user code, through `loading`; `entrypoints` reads sources without
running them and is the one part that the server itself uses. `guard` is the fence around a run.
Start reading at `report.py`, which says what the checks are, in which order they run.
"""
