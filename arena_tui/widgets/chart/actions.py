"""What can be done to a chart by keys, as data."""

from __future__ import annotations

from arena_tui.commands import Action

SMOOTHING_STEPS = (0.0, 0.6, 0.9, 0.97, 0.99)
"""What the smoothing key goes through."""

ACTIONS: list[Action] = [
    Action("chart.log", "l", "Log", "Switch between a linear and a logarithmic y axis.", 4),
    Action("chart.smooth", "z", "Smooth", "Smooth the lines more, at last not at all.", 4),
    Action("chart.clip", "i", "Outliers", "Leave far outliers off the scale, and count them.", 6),
    Action("chart.follow", "f", "Follow", "Follow the latest point, or hold the view.", 5),
    Action("chart.guide", "g", "Guide", "Draw a level line at the value there, or drop it.", 8),
    Action("chart.series", "h", "Series", "Hide, isolate or pin series by their names.", 7),
    Action("chart.export", "e", "Export", "Write the picture or its data into a file.", 9),
    Action("chart.isolate", "v", "One", "Show one series after the other alone, then all.", 7),
    Action("chart.left", "left", "Crosshair", "Move the crosshair to the left.", 0, palette=False),
    Action("chart.right", "right", "Crosshair", "Move it to the right.", 0, palette=False),
    Action("chart.cross", "c", "Crosshair", "Show or hide the crosshair.", 6),
    Action("chart.zoom_in", "full_stop,shift+up", "Zoom in", "Show half as much of the x axis.", 6),
    Action("chart.zoom_out", "comma,shift+down", "Zoom out", "Show twice as much of it.", 0),
    Action("chart.pan_left", "left_square_bracket,shift+left", "Earlier", "Move the view back.", 0),
    Action("chart.pan_right", "right_square_bracket,shift+right", "Later", "Move it on.", 0),
    Action("chart.reset", "0", "Reset", "Show all points and follow.", 6),
    Action("chart.open", "enter", "Enlarge", "Show this chart alone, or all again.", 3),
]
