"""What the frame of a chart says about what is in it."""

from __future__ import annotations

from arena_tui.safetext import safe_text
from arena_tui.widgets.chart.axes import elapsed_label, moment_label, si_number
from arena_tui.widgets.chart.parts import Options, Picture
from arena_tui.widgets.chart.view import View


def status_text(picture: Picture, view: View, options: Options, alone: str | None = None) -> str:
    """Return the state of a chart in a few words; nothing that is not so is named."""
    style = options.style
    parts: list[str] = []
    if options.crosshair is not None and picture.window is not None:
        time = options.x_kind == "time"
        if options.x_kind == "elapsed":
            place = elapsed_label(options.crosshair)
        else:
            place = moment_label(options.crosshair) if time else _exact(options.crosshair)
        parts.append(f"{safe_text(options.x_label, 24)} {place}")
        parts.extend(picture.notes[:2])
    off = [
        f"{mark}{count}"
        for mark, count in ((style.up, picture.above), (style.down, picture.below))
        if count
    ]
    if off:
        parts.append(" ".join(off) + " off scale")
    elif options.clip and picture.window is not None:
        parts.append("no outliers")
    parts.extend(picture.beyond[:2])
    if picture.unlogged:
        parts.append(f"{picture.unlogged} not above 0")
    if picture.gaps:
        parts.append(f"{style.gap}{picture.gaps} no number")
    if options.log:
        parts.append("log")
    if options.smoothing and not options.heat:
        parts.append(f"smooth {options.smoothing:g}")
    if alone is not None:
        parts.append("one alone")
    if not view.follow:
        parts.append("hold")
    elif view.span is not None:
        parts.append("zoom")
    return style.text(" · ".join(parts))


def _exact(value: float) -> str:
    """Return a step count in full, any other number short."""
    whole = float(value).is_integer()
    return f"{int(value):,}" if whole and abs(value) < 1e12 else si_number(value, 6)
