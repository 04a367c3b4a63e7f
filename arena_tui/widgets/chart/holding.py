"""What a chart holds: its series, band, marks and guides, and which of them are shown."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from arena_tui.theme import SeriesStyle, numbered_style
from arena_tui.widgets.chart.series import Band, Guide, Mark, Series

BAND = "band"
"""Id under which the band is hidden."""


class Holding:
    """The data of a chart. What draws them says how by `_changed`."""

    isolated: str | None
    """Id of the series that is shown alone, or None."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        self._series: dict[str, Series] = {}
        self._marks: tuple[Mark, ...] = ()
        self._guides: tuple[Guide, ...] = ()
        self._band: Band | None = None
        self.isolated = None
        self.hidden: set[str] = set()
        self.pinned: set[str] = set()

    def _changed(self, now: bool = False) -> None:
        """Draw again: at once, or soon."""

    @property
    def series_ids(self) -> list[str]:
        """Ids of the series, those drawn beneath first."""
        return list(self._series)

    def has_series(self, sid: str) -> bool:
        """Tell whether there is a series of this id."""
        return sid in self._series

    def set_series(
        self, sid: str, label: str, x: ArrayLike, y: ArrayLike, style: SeriesStyle | None = None
    ) -> None:
        """Replace all points of a series, or make one.

        Where x goes back, what was there before is replaced: steps that are done again count once.
        Points that only continue those there are cost no more than an `append`.

        Args:
            sid: Its id.
            label: Its name in the legend.
            x: Places, shape (n,); those that are no number are dropped.
            y: Values, shape (n,); NaN, infinity and None are gaps, and marked.
            style: How it looks; by its order among the series when left out.
        """
        series = self._series.get(sid)
        if series is None:
            series = Series(label, style or numbered_style(len(self._series)))
            self._series[sid] = series
            changed = True
        else:
            changed = label != series.label or (style is not None and style != series.style)
            series.label, series.style = label, style or series.style
        if series.replace(x, y) or changed:
            self._changed()

    def append(self, sid: str, x: ArrayLike, y: ArrayLike) -> None:
        """Add points at the end of a series; raises KeyError when there is none of this id.

        Args:
            sid: Its id.
            x: Places, a number or shape (n,). Steps done again replace what was there.
            y: Values, as many.
        """
        if self._series[sid].append(x, y):
            self._changed()

    def remove_series(self, sid: str) -> None:
        """Forget a series; one that is not there is no error."""
        if self._series.pop(sid, None) is not None:
            self._changed()

    def clear(self) -> None:
        """Forget all series, marks and guides, and the band; what is hidden or pinned stays so."""
        self._series.clear()
        self._marks, self._guides, self._band = (), (), None
        self.isolated = None
        self._changed()

    def last(self, sid: str) -> tuple[float, float] | None:
        """Return the last point of a series as (x, y), None when there is none."""
        series = self._series.get(sid)
        return series.last() if series else None

    def set_hidden(self, sid: str, hidden: bool) -> None:
        """Leave a series out, or show it again; this holds for one that comes later, too."""
        if hidden != (sid in self.hidden):
            self.hidden ^= {sid}
            self._changed(now=True)

    def isolate(self, sid: str | None) -> None:
        """Show one series alone, or all again."""
        self.isolated = sid
        self._changed(now=True)

    def set_marks(self, marks: Sequence[Mark]) -> None:
        """Replace the marks on the x axis."""
        if tuple(marks) != self._marks:
            self._marks = tuple(marks)
            self._changed()

    def set_guides(self, guides: Sequence[Guide]) -> None:
        """Replace the level lines."""
        if tuple(guides) != self._guides:
            self._guides = tuple(guides)
            self._changed()

    @property
    def guides(self) -> tuple[Guide, ...]:
        """The level lines."""
        return self._guides

    def set_band(
        self, label: str, x: ArrayLike, low: ArrayLike, high: ArrayLike, style: SeriesStyle
    ) -> None:
        """Shade what lies between two lines over the same places, shape (n,) each."""
        if self._band is None:
            self._band = Band(label, style)
        if self._band.replace(x, low, high):
            self._changed()

    @property
    def band(self) -> Band | None:
        """What is shaded, shown or not; it is hidden under the id `BAND`."""
        return self._band

    def drop_band(self) -> None:
        """Shade nothing."""
        if self._band is not None:
            self._band = None
            self._changed()

    def set_pinned(self, sid: str, pinned: bool) -> None:
        """Keep a series in sight and above all others, or not."""
        if pinned != (sid in self.pinned):
            self.pinned ^= {sid}
            self._changed(now=True)

    def label_of(self, sid: str) -> str:
        """Return a series' name."""
        return self._series[sid].label

    def style_of(self, sid: str) -> SeriesStyle:
        """Return a series' look."""
        return self._series[sid].style

    def shown_series(self) -> list[Series]:
        """Return the series that are drawn, those beneath first and pinned ones last."""
        if self.isolated in self._series:
            wanted = [sid for sid in self._series if sid in self.pinned or sid == self.isolated]
        else:
            wanted = [sid for sid in self._series if sid not in self.hidden]
        wanted.sort(key=lambda sid: sid in self.pinned)
        return [self._series[sid] for sid in wanted]

    def shown_band(self) -> Band | None:
        """Return the band, unless one series is shown alone."""
        hidden = self.isolated in self._series or BAND in self.hidden
        return None if hidden else self._band
