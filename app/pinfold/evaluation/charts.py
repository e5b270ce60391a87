"""Charts as inline SVG, coloured by the classes of `report.css` so that they follow its theme."""

from collections.abc import Sequence
from html import escape

from pinfold.evaluation.scores import Spread

_WIDTH, _HEIGHT = 220, 120
_LEFT, _RIGHT, _TOP, _BOTTOM = 26, 8, 8, 20
"""Of a panel: what its axes take at each side."""


def bar(share: float, kind: str = "") -> str:
    """A bar below a figure in a table, which tells the same: nothing to read aloud."""
    width = 100 * min(1.0, max(0.0, share))
    return (
        '<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="rail" width="100" height="4"/>'
        f'<rect class="{kind or "fill"}" width="{width:.1f}" height="4"/></svg>'
    )


def panel(name: str, points: Sequence[Spread | None], bands: Sequence[tuple[float, float]]) -> str:
    """A line over compactions, from 0 on, each known point with its range; `bands` belong to 1, 2
    and so on."""
    last = max(len(points) - 1, len(bands), 1)

    def x(at: float) -> float:
        return round(_LEFT + at * (_WIDTH - _LEFT - _RIGHT) / last, 1)

    def y(share: float) -> float:
        return round(_TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM), 1)

    known = [(at, point) for at, point in enumerate(points) if point is not None]
    told = ", ".join(
        f"{'before' if at == 0 else f'after {at}'} {point.mean:.2f}" for at, point in known
    )
    drawn = [
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(at)}" y2="{y(at)}"/>'
        f'<text class="tick end" x="{_LEFT - 5}" y="{y(at) + 3.5}">{at:g}</text>'
        for at in (0.0, 0.5, 1.0)
    ]
    drawn += [
        f'<text class="tick middle" x="{x(at)}" y="{_HEIGHT - 5}">{at}</text>'
        for at in range(last + 1)
    ]
    half = (x(1) - x(0)) * 0.3
    for at, (low, high) in enumerate(bands, 1):
        left, right = x(at) - half, min(x(at) + half, _WIDTH - 1)
        drawn.append(
            f'<rect class="band" x="{left:.1f}" width="{right - left:.1f}" y="{y(high)}" '
            f'height="{y(low) - y(high):.1f}"/>'
        )
    drawn += [
        f'<line class="range" x1="{x(at)}" x2="{x(at)}" y1="{y(point.low)}" y2="{y(point.high)}"/>'
        for at, point in known
        if point.high > point.low
    ]
    way = " ".join(f"{x(at)},{y(point.mean)}" for at, point in known)
    drawn.append(f'<polyline class="line" points="{way}"/>')
    drawn += [
        f'<circle class="dot" cx="{x(at)}" cy="{y(point.mean)}" r="3"/>' for at, point in known
    ]
    return _svg("panel", _WIDTH, _HEIGHT, f"{name}: {told}", drawn)


def strip(name: str, shares: Sequence[float], mean: float) -> str:
    """A dot for each share, one above the other where they meet, and a stroke at their mean."""
    width, height, radius = 320, 64, 2.6
    base = height - 6
    stacked: dict[int, int] = {}
    drawn = [f'<line class="grid" x1="4" x2="{width - 4}" y1="{base}" y2="{base}"/>']
    for share in sorted(shares):
        place = round(share * 50)
        level = stacked[place] = stacked.get(place, -1) + 1
        at = 6 + place * (width - 12) / 50
        drawn.append(
            f'<circle class="dot" cx="{at:.1f}" cy="{max(4, base - 4 - level * 5.4):.1f}" '
            f'r="{radius}"/>'
        )
    at = 6 + mean * (width - 12)
    drawn.append(f'<line class="mean" x1="{at:.1f}" x2="{at:.1f}" y1="2" y2="{base + 4}"/>')
    told = f"{name}: {len(shares)} cuts, from {min(shares):.2f} to {max(shares):.2f}"
    return _svg("strip", width, height, f"{told}, mean {mean:.2f}", drawn)


def _svg(kind: str, width: int, height: int, told: str, drawn: Sequence[str]) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(told)}"><title>{escape(told)}</title>{"".join(drawn)}</svg>'
    )
