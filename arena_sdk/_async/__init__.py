"""The one hand-written client. `arena_sdk._sync` is generated from it: change this one only.

Start reading at `client.py`; endpoints are grouped by resource, all over `transport.py`.
"""
