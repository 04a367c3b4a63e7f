"""Revisions of the tables, applied in order when the server starts."""
