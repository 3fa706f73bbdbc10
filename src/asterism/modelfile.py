"""Models in files: safetensors with JSON beside the arrays. No pickle; safe to open whoever wrote it.

What a file holds is looked up in two fixed tables (``JUDGES`` and ``families.infile.FAMILIES``); nothing is imported
or called by a name in the file. A digest over all of it tells a damaged file from a whole one, every array is read
again and compared after writing, and the file appears under its name only then.

    metadata   asterism-model = JSON: version, digest, model (JSON again: columns, view, judge, about)
    arrays     view.*, judge.*, typicality.*, background.*, baseline.*, layers.*

Typicality, background, the forms of columns, names of groups and the baseline came later than the format: a file
without them is read, and such a model has none. Layers came later, too; of a file without them they are made of its
judge. A file that says how a column's cells are read (``data.reading``) has version 2.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import KINDS, WITH_LEVELS, Column
from asterism.data.encode import Encoding
from asterism.data.margins import Margins
from asterism.data.reading import to_dict
from asterism.data.readings import reading_of
from asterism.distances.mixed import FittedSum
from asterism.engines.checkpoint import write_arrays
from asterism.errors import ModelFileError, ParameterError
from asterism.explain.typicality import Typicality
from asterism.families.infile import check_shapes, demand, family_of, floats, packed_family, positive, whole
from asterism.groups.background import Background
from asterism.groups.infile import packed_baseline, unpacked_baseline
from asterism.groups.judges import CentersJudge, Judge, MedoidsJudge, MixtureJudge, RegionsJudge
from asterism.groups.layers import unpacked_layers
from asterism.groups.model import GroupModel
from asterism.groups.numbered import NumberedJudge, plain_judge
from asterism.methods.frame import Frame
from asterism.methods.lloyd import Centers
from asterism.methods.medoids import Medoids
from asterism.methods.noise import Box
from asterism.methods.posterior import Mixture
from asterism.methods.regions import Regions
from asterism.verdict.view import View

FORMAT = "asterism-model"
MOST_PLACES = 1_000_000  # convention: a file with more was not written by us
VERSION = 2  # raised when a file of the new kind cannot be read by the old code
PLAIN_VERSION = 1  # of a file whose columns are read as they stand, which older code reads too

Arrays = dict[str, NDArray[Any]]
Spec = dict[str, Any]
WRONG = (
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    RecursionError,
    OverflowError,
    ArithmeticError,
)


# --- save and load ----------------------------------------------------------------------------------------------


def save(model: GroupModel, path: str | os.PathLike[str]) -> None:
    """Write a model; whole or not at all, and only what was read back and compared."""
    target = Path(path)
    arrays: Arrays = {}
    spec = {
        "columns": [_packed_column(column) for column in model.columns],
        "view": _packed_view(model.view, arrays),
        "judge": _packed_judge(model.judge, arrays),
        "about": dict(model.about),
        "names": list(model.names),
        **_packed_rest(model, arrays),
    }
    text = json.dumps(spec, ensure_ascii=True, allow_nan=False)
    # safetensors writes memory without looking at strides: contiguous arrays only
    arrays = {
        name: np.asarray(array, array.dtype.newbyteorder("<"), order="C") for name, array in arrays.items()
    }
    # One entry: safetensors writes several in any order, and the same model should be the same file.
    version = VERSION if any(column.reading for column in model.columns) else PLAIN_VERSION
    meta = {FORMAT: json.dumps({"version": version, "digest": _digest(text, arrays), "model": text})}
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{os.getpid()}.check")
    try:
        write_arrays(aside, arrays, meta)
        again, told = _read(aside)
        same = told == meta and again.keys() == arrays.keys()
        if not same or not all(
            np.array_equal(again[n], a, equal_nan=a.dtype.kind == "f") for n, a in arrays.items()
        ):
            raise ModelFileError(
                f"{target.name!r} did not come back from the disk as it was written.",
                "Nothing was left behind; try again, or write to another disk.",
            )
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> GroupModel:
    """A model from a file of ``finding.save`` (``asterism find`` writes it as groups.asterism).

    >>> import numpy as np, asterism, tempfile, pathlib
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asterism.find(X, k=2).save(pathlib.Path(folder) / "groups.asterism")
    ...     labels, probabilities = asterism.load(pathlib.Path(folder) / "groups.asterism").assign(X)
    >>> labels[[0, -1]].tolist()
    [0, 1]
    """
    target = Path(path)
    arrays, meta = _read(target)
    told = _ours(target.name, meta)
    if told["digest"] != _digest(told["model"], arrays):
        raise ModelFileError(
            f"{target.name!r} is damaged: its contents are not those it was written with.",
            "Take another copy, or find the groups again.",
        )
    try:
        return _restored(json.loads(told["model"]), arrays)
    except ModelFileError:
        raise
    except (*WRONG, np.linalg.LinAlgError) as bad:
        # The digest is no secret: a stranger's file may be whole and still make no sense.
        raise ModelFileError(
            f"{target.name!r} holds no model that makes sense ({type(bad).__name__}: {str(bad)[:200]}).",
            "It was not written by Asterism; find the groups again.",
        ) from bad


def _read(path: Path) -> tuple[Arrays, dict[str, str]]:
    from safetensors import SafetensorError, safe_open

    remedy = "It is damaged or no model file; `asterism find` writes models as groups.asterism."
    if not path.exists():
        raise ModelFileError(
            f"There is no model file {str(path)!r}.", "Give the path of a groups.asterism file."
        )
    if not path.is_file():
        raise ModelFileError(f"{path.name!r} is not a file.", "Give the path of a groups.asterism file.")
    try:
        with safe_open(path, framework="np") as file:
            meta = dict(file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a mapping
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError) as bad:
        raise ModelFileError(f"{path.name!r} cannot be read: {str(bad)[:200]}.", remedy) from bad
    return arrays, meta


def _ours(name: str, meta: Mapping[str, str]) -> dict[str, Any]:
    """The entry of a model file, of a version that is known here."""
    if FORMAT not in meta:
        raise ModelFileError(
            f"{name!r} is not a model of Asterism.", "Give a file that `asterism find` or finding.save wrote."
        )
    try:
        told: dict[str, Any] = json.loads(meta[FORMAT])
        version = told["version"]
        good = type(version) is int and isinstance(told["model"], str) and isinstance(told["digest"], str)
    except WRONG:
        good = False
    if not good:
        raise ModelFileError(f"{name!r} is damaged.", "Take another copy, or find the groups again.")
    if version > VERSION:
        raise ModelFileError(
            f"{name!r} has the format version {version}; this Asterism reads up to {VERSION}.",
            "Update Asterism (pip install --upgrade asterism).",
        )
    return told


def _digest(text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        digest.update(json.dumps([name, arrays[name].dtype.str, list(arrays[name].shape)]).encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _restored(spec: Spec, arrays: Arrays) -> GroupModel:
    columns = tuple(_column(item) for item in spec["columns"])
    demand(len(columns) > 0 and len({c.name for c in columns}) == len(columns), "columns of one name each")
    view = _view(spec["view"], columns, arrays)
    width = len(view.modelled(columns)) if view.encoding is None else view.encoding.width
    width = width if view.axes is None else len(view.axes)
    judge = _with_numbers(JUDGES[spec["judge"]["kind"]](spec["judge"], width, arrays), spec["judge"])
    about = spec["about"]
    demand(isinstance(about, dict), "notes about the model")
    names = tuple(spec.get("names", ()))
    demand(len(names) in (0, judge.k) and all(type(name) is str for name in names), "names of the groups")
    baseline = unpacked_baseline(view, columns, judge.k, arrays)
    rest = _rest(spec, judge.k, width, arrays)
    if "layers" in spec:
        told, fine = spec["layers"], plain_judge(judge)
        if "judge" in told:
            own = {
                name.removeprefix("layers."): a for name, a in arrays.items() if name.startswith("layers.")
            }
            fine = JUDGES[told["judge"]["kind"]](told["judge"], width, own)
        rest["known_layers"] = unpacked_layers(told, plain_judge(judge).k, fine.k), fine
    return GroupModel(columns, view, judge, about, names=names, baseline=baseline, **rest)


def _packed_column(column: Column) -> Spec:
    spec: Spec = {"name": column.name, "kind": column.kind, "levels": list(column.levels)}
    return spec if column.reading is None else spec | {"reading": to_dict(column.reading)}


def _column(item: Spec) -> Column:
    name, kind, levels = item["name"], item["kind"], tuple(item["levels"])
    demand(isinstance(name, str) and kind in KINDS and kind != "ignored", "columns with a name and a kind")
    demand(
        all(isinstance(level, str) for level in levels) and len(set(levels)) == len(levels), "distinct levels"
    )
    demand(
        bool(levels) == (kind in WITH_LEVELS) and (kind != "boolean" or len(levels) == 2),
        "levels of its kind",
    )
    reading = reading_of(item["reading"]) if "reading" in item else None
    return Column(name, kind, levels, reading=reading)


# --- rows that belong to none -----------------------------------------------------------------------------------


def _packed_rest(model: GroupModel, arrays: Arrays) -> Spec:
    spec: Spec = {"least_typicality": model.least_typicality}
    if model.typicality is not None:
        arrays |= {f"typicality.{name}": getattr(model.typicality, name) for name in TABLES}
    if model.baseline is not None:
        arrays |= packed_baseline(model.baseline)
    if model.background is not None:
        spec["background"] = model.background.share
        arrays["background.low"], arrays["background.high"] = (
            model.background.box.low,
            model.background.box.high,
        )
    layers, fine = model.layered
    spec["layers"] = {"groups": list(layers.groups), "joins": [list(join) for join in layers.joins]}
    if fine is not model.judge:
        own: Arrays = {}
        spec["layers"]["judge"] = _packed_judge(fine, own)
        arrays |= {f"layers.{name}": array for name, array in own.items()}
    return spec


TABLES = ("scores", "shares", "weights", "cell_scores")


def _rest(spec: Spec, k: int, width: int, arrays: Arrays) -> dict[str, Any]:
    rest: dict[str, Any] = {"least_typicality": positive(spec.get("least_typicality", 0.0), zero=True)}
    if "typicality.scores" in arrays:
        shapes: dict[str, tuple[int | None, ...]] = {
            "scores": (k, None), "shares": (k, None), "weights": (k,), "cell_scores": (k, width),
        }  # fmt: skip
        tables = {name: floats(arrays, f"typicality.{name}", shapes[name]) for name in TABLES}
        same = tables["scores"].shape == tables["shares"].shape and tables["scores"].shape[1] > 0
        demand(same and bool((tables["weights"] >= 0).all()), "tables of typicality of one shape")
        demand(bool((np.diff(tables["scores"], axis=1) >= 0).all()), "scores that rise")
        rest["typicality"] = Typicality(**tables)
    if "background" in spec:
        share = positive(spec["background"])
        box = Box(floats(arrays, "background.low", (width,)), floats(arrays, "background.high", (width,)))
        demand(share < 1 and bool((box.high > box.low).all()), "a background with a share and a volume")
        rest["background"] = Background(share, box)
    return rest


# --- views ------------------------------------------------------------------------------------------------------


def _packed_view(view: View, arrays: Arrays) -> Spec:
    if view.encoding is not None:
        arrays["view.center"], arrays["view.scale"] = view.encoding.center, view.encoding.scale
    if view.axes is not None:
        arrays["view.axes"] = view.axes
    spec: Spec = {"name": view.name}
    if view.margins is not None:
        spec["margins"] = view.margins.to_dict()
    if view.aside:
        spec["aside"] = list(view.aside)
    return spec


def _view(spec: Spec, columns: tuple[Column, ...], arrays: Arrays) -> View:
    name = spec["name"]
    demand(name in ("plain", "scaled", "reduced"), "a known view of the rows")
    margins = Margins.from_dict(spec["margins"], columns) if "margins" in spec else None
    aside = tuple(spec.get("aside", ()))
    known = {column.name for column in (columns if margins is None else margins.modelled)}
    demand(
        all(type(one) is str and one in known for one in aside) and len(set(aside)) < len(known),
        "columns by name",
    )
    plain = View(margins=margins, aside=aside)
    if name == "plain":
        return plain
    columns = plain.modelled(columns)
    width = Encoding.plain(columns).width
    scale = floats(arrays, "view.scale", (width,))
    demand(bool((scale > 0).all()), "positive scales")
    encoding = Encoding(columns, floats(arrays, "view.center", (width,)), scale)
    axes = floats(arrays, "view.axes", (None, width)) if name == "reduced" else None
    return View(encoding, axes, margins, aside)


# --- judges -----------------------------------------------------------------------------------------------------


def _packed_judge(judge: Judge, arrays: Arrays) -> Spec:
    if isinstance(judge, NumberedJudge):
        numbers = {"numbers": judge.numbers.tolist(), "places": judge.places}
        return {**_packed_judge(judge.judge, arrays), **numbers}
    if isinstance(judge, MixtureJudge):
        m = judge.mixture
        arrays["judge.weights"], arrays["judge.groups"] = m.weights, judge.groups
        family = packed_family(m.family, "judge.family.", arrays)
        arrays |= {f"judge.params.{name}": array for name, array in m.family.pack(m.params).items()}
        return {"kind": "mixture", "family": family}
    if isinstance(judge, CentersJudge):
        frame = judge.centers.frame
        arrays["judge.reference"], arrays["judge.offsets"] = frame.reference, judge.centers.offsets
        return {
            "kind": "centers", "spread": judge.spread, "scale": frame.scale,
            "missing": frame.missing, "around_zero": frame.around_zero,
        }  # fmt: skip
    if isinstance(judge, RegionsJudge):
        known = judge.regions
        arrays |= {"judge.rows": known.rows, "judge.weights": known.weights}
        arrays |= {"judge.labels": known.labels, "judge.log_widths": known.log_widths}
        return {"kind": "regions"}
    fitted = judge.medoids.fitted if isinstance(judge, MedoidsJudge) else None
    if not isinstance(judge, MedoidsJudge) or not isinstance(fitted, FittedSum):
        raise ParameterError(
            f"A model by {type(fitted or judge).__name__} cannot be saved.", "Save one that `find` made."
        )
    own = {"kinds": fitted.kinds, "weights": fitted.weights, "low": fitted.low, "spread": fitted.spread}
    arrays |= {f"judge.{name}": array for name, array in own.items()}
    arrays["judge.ready"], arrays["judge.numbers"] = judge.medoids.ready, judge.medoids.numbers
    return {
        "kind": "medoids", "spread": judge.spread, "normalised": fitted.normalised, "names": list(fitted.names),
        "unknown": None if np.isnan(fitted.unknown) else fitted.unknown,
    }  # fmt: skip


def _with_numbers(judge: Judge, spec: Spec) -> Judge:
    """The judge with the numbers of its groups, where some are vacant."""
    if "numbers" not in spec:
        return judge
    numbers, places = spec["numbers"], spec["places"]
    demand(type(places) is int and judge.k <= places <= MOST_PLACES, "a number of groups")
    known = all(type(number) is int and 0 <= number < places for number in numbers)
    demand(known and len(numbers) == len(set(numbers)) == judge.k, "a number for each group")
    return NumberedJudge(judge, np.array(numbers, np.int64), places)


def _mixture(spec: Spec, width: int, arrays: Arrays) -> Judge:
    weights = floats(arrays, "judge.weights", (None,))
    groups = whole(arrays, "judge.groups", (len(weights),))
    demand(bool((weights >= 0).all()) and abs(weights.sum() - 1.0) < 1e-6, "proportions that add up to 1")
    demand(
        groups.max() < len(groups) and len(set(groups.tolist())) == groups.max() + 1, "groups numbered from 0"
    )
    family = family_of(spec["family"], width, "judge.family.", arrays)
    prefix = "judge.params."
    params = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
    k = len(weights)
    for name, array in params.items():
        demand(
            array.dtype == np.float64 and array.ndim >= 1 and len(array) in (1, k),
            f"{name!r} of {k} components",
        )
        demand(bool(np.isfinite(array).all()), f"{name!r} of finite numbers")
    mixture = Mixture(family, weights, family.unpack(params))
    demand(family.pack(mixture.params).keys() == params.keys(), "the parameters of its family and no others")
    check_shapes(family, mixture.params, k, width)
    return MixtureJudge(mixture, groups)


def _centers(spec: Spec, width: int, arrays: Arrays) -> Judge:
    frame = Frame(
        floats(arrays, "judge.reference", (width,)),
        positive(spec["scale"]), bool(spec["missing"]), bool(spec["around_zero"]),
    )  # fmt: skip
    offsets = floats(arrays, "judge.offsets", (None, width))
    return CentersJudge(Centers(frame, offsets), positive(spec["spread"], zero=True))


def _regions(spec: Spec, width: int, arrays: Arrays) -> Judge:  # noqa: ARG001  one signature for all
    rows = floats(arrays, "judge.rows", (None, width))
    n = len(rows)
    weights, widths = floats(arrays, "judge.weights", (n,)), floats(arrays, "judge.log_widths", (n,))
    labels = whole(arrays, "judge.labels", (n,))
    demand(n > 0 and bool((weights > 0).all()), "rows of positive weight")
    demand(len(set(labels.tolist())) == labels.max() + 1, "groups numbered from 0")
    return RegionsJudge(Regions(rows, weights, labels.astype(np.int64), widths))


def _medoids(spec: Spec, width: int, arrays: Arrays) -> Judge:
    names = tuple(str(name) for name in spec["names"])
    demand(len(names) == width, "a name for each column")
    kinds = whole(arrays, "judge.kinds", (width,))
    demand(bool(((kinds >= 0) & (kinds <= 2)).all()), "known comparisons of cells")
    spread = floats(arrays, "judge.spread", (width,))
    demand(bool((spread > 0).all()), "positive ranges")
    unknown = np.nan if spec["unknown"] is None else positive(spec["unknown"], zero=True)
    fitted = FittedSum(
        names, kinds, floats(arrays, "judge.weights", (width,)), floats(arrays, "judge.low", (width,)),
        spread, bool(spec["normalised"]), unknown,
    )  # fmt: skip
    ready = floats(arrays, "judge.ready", (None, width), missing=True)
    numbers = whole(arrays, "judge.numbers", (len(ready),))
    return MedoidsJudge(Medoids(fitted, numbers, ready), positive(spec["spread"], zero=True))


JUDGES: dict[str, Callable[[Spec, int, Arrays], Judge]] = {
    "mixture": _mixture,
    "centers": _centers,
    "medoids": _medoids,
    "regions": _regions,
}
