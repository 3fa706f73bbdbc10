"""A finding as text for people and as JSON for programs; neither holds a time or a path of this machine."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from asterism import __version__

if TYPE_CHECKING:
    from asterism.data.columns import Column
    from asterism.explain.groups import Group
    from asterism.explain.outcome import Outcome
    from asterism.explain.profiles import Trait
    from asterism.finding import Finding

WIDTH = 100
APART = 3  # traits shown per group


def summary_json(
    finding: Finding, table: str, reference: dict[str, Any] | None = None, outcomes: Sequence[Outcome] = ()
) -> str:
    """The finding as JSON; numbers JSON cannot write are null."""
    about = {"reference": reference, "outcomes": [outcome.to_dict() for outcome in outcomes]}
    data = {"asterism": __version__, "table": table, **finding.to_dict(), **about}
    return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def summary_text(finding: Finding, table: str, agreement: str = "", outcomes: Sequence[Outcome] = ()) -> str:
    """The finding in words and small tables; ``agreement`` with a reference column in a sentence."""
    rows = f"{len(finding.labels):,} rows"
    if finding.n_left_out:
        rows += f" ({finding.n_left_out:,} left out: they have missing cells)"
    outliers = int(finding.outliers.sum())
    if outliers:
        rows += f", {outliers:,} of them in no group"
    used = f"{len(finding.columns)} columns used, {len(finding.ignored)} ignored"
    parts = [
        [f"{shown(table)}: {rows}, {used}"],
        textwrap.wrap(finding.verdict, WIDTH, break_on_hyphens=False),
        *([textwrap.wrap(agreement, WIDTH)] if agreement else []),
        *([_events(finding)] if finding.events else []),
        ["Groups", *_groups(finding)],
        *_layers(finding),
        *(_outcome(outcome, finding) for outcome in outcomes),
        ["How many groups (* taken, < what a criterion would take)", *_numbers(finding)],
        ["Columns", *_columns(finding), *_relevance(finding)],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _events(finding: Finding) -> list[str]:
    """What became of the groups of an earlier model."""
    wrap = textwrap.TextWrapper(WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return ["Beside the old groups", *(line for e in finding.events for line in wrap.wrap(shown(e.sentence)))]


def _groups(finding: Finding) -> list[str]:
    """A line of figures for each group, and one of words: its suggested name and rule."""
    head = ("group", "rows", "share", "what sets it apart most, beside all rows")
    body = [
        (str(p.group), f"{p.size:,}", f"{p.share:.1%}", "; ".join(_trait(t) for t in p.apart[:APART]))
        for p in finding.profiles
    ]
    lines = _lines(head, body, right=(0, 1, 2))
    unseen = ["", *textwrap.wrap(finding.unseen.sentence, WIDTH)]
    if finding.k == 1:
        return [*lines, *unseen]
    rules = [_rule(group) for group in finding.explanation.groups]
    return [*lines, "", *rules, *_come_back(finding), *unseen]


def _come_back(finding: Finding) -> list[str]:
    if finding.stability is None:
        return []
    each = ", ".join(f"{g} {'-' if math.isnan(s) else f'{s:.0%}'}" for g, s in enumerate(finding.stability))
    said = f"Come back when half of the rows are looked at: {each} (below 60%: not to be trusted)."
    return ["", *textwrap.wrap(said, WIDTH)]


def _rule(group: Group) -> str:
    said = f"  {group.profile.group}: {shown(group.name)}"
    if group.rule is None:
        return said
    found = f"finds {group.rule.recall:.0%} of it, and {group.rule.precision:.0%} of what it finds belong"
    return f"{said}. Rule: {shown(str(group.rule))} ({found})"


def _trait(trait: Trait) -> str:
    name = shown(trait.column)
    if trait.value is None:
        return f"{name} always missing"
    if trait.share is not None:
        return f"{name} {shown(str(trait.value))} {trait.share:.0%} (all {_number(trait.overall, '.0%')})"
    return f"{name} {_number(trait.value)} (all {_number(trait.overall)})"


def _layers(finding: Finding) -> list[list[str]]:
    """A line for each layer that says something: the coarser ones, and what parts there are."""
    layers = finding.layers
    if len(layers) < 3 and len(layers) == finding.k:
        return []
    out = layers.standing_out
    head = ("", "groups", "apart", "which")
    body = []
    for layer in layers:
        if layer.k in (1, finding.k) or (layer.k > finding.k and layer.k < len(layers)):
            continue
        apart = "" if layer.apart is None else f"{layer.apart:.1f}"
        within = layers.within(layer.k)
        if layer.k < finding.k:
            heaps = [[str(g) for g, of in enumerate(within) if of == heap] for heap in range(layer.k)]
            which = " | ".join(" ".join(heap) for heap in heaps)
        else:
            which = ", ".join(f"{within.count(g)} in {g}" for g in range(finding.k) if within.count(g) > 1)
        body.append(("*" if out is not None and out.k == layer.k else "", str(layer.k), apart, which))
    title = "Layers (standard deviations between the nearest two; * stands out; `asterism assign --level`)"
    return [[title, *_lines(head, body, right=(1, 2))]] if body else []


def _outcome(outcome: Outcome, finding: Finding) -> list[str]:
    """The outcome in each group, under the groups' names."""
    names = [group.name for group in finding.explanation.groups] if finding.k > 1 else []
    head, *lines = (shown(line) for line in outcome.lines(names))
    return [f"Outcome {head}", *lines]


