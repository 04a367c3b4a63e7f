"""What runs in a worker process, and only there: user code is never imported in the server.

Start reading at `channel.py`, the protocol between a worker and `jobs.py`; then one module a kind
of work, each with `main(payload, channel)`.
"""
