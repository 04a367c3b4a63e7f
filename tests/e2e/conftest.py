"""Fixtures of the end-to-end tests: a real Arena, and the published client."""

from __future__ import annotations

from oracle import oracle_python

from tests.local.conftest import arena_server, fresh_arena

__all__ = ["arena_server", "fresh_arena", "oracle_python"]
