"""A subject -> a typed dictionary that JSON can hold: all numbers and words of a report, and nothing else."""

from __future__ import annotations

import hashlib
import math
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from asterism.data.source import Source
from asterism.explain.effects import Effect
from asterism.explain.groups import Explanation, Group, explain
from asterism.explain.outcome import Outcome
from asterism.explain.rows import NotableRow
from asterism.explain.typicality import UNUSUAL
from asterism.explain.words import number_text
from asterism.report.steps import Frame, em_steps, kmeans_steps
from asterism.report.subject import Curve, Subject, shown
from asterism.report.trials import Starts, gap_curve, starts_of
from asterism.report.views import (
    Map,
    Sample,
    View,
    cell_text,
    draw_sample,
    map_of,
    margins_of,
    other_numbers,
    silhouettes_of,
)

VERSION = 2  # raised when a field changes its meaning
TRAITS = 5  # of a group
CELLS = 6  # of a typical row
MOST_UNUSUAL = 5  # rows of a group
MOST_NONE = 10  # rows that belong to none
MOST_HEAT = 24  # columns of the heat map
MOST_CLASSES = 30  # of a reference column


class TraitDict(TypedDict):
    """What sets a group apart, in one column."""

    column: str
    here: str
    elsewhere: str
    size: float
    measure: str
    strength: float


class RuleDict(TypedDict):
    """A short rule."""

    text: str
    precision: float
    recall: float


class RowDict(TypedDict):
    """A row worth looking at."""

    row: int
    cells: list[str]
    second: int | None
    margin: float | None
    typicality: float | None


class GroupDict(TypedDict):
    """One group."""

    group: int
    name: str
    sentence: str
    size: int
    share: float
    centre: dict[str, float | str | None]
    traits: list[TraitDict]
    rule: RuleDict | None
    typical: list[RowDict]
    borderline: list[RowDict]
    unusual: list[RowDict]  # the least typical first
    unusual_share: float | None  # of its rows, those with a typicality below 1%
    stability: float | None  # how much of it comes back when half of the rows are looked at


class ColumnDict(TypedDict):
    """A column, and what became of it."""

    name: str
    kind: str
    levels: list[str]
    missing: int
    reason: str
    carries: float | None  # share of its spread between groups
    loss: float | None  # nats a row the likelihood loses without it, given the others
    noise: bool  # given the others it carries nothing


class DataDict(TypedDict):
    """What was done to the data."""

    rows: int
    left_out: int
    outliers: int  # rows that belong to none
    background: float | None  # share of evenly spread rows, where there is a background
    columns: list[ColumnDict]
    ignored: list[dict[str, str]]
    missing_cells: int
    missing_policy: str
    scaled: bool
    plan: str


class CurveDict(TypedDict):
    """A criterion against k."""

    name: str
    ks: list[int]
    values: list[float | None]
    errors: list[float | None] | None
    null: list[float | None] | None
    better: str
    chosen: int | None
    rows: int | None  # that it was tried on, where not by the search


class HeatDict(TypedDict):
    """The groups' centres, column by column."""

    columns: list[str]
    z: list[list[float]]  # (k, columns) in standard deviations of all rows
    text: list[list[str]]


class LayersDict(TypedDict):
    """Parts, groups and groups of groups."""

    groups: list[int]  # of each part
    joins: list[tuple[int, int, float]]  # two parts, and the standard deviations between what they are in
    table: list[
        tuple[int, float | None]
    ]  # coarse to fine: groups of a layer, and how far its nearest are apart
    stands_out: int | None  # groups of a coarser layer whose groups are far apart beside those of the next


class AgreementDict(TypedDict):
    """Beside a reference column."""

    column: str
    classes: list[str]
    counts: list[list[float]]  # (classes, groups)
    adjusted_rand: float
    matched_accuracy: float


class OutcomeDict(TypedDict):
    """A column that took no part, group by group."""

    title: str
    rows: list[list[str]]  # group, its name or level, estimate, interval, naive estimate, interval
    sentences: list[str]
    numbers: dict[str, Any]


class Summary(TypedDict):
    """All of a report."""

    version: int
    title: str
    k: int
    verdict: str
    confidence: float | None
    reasons: list[str]
    unseen: str  # what could not have been seen
    method: str
    data: DataDict
    curves: list[CurveDict]
    groups: list[GroupDict]
    none: list[RowDict]  # rows that belong to no group, the least typical first
    shown_columns: list[str]  # whose cells rows are shown with
    carriers: list[tuple[str, float]]
    map: Map
    views: list[View]
    heat: HeatDict
    layers: LayersDict | None  # None: one group of one part
    silhouettes: list[float] | None
    mean_silhouette: float | None
    margins: list[float] | None
    margin_is_probability: bool
    kmeans: list[Frame]
    em: list[Frame]
    starts: Starts | None
    agreement: AgreementDict | None
    outcomes: list[OutcomeDict]
    provenance: dict[str, Any]


