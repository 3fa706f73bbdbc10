"""What a model does with a row, in plain numbers, lists and words: what every export is written from.

    cells -> features -> (directions) -> judge -> labels and probabilities -> (background, typicality)

``docs/methods/export.md`` says what each entry means, and no more is needed. ``VERSION`` is raised when
an entry changes its meaning or goes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from asterism import __version__
from asterism.data.columns import Column
from asterism.data.encode import Encoding
from asterism.data.margins import Form, Margins
from asterism.distances.mixed import FittedSum
from asterism.errors import ParameterError
from asterism.explain.typicality import Typicality
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.categorical import CategoricalFamily, level_offsets
from asterism.families.cells import log_of
from asterism.families.gaussian import GaussianFamily
from asterism.families.hurdle import HurdleFamily
from asterism.families.multinomial import MultinomialFamily
from asterism.families.negative_binomial import NegativeBinomialFamily
from asterism.families.ordinal import OrdinalFamily
from asterism.families.poisson import PoissonFamily
from asterism.families.product import ProductFamily
from asterism.families.student import StudentFamily
from asterism.groups.judges import CentersJudge, Judge, MedoidsJudge, MixtureJudge, RegionsJudge, positive
from asterism.groups.model import GroupModel
from asterism.methods.regions import DEGREES, NEAREST
from asterism.verdict.view import View

FORMAT = "asterism-export"
VERSION = 1
CLEANED = ("numbers",)  # convention: readings whose result the reader is asked to have in the table

Entry = dict[str, Any]


def described(model: GroupModel) -> Entry:
    """All that a model does with rows.

    >>> import numpy as np, asterism
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))])
    >>> told = described(asterism.find(X, k=2, method="kmeans").model)
    >>> told["k"], [column["name"] for column in told["columns"]], told["judge"]["kind"]
    (2, ['x0', 'x1'], 'centers')
    """
    known = model.typicality
    return {
        **head(model.k, model.columns),
        "features": _features(model.view, model.columns),
        "directions": None if model.view.axes is None else plain(model.view.axes),
        "judge": _judge(model.judge),
        "background": None
        if model.background is None
        else {
            "share": model.background.share,
            "low": plain(model.background.box.low),
            "high": plain(model.background.box.high),
        },
        "typicality": None if known is None else _typicality(known),
        "least_typicality": model.least_typicality,
    }


def head(k: int, columns: tuple[Column, ...]) -> Entry:
    """What comes first: which description it is, of how many groups, and of which columns."""
    _require_plain(columns)
    return {
        "format": FORMAT,
        "version": VERSION,
        "asterism": __version__,
        "k": k,
        "columns": [
            {"name": c.name, "kind": c.kind, **({"levels": list(c.levels)} if c.levels else {})}
            for c in columns
        ],
    }


def _require_plain(columns: tuple[Column, ...]) -> None:
    """A ``ParameterError`` for the first column that is made of cells in a way no export knows (``data.reading``)."""
    for column in columns:
        reading = getattr(column, "reading", None)
        if reading is not None and reading.form not in CLEANED:
            raise ParameterError(
                f"Column {column.name!r} is made of the table's cells by a reading ({reading.form}) that an export "
                "does not know.",
                "Make a plain column of it in the table first, and find the groups again.",
            )


def plain(array: Any) -> Any:
    """An array as lists of numbers; None where a cell is missing."""
    values = np.asarray(array)
    if values.dtype.kind == "f" and np.isnan(values).any():
        kept = values.astype(object)
        kept[np.isnan(values)] = None
        return kept.tolist()
    return values.tolist()


def _typicality(known: Typicality) -> Entry:
    """Tables of quantiles, without the last knot's repetitions."""
    knots = [int(np.argmax(scores == scores[-1])) + 1 for scores in known.scores]
    return {
        "scores": [plain(own[:n]) for own, n in zip(known.scores, knots, strict=True)],
        "shares": [plain(own[:n]) for own, n in zip(known.shares, knots, strict=True)],
        "weights": plain(known.weights),
        "cell_scores": plain(known.cell_scores),
    }


# --- features ---------------------------------------------------------------------------------------------------


def _features(view: View, columns: tuple[Column, ...]) -> list[Entry]:
    """What the judge sees of a row: one entry a number."""
    margins = view.margins or Margins.plain(columns)
    seen = [
        {"name": modelled.name, "column": j, **taken}
        for (j, taken), modelled in zip(_taken(margins), margins.modelled, strict=True)
    ]
    kept = [
        (entry, modelled)
        for entry, modelled in zip(seen, margins.modelled, strict=True)
        if modelled.name not in view.aside
    ]
    if view.encoding is None:
        return [entry for entry, _ in kept]
    opened = [one for entry, modelled in kept for one in _opened(entry, modelled)]
    return [_scaled(entry, view.encoding, i) for i, entry in enumerate(opened)]


def _taken(margins: Margins) -> list[tuple[int, Entry]]:
    """The columns in their forms: the place of the column, and what is taken of its cells."""
    out: list[tuple[int, Entry]] = []
    for j, form in enumerate(margins.forms):
        if form.point is None:
            out.append((j, _form(form)))
        else:
            out += [
                (j, {"form": "at", "point": form.point}),
                (j, {**_form(form), "not_at": form.point}),
            ]
    return out


def _form(form: Form) -> Entry:
    numbers = {
        "plain": (),
        "log": ("shift", "sign", "least"),
        "root": (),
        "asinh": ("shift", "unit"),
        "count": ("shift",),
    }
    return {"form": form.kind, **{name: getattr(form, name) for name in numbers[form.kind]}}