CRITERIA = {  # as a choice names them -> at the head of a column
    "bic": "BIC",
    "icl": "ICL",
    "gap": "gap",
    "stability": "stability",
    "silhouette": "silhouette",
    "calinski_harabasz": "Calinski-Harabasz",
}


def _numbers(finding: Finding) -> list[str]:
    """Every criterion against k; the value that a criterion itself would take is marked."""
    table, picks = finding.choice.table, finding.choice.picks
    shown_here = [name for name in CRITERIA if any(row.get(name) is not None for row in table)]
    head = ("", "k", *(CRITERIA[name] for name in shown_here))
    body = [
        (
            "*" if row["k"] == finding.k else "",
            str(row["k"]),
            *(_marked(row.get(name), picks.get(name) == row["k"]) for name in shown_here),
        )
        for row in table
    ]
    return _lines(head, body, right=tuple(range(1, len(head))))


def _marked(value: Any, best: bool) -> str:
    return "-" if value is None else f"{value:.6g}{'<' if best else ' '}"


def _columns(finding: Finding) -> list[str]:
    head = ("name", "kind", "missing", "why")
    body = [
        (shown(c.name), _kind(c), f"{finding.missing[c.name]:,}", shown(c.reason)) for c in finding.columns
    ]
    body += [(shown(c.name), "ignored", "", shown(c.reason)) for c in finding.ignored]
    return _lines(head, body, right=(2,))


def _relevance(finding: Finding) -> list[str]:
    """What each column carries of the groups, in a sentence or two."""
    if finding.k == 1:
        return []
    carried = [f"{shown(one.column)} {one.loss:.2g}" for one in finding.relevance if one.carries]
    noise = [shown(one.column) for one in finding.relevance if not one.carries]
    said = (
        f"Groups rest on (nats a row the likelihood loses without it): {', '.join(carried) or 'none alone'}."
    )
    if noise:
        said += f" Given the others these carry nothing, and --select leaves them out: {', '.join(noise)}."
    return ["", *(f"  {line}" for line in textwrap.wrap(said, WIDTH - 2))]


def _kind(column: Column) -> str:
    """An order is shown, for it may have been guessed wrongly."""
    return f"ordinal {shown(' < '.join(column.levels))}" if column.kind == "ordinal" else column.kind


# ------------------------------------------------------------------------------------------------ small tools


def shown(text: str) -> str:
    """Text of a stranger's file without characters that could steer a terminal."""
    return "".join(c if c.isprintable() else "�" for c in text)


def _number(value: Any, form: str = ".4g") -> str:
    return format(value, form) if isinstance(value, float) else shown(str(value))


def _lines(head: Sequence[str], body: Iterable[Sequence[str]], right: Sequence[int]) -> list[str]:
    """A table in plain characters, columns as wide as they need to be."""
    rows = [head, *body]
    widths = [max(len(row[j]) for row in rows) for j in range(len(head))]
    lines = []
    for row in rows:
        cells = (
            c.rjust(w) if j in right else c.ljust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
