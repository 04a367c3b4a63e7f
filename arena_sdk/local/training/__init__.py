"""AgileRL behind one seam: trains what a manifest says, as a population in parallel processes.

Imported in worker processes only; it imports no other part of the embedded Arena than the loading
of environments and the policy that is served. Start reading at `job.py` (how a train job comes up),
then `run.py` (generations), `executor.py` (the seam) and `member.py` (what happens beyond it, by
the family of the algorithm). Which algorithm can be trained on what is the table in `catalogue.py`.
"""
