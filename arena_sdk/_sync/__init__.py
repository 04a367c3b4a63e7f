# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/__init__.py; change that one.
"""The one hand-written client. `arena_sdk._sync` is generated from it: change this one only.

Start reading at `client.py`; endpoints are grouped by resource, all over `transport.py`.
"""
