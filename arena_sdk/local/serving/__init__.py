"""What answers `/get_action`: observations in, one deterministic forward pass, actions out.

Runs inside a serve worker only (it loads a trained agent, thus torch). Start at `asgi.py`, which
uses `codec.py` (untrusted bodies to arrays) and `policy.py` (AgileRL agents without exploration).
"""
