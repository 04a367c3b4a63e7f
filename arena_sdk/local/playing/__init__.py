"""What a play worker does: episodes of an environment, by a served agent and by chance.

`pacing.py` is the remote control (pause, step, speed, reset, stop), `agent.py` asks the served
agent over HTTP, `frames.py` makes pictures small, `session.py` plays. Runs in a worker only.
"""
