"""The dashboard of Arena for people who live in a terminal: `arena-tui`.

It imports `arena_sdk` (never the reverse) and Textual. Start reading at `app.py`, then
`registry.py` for what screens there are, `stores/` for where data come from and
`screens/base.py` for the frame.
"""
