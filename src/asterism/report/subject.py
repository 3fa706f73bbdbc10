"""What a report is about, as plain data: the only file here that knows what a ``Finding`` looks like."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import Column
from asterism.data.source import Piece, Source
from asterism.explain.groups import Explanation
from asterism.explain.outcome import Outcome
from asterism.explain.relevance import Relevance
from asterism.explain.rows import Shares
from asterism.finding import Finding
from asterism.groups.model import GroupModel

LONGEST = 80  # characters of a name or a level that a report shows
PARAGRAPH = 2000  # characters of anything else
PACKAGES = ("asterism", "numpy", "scipy", "scikit-learn", "pyarrow", "plotly")


@dataclass(frozen=True, slots=True)
class Curve:
    """One criterion against the number of groups."""

    name: str
    ks: tuple[int, ...]
    values: tuple[float | None, ...]  # None where it is not defined
    better: Literal["high", "low"]
    chosen: int | None = None  # the k it takes by itself
    errors: tuple[float | None, ...] | None = None  # standard errors, where it has them
    null: tuple[float | None, ...] | None = None  # what it is on tables without groups
    rows: int | None = None  # that it was tried on, where the report tried it by itself


@dataclass(frozen=True, slots=True)
class Provenance:
    """What it takes to get the same again, and what it took."""

    seed: int
    command: str | None = None
    seconds: float | None = None
    peak_bytes: int | None = None
    made: str | None = None  # date and time, as text
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything a report needs; fields that a method does not have are None or empty."""

    title: str
    source: Source  # rows in the user's own units; those left out have weight 0
    labels: NDArray[np.integer[Any]]  # (n,) -1: belongs to none, or left out
    k: int
    verdict: str
    method: str
    scaled: bool
    ignored: tuple[Column, ...]
    missing: Mapping[str, int]  # missing cells of each column
    missing_policy: str
    plan: str  # what was decided before the search, in a sentence
    curves: tuple[Curve, ...]
    provenance: Provenance
    confidence: float | None = None  # 0 .. 1
    reasons: tuple[str, ...] = ()
    shares: Shares | None = None  # (n, k) responsibilities of rows, from their values alone
    explanation: Explanation | None = None  # of these rows under these names, where somebody has made it
    model: GroupModel | None = None
    stability: tuple[float | None, ...] | None = (
        None  # (k,) how much of a group comes back in halves of the rows
    )
    unseen: str = ""  # what could not have been seen, in words
    typicality: NDArray[np.float64] | None = None  # (n,) how usual a row is in its group; NaN: not known
    outliers: NDArray[np.bool_] | None = None  # (n,) rows that took part and belong to none
    reference: tuple[str, Sequence[str]] | None = None  # a column's name and its (n,) cells
    relevance: Mapping[str, Relevance] = field(default_factory=dict)  # of columns
    outcomes: tuple[Outcome, ...] = ()  # columns that took no part, group by group
    seen_as: Mapping[str, str] = field(
        default_factory=dict
    )  # column -> its reason, where the search gave it another


def subject_of(
    finding: Finding,
    *,
    title: str = "table",
    command: str | None = None,
    seconds: float | None = None,
    peak_bytes: int | None = None,
    made: str | None = None,
    reference: tuple[str, Sequence[str]] | None = None,
    outcomes: Sequence[Outcome] = (),
) -> Subject:
    """The subject of a finding."""
    table = finding.encoded.source
    names, source = short_names(table.names), shortened(table)
    return Subject(
        title=shown(Path(title).name or title),
        source=source,
        labels=finding.positions,
        k=finding.k,
        verdict=shown(finding.verdict, PARAGRAPH),
        method=str(finding.settings["method"]),
        scaled=bool(finding.settings["scale"]),
        ignored=tuple(replace(c, name=shown(c.name), reason=shown(c.reason, 300)) for c in finding.ignored),
        missing={names[name]: count for name, count in finding.missing.items()},
        missing_policy=str(finding.settings["missing"]),
        curves=_curves(finding),
        confidence=finding.confidence,
        reasons=tuple(shown(r, PARAGRAPH) for r in (*finding.reasons, *(e.sentence for e in finding.events))),
        plan=shown(str(finding.settings["plan"]), PARAGRAPH),
        shares=finding.model_shares,
        explanation=finding.explained(finding.positions, finding.model_shares) if source is table else None,
        model=finding.model,
        stability=None
        if finding.stability is None
        else tuple(None if np.isnan(s) else float(s) for s in finding.stability),
        unseen=finding.unseen.sentence,
        typicality=finding.typicality if len(finding.typicality) else None,
        outliers=finding.outliers,
        provenance=Provenance(
            int(finding.settings["seed"]),
            command and shown(command, PARAGRAPH),
            seconds,
            peak_bytes,
            made,
            installed_versions(),
        ),
        seen_as={names[c.name]: shown(c.reason, 300) for c in finding.columns},
        reference=None if reference is None else (shown(reference[0]), [shown(str(v)) for v in reference[1]]),
        relevance={names[one.column]: one for one in finding.relevance},
        outcomes=tuple(outcomes),
    )


