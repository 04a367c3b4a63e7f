"""Reward files of reasoning runs: `reward(question, answer, completion)`, tried once.

The file runs in a worker (`workers/reward.py`), in a guarded child of it; start at `trial.py`.
"""
