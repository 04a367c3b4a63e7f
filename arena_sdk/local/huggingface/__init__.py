"""What this machine's Hugging Face cache holds, read as files; nothing is downloaded or loaded.

`cache.py` knows the layout of the cache, `models.py` describes a model by its configuration and
the headers of its weights, `datasets.py` finds the files of a dataset's configuration and split.
"""
