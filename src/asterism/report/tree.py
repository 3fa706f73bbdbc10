"""The tree of layers as a static picture: lines and words that stand in the page, on paper and without a script."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from asterism.report.summary import LayersDict

WIDTH, LABELS, RIGHT = (
    720.0,
    250.0,
    24.0,
)  # convention: of the picture, of the names, and of what is left of the root
ROW, TOP, BOTTOM = 26.0, 10.0, 40.0
LONGEST = 32  # characters of a name
TICKS = 4  # at the most


@dataclass(frozen=True)
class _Node:
    """What joins have made so far."""

    y: float
    x: float  # where it was joined
    group: int | None  # of all its parts; None: of several groups


def tree_picture(layers: LayersDict, names: list[str], palette: tuple[str, ...]) -> Markup:
    """An SVG of parts, groups and groups of groups, joined at the distance between them."""
    order = _order(layers)
    most = max(join[2] for join in layers["joins"]) or 1.0
    scale = (WIDTH - LABELS - RIGHT) / (1.02 * most)
    height = TOP + ROW * len(order) + BOTTOM
    tone = [palette[g % len(palette)] for g in range(len(names))]
    nodes = {
        part: _Node(TOP + ROW * (place + 0.5), LABELS, layers["groups"][part])
        for place, part in enumerate(order)
    }
    lines = [_words(layers, part, node, names, tone) for part, node in nodes.items()]
    of = list(range(len(order)))
    for a, b, apart in layers["joins"]:
        one, other = nodes[of[a]], nodes[of[b]]
        x = max(LABELS + scale * apart, one.x, other.x)
        group = one.group if one.group == other.group else None
        ink = "var(--faint)" if group is None else tone[group]
        lines.append(
            Markup(
                '<path d="M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}" fill="none" stroke="{}" stroke-width="2"/>'
            ).format(one.x, one.y, x, other.y, other.x, ink)
        )
        nodes[of[a]] = _Node((one.y + other.y) / 2, x, group)
        of = [of[a] if this == of[b] else this for this in of]
    label = f"Tree of {len(order)} parts in {len(names)} groups, joined where they are near"
    return Markup(
        '<svg class="layers" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">{}{}</svg>'
    ).format(WIDTH, height, label, Markup("").join(lines), _axis(most, scale, height))


def _words(layers: LayersDict, part: int, node: _Node, names: list[str], tone: list[str]) -> Markup:
    group = layers["groups"][part]
    parts = [other for other, of in enumerate(layers["groups"]) if of == group]
    name = names[group] if len(names[group]) <= LONGEST else names[group][: LONGEST - 1] + "…"
    text = f"{group} {name}" + (f", part {parts.index(part) + 1}" if len(parts) > 1 else "")
    return Markup(
        '<circle cx="{:.1f}" cy="{:.1f}" r="5" fill="{}"/>'
        '<text x="{:.1f}" y="{:.1f}" text-anchor="end" font-size="13" fill="var(--ink)">{}</text>'
    ).format(node.x, node.y, tone[group], node.x - 12, node.y + 4.5, escape(text))


def _axis(most: float, scale: float, height: float) -> Markup:
    """Ticks below the tree."""
    y = height - BOTTOM + 8
    step = _step(most / TICKS)
    ticks = [i * step for i in range(int(most / step) + 1)]
    marks = [
        Markup(
            '<text x="{:.1f}" y="{:.1f}" text-anchor="middle" font-size="12" fill="var(--soft)">{:g}</text>'
        ).format(LABELS + scale * tick, y + 8, tick)
        for tick in ticks
    ]
    title = Markup(
        '<text x="{:.1f}" y="{:.1f}" font-size="12" fill="var(--soft)">standard deviations apart</text>'
    ).format(LABELS, y + 25)
    return Markup("").join([*marks, title])


def _step(least: float) -> float:
    """A round number of that size or more.

    >>> [_step(x) for x in (0.7, 3.0, 21.0)]
    [1.0, 5.0, 50.0]
    """
    unit = 1.0
    while True:
        for factor in (1.0, 2.0, 5.0):
            if factor * unit >= least:
                return factor * unit
        unit *= 10.0


def _order(layers: LayersDict) -> list[int]:
    """Parts so that no lines cross: what is joined lies together."""
    members = [[part] for part in range(len(layers["groups"]))]
    of = list(range(len(members)))
    for a, b, _ in layers["joins"]:
        one, other = of[a], of[b]
        first, second = sorted((members[one], members[other]), key=min)
        members[one] = first + second
        of = [one if this == other else this for this in of]
    return members[of[0]]
