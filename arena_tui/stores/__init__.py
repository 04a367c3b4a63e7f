"""What screens watch: data of the service, kept, aged, polled and streamed.

Stores import the client and NumPy, never Textual and never a widget, so that every one of them can
be tested without a terminal. Start reading at `base.py`, then `hub.py`, which owns them all.
"""