def _opened(entry: Entry, column: Column) -> list[Entry]:
    """What an encoding makes of one column: one number, or one a level."""
    if column.kind == "categorical":
        return [
            {**entry, "name": f"{column.name}={level}", "form": "is", "code": code}
            for code, level in enumerate(column.levels)
        ]
    if column.kind == "ordinal":
        return [{**entry, "form": "rank", "steps": max(len(column.levels) - 1, 1)}]
    return [entry]


def _scaled(entry: Entry, encoding: Encoding, i: int) -> Entry:
    return {**entry, "center": float(encoding.center[i]), "scale": float(encoding.scale[i])}


# --- judges -----------------------------------------------------------------------------------------------------


def _judge(judge: Judge) -> Entry:
    if isinstance(judge, MixtureJudge):
        m = judge.mixture
        return {
            "kind": "mixture",
            "weights": plain(m.weights),
            "groups": plain(judge.groups),
            "parts": _parts(m.family, m.params, None),
        }
    if isinstance(judge, CentersJudge):
        d = judge.centers.offsets.shape[1]
        return {
            "kind": "centers",
            "reference": plain(judge.centers.frame.reference),
            "offsets": plain(judge.centers.offsets),
            "unit": positive(judge.spread * 2 / d),
        }
    if isinstance(judge, RegionsJudge):
        r = judge.regions
        return {
            "kind": "regions",
            "rows": plain(r.rows),
            "weights": plain(r.weights),
            "labels": plain(r.labels),
            "log_widths": plain(r.log_widths),
            "nearest": NEAREST,
            "degrees": DEGREES,
        }
    if isinstance(judge, MedoidsJudge) and isinstance(judge.medoids.fitted, FittedSum):
        f = judge.medoids.fitted
        return {
            "kind": "medoids",
            "compare": [("differ", "range", "asymmetric")[kind] for kind in f.kinds],
            "weights": plain(f.weights),
            "low": plain(f.low),
            "spread": plain(f.spread),
            "factor": 1.0 if f.normalised else float(f.weights.sum()),
            "unknown": None if np.isnan(f.unknown) else float(f.unknown),
            "points": plain(judge.medoids.ready),
            "unit": positive(judge.spread / len(f.names)),
        }
    raise ParameterError(
        f"A model by {type(judge).__name__} cannot be exported.", "Export one that `find` made."
    )


# --- families ---------------------------------------------------------------------------------------------------


def _parts(family: Any, params: Any, features: Any) -> list[Entry]:
    """The parts of a component, each of features that no other part has."""
    if isinstance(family, ProductFamily):
        return [
            entry
            for (part, columns), own in zip(family.parts, params.parts, strict=True)
            for entry in _parts(part, own, [int(j if features is None else features[j]) for j in columns])
        ]
    if type(family) not in FAMILIES:
        raise ParameterError(
            f"A mixture of {type(family).__name__} cannot be exported.",
            f"Families that can: {', '.join(sorted(name.__name__ for name in FAMILIES))}.",
        )
    made = FAMILIES[type(family)](family, params)
    if features is None:
        features = list(range(_width(made)))
    return [{"family": made.pop("family"), "features": features, **made}]


def _width(made: Entry) -> int:
    """Features of a part, by the shape of what describes it."""
    if made["family"] == "levels":
        return len(made["log_shares"])
    name = "shares" if made["family"] == "shares" else "means"
    return len(made[name][0])


def _normal(family: GaussianFamily, params: Any) -> Entry:
    c = params.covariances
    spread = {"variances": plain(c.diagonals())} if c.diagonal else {"covariances": plain(c.full())}
    return {
        "family": "normal",
        "reference": plain(family.reference),
        "means": plain(params.means),
        **spread,
    }


def _student(family: StudentFamily, params: Any) -> Entry:
    return {
        **_normal(family.normal, params.normal),
        "family": "student",
        "degrees": plain(params.degrees),
    }


def _levels(log_p: Any, levels: tuple[int, ...]) -> Entry:
    ends = level_offsets(levels)
    tables = [plain(log_p[:, a:b]) for a, b in pairwise(ends)]
    return {"family": "levels", "log_shares": tables}


def _bernoulli(_: Any, params: Any) -> Entry:
    p = params.probabilities
    both = np.stack([log_of(1.0 - p), log_of(p)], axis=2)  # (k, d, 2)
    return {"family": "levels", "log_shares": plain(both.transpose(1, 0, 2))}


def _hurdle(_: Any, params: Any) -> Entry:
    return {
        "family": "hurdle",
        "log_zero": plain(log_of(params.zeros)),
        "log_more": plain(log_of(1.0 - params.zeros)),
        "means": plain(params.means),
        "dispersions": plain(params.dispersions),
    }


FAMILIES: dict[type, Callable[[Any, Any], Entry]] = {
    GaussianFamily: _normal,
    StudentFamily: _student,
    CategoricalFamily: lambda family, p: _levels(log_of(p.probabilities), family.levels),
    OrdinalFamily: lambda family, p: _levels(family.log_probabilities(p), family.levels),
    BernoulliFamily: _bernoulli,
    PoissonFamily: lambda _, p: {
        "family": "counts", "means": plain(p.rates), "dispersions": plain(np.zeros_like(p.rates)),
    },
    NegativeBinomialFamily: lambda _, p: {
        "family": "counts", "means": plain(p.means), "dispersions": plain(p.dispersions),
    },
    HurdleFamily: _hurdle,
    MultinomialFamily: lambda _, p: {"family": "shares", "shares": plain(p.probabilities)},
}  # fmt: skip