def summarize(subject: Subject) -> Summary:
    """A few passes over the table, and the rest from a bounded sample of its rows."""
    source, k, seed = subject.source, subject.k, subject.provenance.seed
    told = subject.explanation or explain(source, subject.labels, k, shares=subject.shares, seed=seed)
    sample = draw_sample(source, subject.labels, told.places, seed)
    carried = [(carrier.column, carrier.share) for carrier in told.carriers]
    names = [name for name, _ in carried]
    picture, points = map_of(sample, source.columns, told.places.encoding.names, names)
    silhouettes = silhouettes_of(sample)
    shown = names[:CELLS]
    moving = k > 1
    return Summary(
        version=VERSION,
        title=subject.title,
        k=k,
        verdict=subject.verdict,
        confidence=subject.confidence,
        reasons=list(subject.reasons),
        unseen=subject.unseen,
        method=subject.method,
        data=_data(subject, dict(carried)),
        curves=[_curve(curve) for curve in _curves(subject, sample)],
        groups=[_group(subject, group, shown) for group in told.groups],
        none=[] if subject.outliers is None else _unusual(subject, subject.outliers, MOST_NONE, shown),
        shown_columns=shown,
        carriers=carried,
        map=picture,
        views=other_numbers(sample, k, seed),
        heat=_heat(told),
        layers=_layers(subject),
        silhouettes=silhouettes,
        mean_silhouette=None
        if silhouettes is None
        else float(np.average(silhouettes, weights=sample.weights)),
        margins=margins_of(sample, told.places, subject.shares),
        margin_is_probability=subject.shares is not None,
        kmeans=kmeans_steps(points, sample.weights, k, seed) if moving else [],
        em=em_steps(points, sample.weights, k, seed) if moving else [],
        starts=starts_of(sample, k, subject.model, seed),
        agreement=_agreement(subject),
        outcomes=[_outcome(outcome, told) for outcome in subject.outcomes],
        provenance=_provenance(subject, sample),
    )


# --- parts ------------------------------------------------------------------------------------------------------


def _data(subject: Subject, carried: dict[str, float]) -> DataDict:
    source = subject.source
    columns = [
        ColumnDict(
            name=c.name,
            kind=c.kind,
            levels=list(c.levels[:20]),
            missing=subject.missing.get(c.name, 0),
            reason=subject.seen_as.get(c.name, c.reason),
            carries=carried.get(c.name),
            loss=None if c.name not in subject.relevance else subject.relevance[c.name].loss,
            noise=c.name in subject.relevance and not subject.relevance[c.name].carries,
        )
        for c in source.columns
    ]
    outliers = 0 if subject.outliers is None else int(np.count_nonzero(subject.outliers))
    background = None if subject.model is None else subject.model.background
    return DataDict(
        rows=len(subject.labels),
        left_out=int(np.count_nonzero(subject.labels < 0)) - outliers,
        outliers=outliers,
        background=None if background is None else background.share,
        columns=columns,
        ignored=[{"name": c.name, "reason": c.reason} for c in subject.ignored],
        missing_cells=sum(column["missing"] for column in columns),
        missing_policy=subject.missing_policy,
        scaled=subject.scaled,
        plan=subject.plan,
    )


def _curves(subject: Subject, sample: Sample) -> list[Curve]:
    """Those of the search; and a comparison with tables without groups, if it made none."""
    found = list(subject.curves)
    if not any(curve.null for curve in found):
        gap = gap_curve(sample, subject.provenance.seed)
        found += [gap] if gap is not None else []
    return found


def _curve(curve: Curve) -> CurveDict:
    def listed(values: Any) -> list[float | None]:
        return [None if v is None or not math.isfinite(v) else float(v) for v in values]

    return CurveDict(
        name=curve.name,
        ks=list(curve.ks),
        values=listed(curve.values),
        errors=None if curve.errors is None else listed(curve.errors),
        null=None if curve.null is None else listed(curve.null),
        better=curve.better,
        chosen=curve.chosen,
        rows=curve.rows,
    )


def _group(subject: Subject, group: Group, shown: list[str]) -> GroupDict:
    source, rule = subject.source, group.rule
    mine = subject.labels == group.profile.group
    known = np.zeros(0) if subject.typicality is None else subject.typicality[mine]
    known = known[~np.isnan(known)]
    return GroupDict(
        group=group.profile.group,
        name=group.name,
        sentence=group.sentence,
        size=group.profile.size,
        share=group.profile.share,
        centre=group.profile.centre,
        traits=[_trait(effect) for effect in group.effects[:TRAITS] if effect.value is not None],
        rule=None if rule is None else RuleDict(text=str(rule), precision=rule.precision, recall=rule.recall),
        typical=[_row(source, row.row, shown, row) for row in group.typical],
        borderline=[_row(source, row.row, shown, row) for row in group.borderline],
        unusual=_unusual(subject, mine, MOST_UNUSUAL, shown),
        unusual_share=float((known < UNUSUAL).mean()) if len(known) else None,
        stability=None if subject.stability is None else subject.stability[group.profile.group],
    )


MEASURES = {"numeric": "standard deviations", "count": "standard deviations", "ordinal": "rank difference"}


