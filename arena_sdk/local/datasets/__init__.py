"""Datasets of language tasks: which files may come in, and what is in them.

Nothing here knows the store or HTTP. Reading happens in a worker (`workers/dataset.py`), so that a
file of gigabytes, or one made to break its reader, costs the server nothing. Start at
`reading.py`; `naming.py` judges the names that files come under.
"""