WITHOUT_GROUPS = {"gap": 0.0, "stability": 0.0}  # what a criterion is on a table without groups
CRITERIA: dict[str, tuple[str, Literal["high", "low"]]] = {  # as a choice names them -> on paper
    "bic": ("BIC", "low"),
    "icl": ("ICL", "low"),
    "cross_validation": ("Held-out log-likelihood", "high"),
    "stability": ("Stability", "high"),
    "gap": ("Gap statistic", "high"),
    "silhouette": ("Silhouette", "high"),
    "calinski_harabasz": ("Calinski-Harabasz index", "high"),
    "mdl": ("Code length", "low"),
    "aic": ("AIC", "low"),
    "within": ("Sum of squares within groups", "low"),
}

PICKS = {"within": "elbow"}  # whose choice goes by another name


def _curves(finding: Finding) -> tuple[Curve, ...]:
    """Every criterion that the choice has at two numbers of groups or more."""
    table, picks = finding.choice.table, finding.choice.picks
    ks = tuple(row["k"] for row in table)
    found = []
    for key, (name, better) in CRITERIA.items():
        values = tuple(row.get(key) for row in table)
        if sum(value is not None for value in values) < 2:
            continue
        errors = tuple(row.get(f"{key}_error") for row in table)
        known = errors if any(error is not None for error in errors) else None
        null = (WITHOUT_GROUPS[key],) * len(ks) if key in WITHOUT_GROUPS else None
        found.append(Curve(name, ks, values, better, picks.get(PICKS.get(key, key)), known, null))
    return tuple(found)


def installed_versions() -> dict[str, str]:
    """Of Python and the packages that took part."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder, not installed
            continue
    return found


# --- names of strangers -----------------------------------------------------------------------------------------


def shown(text: str, longest: int = LONGEST) -> str:
    """A stranger's text, short and without characters that steer a display."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(c if c.isprintable() else "�" for c in short)


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Every name in short, no two alike.

    >>> short_names(["a" * 100, "a" * 101])["a" * 101][-4:]
    '… ~2'
    """
    taken: dict[str, int] = {}
    out = {}
    for name in names:
        short = shown(name)
        taken[short] = taken.get(short, 0) + 1
        out[name] = short if taken[short] == 1 else f"{short} ~{taken[short]}"
    return out


def shortened(source: Source) -> Source:
    """The same rows under names that fit a page: the source itself where they do."""
    short = Shortened(source)
    return source if short.columns == source.columns else short


class Shortened(Source):
    """The same rows under names that fit a page."""

    def __init__(self, inner: Source) -> None:
        self.inner = inner
        names = short_names(inner.names)
        self.columns = tuple(
            replace(
                column,
                name=names[column.name],
                levels=tuple(short_names(column.levels).values()),
                reason=shown(column.reason, 300),
            )
            for column in inner.columns
        )
        self.n_rows, self.dtype = inner.n_rows, inner.dtype

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's own."""
        return self.inner.pieces(start, stop)

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part."""
        return Shortened(self.inner.part(first, last))
