"""Charts that rasterize NumPy data into character cells themselves.

Drawing libraries were measured first (160×45 cells, braille, CPU ms a redraw, 2 cores): with 8
series of 12,500 noisy points textual-plotext took 1,370, textual-plot 720 and plotext 6.1 1,350,
against 29 for minimum and maximum per half column drawn by NumPy; and they grow with the points,
which a pyramid of minima and maxima does not. Start reading at `chart.py`.
"""

from arena_tui.widgets.chart.chart import Chart
from arena_tui.widgets.chart.series import Guide, Mark

__all__ = ["Chart", "Guide", "Mark"]
