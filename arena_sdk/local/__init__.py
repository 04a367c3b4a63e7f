"""The embedded Arena: a real Arena on this machine, speaking the same HTTP contract.

It may import the manifest and the wire models of the SDK, never the client or the dashboard; and
nothing but the commands that start it imports it. Start reading at `app.py`, then `services/`.
"""
