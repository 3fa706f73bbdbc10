"""Models to export, quickly made, and tables for them: ordinary rows, rows far out, rows that lack cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa

from asterism.data.columns import Column
from asterism.data.encode import Encoding
from asterism.data.margins import Form, Margins
from asterism.data.source import ArraySource
from asterism.distances.mixed import Gower, WeightedSum
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.categorical import CategoricalFamily
from asterism.families.covariance import STRUCTURES
from asterism.families.gaussian import GaussianFamily
from asterism.families.hurdle import HurdleFamily
from asterism.families.multinomial import MultinomialFamily
from asterism.families.negative_binomial import NegativeBinomialFamily
from asterism.families.ordinal import OrdinalFamily
from asterism.families.poisson import PoissonFamily
from asterism.families.product import ProductFamily
from asterism.families.student import StudentFamily
from asterism.groups.background import Background
from asterism.groups.judges import CentersJudge, MedoidsJudge, MixtureJudge, RegionsJudge
from asterism.groups.model import GroupModel
from asterism.methods.frame import survey
from asterism.methods.lloyd import centers_at
from asterism.methods.medoids import Medoids
from asterism.methods.mixture import Settings, fit_mixture
from asterism.methods.noise import Box
from asterism.methods.regions import Regions
from asterism.verdict.view import View

N = 150


def numbers(d: int = 3, seed: int = 0) -> np.ndarray:
    """Groups of rows whose columns depend on each other."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.linspace(0.3, 1.5, d)
    return np.vstack([rng.normal(size=(N // 3, d)) @ turn + 2.0 * g * rng.normal(size=d) for g in range(3)])


def counts(d: int = 3, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    wide = [rng.poisson(rng.gamma(2.0, 1.5 + 3 * g, (N // 3, d))) for g in range(3)]
    return np.vstack(wide).astype(float)


def codes(levels: int = 4, d: int = 3, seed: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.vstack([rng.binomial(levels - 1, 0.2 + 0.3 * g, (N // 3, d)) for g in range(3)]).astype(float)


def plain(d: int) -> tuple[Column, ...]:
    return tuple(Column(f"x{j}") for j in range(d))


def mixture(
    rows: np.ndarray, family, columns=None, view: View | None = None, groups=None, k: int = 3
) -> GroupModel:
    """A few steps of EM on rows as the view shows them."""
    columns, view = columns or plain(rows.shape[1]), view or View()
    seen = view.of(ArraySource(rows, None, columns))
    fit = fit_mixture(seen, family, k, Settings(max_iter=4, stop="parameters", tol=0.0))
    return GroupModel(columns, view, MixtureJudge.of(fit.mixture, groups))


MEASURES: dict[str, Callable] = {
    **{name: lambda name=name: (mixture(numbers(), GaussianFamily(name)), numbers()) for name in STRUCTURES},
    "student full": lambda: (mixture(numbers(), StudentFamily(GaussianFamily("VVV"))), numbers()),
    "student diagonal": lambda: (mixture(numbers(), StudentFamily(GaussianFamily("VVI"))), numbers()),
    "shared groups": lambda: (mixture(numbers(), GaussianFamily("VVV"), groups=[1, 0, 1]), numbers()),
    "far from zero": lambda: (mixture(numbers() + 1e7, GaussianFamily("VVV")), numbers() + 1e7),
}

COUNTS: dict[str, Callable] = {
    "poisson": lambda: (mixture(counts(), PoissonFamily()), counts()),
    "negative binomial": lambda: (mixture(counts(), NegativeBinomialFamily()), counts()),
    "hurdle": lambda: (mixture(counts(), HurdleFamily("conjugate")), counts()),
    "multinomial": lambda: (mixture(counts() + 1, MultinomialFamily()), counts() + 1),
}

SIZES = ("S", "M", "L", "it's XL; --")
COLORS = ("blue", "red", "gr\u00fcn", '"quoted"', "back\\slash")


def survey_rows(seed: int = 3) -> tuple[np.ndarray, tuple[Column, ...]]:
    """A table with a column of every kind."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(3), N // 3)
    rows = np.column_stack(
        [
            rng.normal(20 + 8.0 * g, 3),
            rng.normal(2.0 * g, 1),
            rng.binomial(3, 0.2 + 0.3 * g),
            np.minimum(rng.poisson(0.5 + 1.5 * g), 4),
            rng.random(N) < 0.2 + 0.3 * g,
            rng.poisson(1 + 2 * g),
        ]
    ).astype(float)
    columns = (
        Column("age"),
        Column("in come"),
        Column("size", "ordinal", SIZES),
        Column("color", "categorical", COLORS),
        Column("member", "boolean", ("false", "true")),
        Column("visits", "count"),
    )
    return rows, columns


def mixed_columns() -> tuple[GroupModel, np.ndarray]:
    rows, columns = survey_rows()
    family = ProductFamily(
        (
            (GaussianFamily("VVV"), (0, 1)),
            (OrdinalFamily((4,), "conjugate"), (2,)),
            (CategoricalFamily((5,), "conjugate"), (3,)),
            (BernoulliFamily("conjugate"), (4,)),
            (HurdleFamily("conjugate"), (5,)),
        )
    )
    return mixture(rows, family, columns), rows


FORMS = (
    Form("log", shift=-1.0, least=0.25),
    Form("log", shift=900.0, sign=-1, least=0.5, point=7.0, share=0.1),
    Form("root"),
    Form("asinh", shift=3.0, unit=2.0, point=0.0, share=0.2),
    Form("count", shift=1.0, point=0.0, share=0.3),
    Form(point=5.0, share=0.1),
)


def spending(seed: int = 4, share: float = 0.2) -> np.ndarray:
    """Columns for ``FORMS``; a share of cells at their points."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(3), N // 3)
    out = np.column_stack(
        [
            rng.lognormal(1.0 * g, 0.8),
            900 - rng.lognormal(1 + g, 0.5),
            rng.poisson(20 + 10 * g),
            np.sinh(rng.normal(g, 1)) * 2 + 3,
            1 + rng.poisson(1 + 2 * g),
            rng.normal(5 + g, 1),
        ]
    )
    for j, form in enumerate(FORMS):
        if form.point is not None:
            out[rng.random(N) < share, j] = form.point
    return out


def forms_as_they_are() -> tuple[GroupModel, np.ndarray]:
    rows = spending()
    columns = plain(6)
    view = View(margins=Margins(columns, FORMS), aside=("x5",))
    kinds = [column.kind for column in view.modelled(columns)]
    family = ProductFamily(
        (
            (GaussianFamily("VVI"), tuple(j for j, kind in enumerate(kinds) if kind == "numeric")),
            (BernoulliFamily("conjugate"), tuple(j for j, kind in enumerate(kinds) if kind == "boolean")),
            (
                NegativeBinomialFamily("conjugate"),
                tuple(j for j, kind in enumerate(kinds) if kind == "count"),
            ),
        )
    )
    return mixture(rows, family, columns, view), rows


def scaled(rows: np.ndarray, columns: tuple[Column, ...], margins: Margins | None = None) -> View:
    """Every column with the same spread."""
    view = View(margins=margins)
    seen = np.vstack([b.rows for b in view.of(ArraySource(rows, None, columns)).blocks()])
    encoding = Encoding.plain(view.modelled(columns))
    opened = encoding.encode(seen)
    return View(encoding.standardised(np.nanmean(opened, axis=0), np.nanvar(opened, axis=0)), None, margins)


def forms_scaled() -> tuple[GroupModel, np.ndarray]:
    rows = spending(share=0.0)[:, :4]
    columns = plain(4)
    margins = Margins(columns, tuple(replace(form, point=None) for form in FORMS[:4]))
    return mixture(rows, GaussianFamily("EVE"), columns, scaled(rows, columns, margins)), rows


def directions() -> tuple[GroupModel, np.ndarray]:
    rows = numbers(9, 5)
    view = scaled(rows, plain(9))
    axes = np.ascontiguousarray(np.linalg.qr(np.random.default_rng(0).normal(size=(9, 9)))[0][:3])
    return mixture(rows, GaussianFamily("VVV"), plain(9), replace(view, axes=axes)), rows


def around_centers() -> tuple[GroupModel, np.ndarray]:
    rows, columns = survey_rows()
    view = scaled(rows, columns)
    source = view.of(ArraySource(rows, None, columns))
    seen = np.vstack([block.rows for block in source.blocks()])
    judge = CentersJudge(centers_at(survey(source)[0], seen[[10, 60, 110]]), 3.0)
    return GroupModel(columns, view, judge), rows


def around_medoids(metric=None) -> tuple[GroupModel, np.ndarray]:
    rows, columns = survey_rows()
    fitted = (metric or Gower(asymmetric=["member"])).prepare(ArraySource(rows, None, columns))
    chosen = np.array([10, 60, 110])
    ready = fitted.ready(rows[chosen])
    ready[1, 0] = np.nan
    return GroupModel(columns, View(), MedoidsJudge(Medoids(fitted, chosen, ready), 0.3)), rows


def any_shape() -> tuple[GroupModel, np.ndarray]:
    rows = numbers()
    labels = np.repeat(np.arange(3), N // 3)
    known = Regions(rows, np.linspace(1, 2, N), labels, np.linspace(-1.0, 0.0, N))
    return GroupModel(plain(3), View(), RegionsJudge(known)), rows


def with_background(made: tuple[GroupModel, np.ndarray]) -> tuple[GroupModel, np.ndarray]:
    model, rows = made
    seen = np.vstack([b.rows for b in model.rows_of(ArraySource(rows, None, model.columns)).blocks()])
    box = Box(seen.min(axis=0) - 0.5, seen.max(axis=0) + 0.5)
    return replace(model, background=Background(0.2, box)), rows


def with_outliers(made: tuple[GroupModel, np.ndarray], least: float = 0.103) -> tuple[GroupModel, np.ndarray]:
    """Rows of little typicality belong to none."""
    model, rows = made
    source = ArraySource(rows, None, model.columns)
    own = model.own_and_labels(source)[0]
    known = model.with_typicality(source, own, np.ones(len(rows), bool))[0]
    return replace(known, least_typicality=least), rows


OTHERS: dict[str, Callable] = {
    "mixed columns": mixed_columns,
    "forms": forms_as_they_are,
    "forms, scaled": forms_scaled,
    "directions": directions,
    "centres": around_centers,
    "medoids": around_medoids,
    "medoids by a sum": lambda: around_medoids(WeightedSum()),
    "bernoulli": lambda: (mixture(codes(2), BernoulliFamily("conjugate")), codes(2)),
    "categorical": lambda: (mixture(codes(), CategoricalFamily((4, 4, 4), "conjugate")), codes()),
    "ordinal": lambda: (mixture(codes(), OrdinalFamily((4, 4, 4), "conjugate")), codes()),
    "normal, background": lambda: with_background((mixture(numbers(), GaussianFamily("VVV")), numbers())),
    "directions, background": lambda: with_background(directions()),
    "centres, outliers": lambda: with_outliers(around_centers()),
    "centres, background": lambda: with_background((centers_of_numbers(), numbers())),
    "medoids, outliers": lambda: with_outliers(around_medoids()),
    "mixed columns, outliers": lambda: with_outliers(mixed_columns()),
    "student, outliers": lambda: with_outliers(MEASURES["student full"]()),
    "multinomial, outliers": lambda: with_outliers(COUNTS["multinomial"]()),
    "shared groups, both": lambda: with_outliers(with_background(MEASURES["shared groups"]()), 0.05),
}


def centers_of_numbers() -> GroupModel:
    source = ArraySource(numbers())
    return GroupModel(
        plain(3), View(), CentersJudge(centers_at(survey(source)[0], numbers()[[10, 60, 110]]), 2.0)
    )


CASES = {**MEASURES, **COUNTS, **OTHERS}
SHAPELESS = {"any shape": any_shape, "any shape, background": lambda: with_background(any_shape())}


@cache
def case(name: str) -> tuple[GroupModel, pa.Table]:
    """A model, and a table of its columns: its rows, new ones that are farther out, and rows that lack cells."""
    model, rows = {**CASES, **SHAPELESS}[name]()
    rng = np.random.default_rng(9)
    more = rows.copy()
    for j, column in enumerate(model.columns):
        if not column.levels:
            whole = (rows[:, j] == np.floor(rows[:, j])).all()
            far = np.median(rows[:, j]) + 3.0 * (rows[:, j] - np.median(rows[:, j]))
            more[:, j] = np.abs(np.rint(far)) if whole else far
            if "bernoulli" in name or "categorical" in name or "ordinal" in name:
                more[:, j] = rng.permutation(rows[:, j])
    gaps = rows.copy()
    gaps[rng.random(gaps.shape) < 0.3] = np.nan
    gaps[0] = np.nan
    return model, table_of(model, np.vstack([rows, more, gaps]))


def table_of(model: GroupModel, rows: np.ndarray) -> pa.Table:
    """Rows of numbers and codes as people have them, with an ``id``."""
    columns = {"id": pa.array(np.arange(len(rows)))}
    for j, column in enumerate(model.columns):
        cells = rows[:, j]
        if column.levels:
            names = [None if np.isnan(v) else column.levels[int(v)] for v in cells]
            if column.kind == "boolean":
                columns[column.name] = pa.array([None if v is None else v == "true" for v in names])
            else:
                columns[column.name] = pa.array(names, pa.string())
        else:
            columns[column.name] = pa.array(cells, pa.float64(), mask=np.isnan(cells))
    return pa.table(columns)


def cells_of(table: pa.Table) -> dict[str, list]:
    return {name: table.column(name).to_pylist() for name in table.column_names}


def complete(table: pa.Table) -> np.ndarray:
    """(n,) rows that lack no cell."""
    return np.array([all(value is not None for value in row.values()) for row in table.to_pylist()])
