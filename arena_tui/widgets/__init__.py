"""Reusable parts of the dashboard, which know nothing of Arena, its client or its stores.

They import Textual, NumPy, `arena_tui.{theme,plotstyle,safetext,format,commands}` and each other.
Start reading at `chart/chart.py` for charts, `rows.py` for tables, `dialogs.py` for dialogs.
"""