def _trait(effect: Effect) -> TraitDict:
    if effect.share is not None and effect.share_elsewhere is not None:
        here, elsewhere = f"{effect.value} {effect.share:.0%}", f"{effect.share_elsewhere:.0%}"
    else:
        here, elsewhere = (
            number_text(v) if isinstance(v, float) else str(v) for v in (effect.value, effect.elsewhere)
        )
    return TraitDict(
        column=effect.column,
        here=here,
        elsewhere=elsewhere,
        size=effect.size,
        measure=MEASURES.get(effect.kind, "share difference"),
        strength=effect.strength,
    )


def _unusual(subject: Subject, among: NDArray[np.bool_], most: int, shown: list[str]) -> list[RowDict]:
    """The least typical of some rows, the earlier first among equals."""
    if subject.typicality is None:
        return []
    rows = np.flatnonzero(among & ~np.isnan(subject.typicality))
    first = rows[np.argsort(subject.typicality[rows], kind="stable")[:most]]
    return [
        {**_row(subject.source, int(row), shown), "typicality": float(subject.typicality[row])}
        for row in first
    ]


def _row(source: Source, row: int, shown: list[str], notable: NotableRow | None = None) -> RowDict:
    """The row with its cells, read from the block that holds it."""
    size = source.block_rows
    block = next(iter(source.blocks(row // size, row // size + 1)))
    place = {column.name: j for j, column in enumerate(source.columns)}
    values = block.rows[row - block.start]
    cells = [cell_text(source.columns[place[name]], float(values[place[name]])) for name in shown]
    second, margin = (None, None) if notable is None else (notable.second, notable.margin)
    return RowDict(row=row, cells=cells, second=second, margin=margin, typicality=None)


def _heat(told: Explanation) -> HeatDict:
    names = [carrier.column for carrier in told.carriers[:MOST_HEAT]]
    z, text = [], []
    for group in told.groups:
        traits = {trait.column: trait for trait in group.profile.apart}
        z.append([round(traits[name].difference, 3) for name in names])
        text.append([_heat_text(traits[name]) for name in names])
    return HeatDict(columns=names, z=z, text=text)


def _heat_text(trait: Any) -> str:
    if trait.value is None:
        return "–"
    if trait.share is not None:
        return f"{trait.value} {trait.share:.0%}"
    return number_text(trait.value) if isinstance(trait.value, float) else str(trait.value)


def _layers(subject: Subject) -> LayersDict | None:
    layers = None if subject.model is None else subject.model.layers
    if layers is None or len(layers) < 2:
        return None
    out = layers.standing_out
    return LayersDict(
        groups=list(layers.groups),
        joins=list(layers.joins),
        table=[(layer.k, layer.apart) for layer in layers],
        stands_out=None if out is None else out.k,
    )


def _agreement(subject: Subject) -> AgreementDict | None:
    if subject.reference is None:
        return None
    from asterism.metrics import adjusted_rand_score, matched_accuracy

    name, cells = subject.reference
    keep = subject.labels >= 0
    classes, codes, sizes = np.unique(np.asarray(cells, str)[keep], return_inverse=True, return_counts=True)
    mine = subject.labels[keep]
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    place = np.full(len(classes), len(kept))  # the rest goes into one line
    place[kept] = np.arange(len(kept))
    counts = np.zeros((len(kept) + (len(kept) < len(classes)), subject.k))
    np.add.at(counts, (place[codes], mine), 1)
    rest = [f"{len(classes) - len(kept):,} others"] if len(kept) < len(classes) else []
    return AgreementDict(
        column=name,
        classes=[*(value or "–" for value in classes[kept].tolist()), *rest],
        counts=counts.tolist(),
        adjusted_rand=float(adjusted_rand_score(codes, mine)),
        matched_accuracy=float(matched_accuracy(codes, mine)),
    )


def _outcome(outcome: Outcome, told: Explanation) -> OutcomeDict:
    names = [group.name for group in told.groups]
    return OutcomeDict(
        title=shown(outcome.title, 300),
        rows=[[shown(cell) for cell in row] for row in outcome.cells(names if len(names) > 1 else [])],
        sentences=[shown(said, 500) for said in outcome.sentences()],
        numbers=outcome.to_dict(),
    )


def _provenance(subject: Subject, sample: Sample) -> dict[str, Any]:
    past = subject.provenance
    return {
        "command": past.command,
        "seed": past.seed,
        "versions": dict(past.versions),
        "data_hash": data_hash(subject.source),
        "seconds": past.seconds,
        "peak_bytes": past.peak_bytes,
        "made": past.made,
        "rows_drawn": len(sample.number),
    }


def data_hash(source: Source) -> str:
    """Of the cells and weights that were used, in order: the same for the same table in any file format.

    >>> from asterism.data.source import ArraySource
    >>> len(data_hash(ArraySource(np.eye(2))))
    32
    """
    digest = hashlib.blake2b(digest_size=16)
    for block in source.blocks():
        rows = np.where(np.isnan(block.rows), np.nan, block.rows + 0.0)  # one kind of NaN, one kind of zero
        digest.update(rows.tobytes())
        digest.update(block.weights.tobytes())
    return digest.hexdigest()
