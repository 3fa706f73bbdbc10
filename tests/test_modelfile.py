"""Model files: what comes back is what was saved, and nothing else is ever loaded."""

from __future__ import annotations

import json
import struct

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

import asterism
from asterism import modelfile
from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.errors import DataError, ModelFileError, ParameterError
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
from asterism.groups.judges import MixtureJudge
from asterism.groups.model import GroupModel
from asterism.methods.mixture import Settings, fit_mixture
from asterism.verdict.view import View

RNG = np.random.default_rng(0)
NUMBERS = np.vstack([RNG.normal(5 * g, 1 + g, (50, 3)) for g in range(2)])
COUNTS = np.vstack([RNG.poisson(3 + 6 * g, (50, 3)) for g in range(2)]).astype(float)
BITS = (RNG.random((100, 3)) < np.repeat([[0.2], [0.9]], 50, axis=0)).astype(float)
CODES = np.minimum(COUNTS // 4, 3)
FAMILIES = {
    **{name: (GaussianFamily(name), NUMBERS) for name in STRUCTURES},
    "student": (StudentFamily(GaussianFamily("VVV")), NUMBERS),
    "poisson": (PoissonFamily(), COUNTS),
    "negative_binomial": (NegativeBinomialFamily(), COUNTS),
    "hurdle": (HurdleFamily(), COUNTS),
    "multinomial": (MultinomialFamily(), COUNTS + 1),
    "bernoulli": (BernoulliFamily("conjugate"), BITS),
    "categorical": (CategoricalFamily((4, 4, 4), "conjugate"), CODES),
    "ordinal": (OrdinalFamily((4, 4, 4), "conjugate"), CODES),
    "product": (
        ProductFamily(((GaussianFamily("VVV"), (0, 2)), (CategoricalFamily((4,), "conjugate"), (1,)))),
        np.column_stack([NUMBERS[:, 0], CODES[:, 1], NUMBERS[:, 1]]),
    ),
}


def mixture_model(name: str, groups=None) -> tuple[GroupModel, np.ndarray]:
    family, rows = FAMILIES[name]
    fit = fit_mixture(ArraySource(rows), family, 2, Settings(max_iter=10))
    columns = tuple(Column(f"x{j}") for j in range(3))
    return GroupModel(columns, View(), MixtureJudge.of(fit.mixture, groups)), rows


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_comes_back_to_the_bit(name, tmp_path) -> None:
    model, rows = mixture_model(name)
    modelfile.save(model, tmp_path / "m.asterism")
    again = asterism.load(tmp_path / "m.asterism")
    for a, b in zip(model.assign(rows), again.assign(rows), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("method", ["kmeans", "kmedoids", "gaussian", "mixed"])
def test_every_kind_of_judge_comes_back_to_the_bit(method, tmp_path) -> None:
    table = pd.DataFrame({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1], "c": np.repeat(["x", "y"], 50)})
    finding = asterism.find(table, k=2, method=method)
    finding.save(tmp_path / "m.asterism")
    labels, probabilities = asterism.load(tmp_path / "m.asterism").assign(table)
    np.testing.assert_array_equal(labels, finding.labels)
    np.testing.assert_array_equal(probabilities, finding.probabilities)


def test_components_of_one_group_add_up(tmp_path) -> None:
    model, rows = mixture_model("VVV", groups=[0, 0])
    modelfile.save(model, tmp_path / "m.asterism")
    labels, probabilities = asterism.load(tmp_path / "m.asterism").assign(rows)
    assert set(labels) == {0}
    np.testing.assert_allclose(probabilities, 1.0)


def test_reduced_rows_come_back(tmp_path) -> None:
    rng = np.random.default_rng(3)
    wide = np.vstack([rng.normal(4 * g, 1, (60, 40)) for g in range(2)])
    finding = asterism.find(wide, k=2)
    assert finding.model.view.name == "reduced"
    finding.save(tmp_path / "m.asterism")
    assert (asterism.load(tmp_path / "m.asterism").assign(wide).labels == finding.labels).all()


# --- new tables -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pets():
    rng = np.random.default_rng(1)
    kinds = np.repeat(["meow", "woof"], 60)
    table = pd.DataFrame({"kg": np.where(kinds == "woof", 30, 4) + rng.normal(size=120), "says": kinds,
                          "cm": np.where(kinds == "woof", 60, 25) + rng.normal(size=120)})  # fmt: skip
    return table, asterism.find(table, k=2).model


def test_columns_are_matched_by_name_in_any_order(pets) -> None:
    table, model = pets
    mixed_up = table[["cm", "says", "kg"]].assign(name="someone")
    found = model.assign(mixed_up)
    assert (found.labels == model.assign(table).labels).all()
    assert found.match.extra == ("name",)
    assert "Not used: 'name'." in found.notes


def test_unseen_levels_are_missing_cells_and_said(pets) -> None:
    table, model = pets
    odd = table.assign(says=["moo"] * 5 + table["says"].tolist()[5:])
    blank = table.assign(says=[None] * 5 + table["says"].tolist()[5:])
    found = model.assign(odd)
    np.testing.assert_array_equal(found.probabilities, model.assign(blank).probabilities)
    assert any("5 cells" in note and "'moo'" in note for note in found.notes)


def test_missing_columns_are_refused_or_taken_as_missing(pets) -> None:
    table, model = pets
    with pytest.raises(DataError, match=r"'says'.*missing_columns"):
        model.assign(table.drop(columns="says"))
    found = model.assign(table.drop(columns="says"), missing_columns="missing")
    np.testing.assert_array_equal(found.probabilities, model.assign(table.assign(says=None)).probabilities)
    assert any("no column 'says'" in note for note in found.notes)
    with pytest.raises(ParameterError, match="refuse"):
        model.assign(table, missing_columns="guess")


def test_words_among_numbers_name_row_and_column(pets) -> None:
    _, model = pets
    with pytest.raises(DataError, match="row 2, column 'kg'"):
        model.assign(pd.DataFrame({"kg": ["4", "heavy"], "says": ["meow"] * 2, "cm": [25, 25]}))


def test_one_row_and_files_larger_than_a_batch(pets, tmp_path) -> None:
    table, model = pets
    assert model.assign(table[:1]).labels.shape == (1,)
    many = pd.concat([table] * 1500, ignore_index=True)
    pq.write_table(pa.Table.from_pandas(many), tmp_path / "many.parquet", row_group_size=10_000)
    found = model.assign(tmp_path / "many.parquet").labels
    assert (found == np.tile(model.assign(table).labels, 1500)).all()
    table.to_csv(tmp_path / "t.csv", index=False)
    assert (model.assign(tmp_path / "t.csv").labels == model.assign(table).labels).all()


def test_bare_arrays_go_by_position() -> None:
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])
    model = asterism.find(frame, k=2).model
    assert (model.assign(NUMBERS).labels == model.assign(frame).labels).all()
    with pytest.raises(DataError, match="2 columns"):
        model.assign(NUMBERS[:, :2])


# --- damaged and hostile files ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    model, rows = mixture_model("product")
    path = tmp_path_factory.mktemp("model") / "m.asterism"
    modelfile.save(model, path)
    return path.read_bytes(), rows


def test_any_flipped_bit_is_noticed(saved, tmp_path) -> None:
    data, _ = saved
    rng = np.random.default_rng(0)
    for place in {*range(0, 64), *rng.integers(0, len(data), 600).tolist(), len(data) - 1}:
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "b.asterism").write_bytes(broken)
        with pytest.raises(ModelFileError):
            asterism.load(tmp_path / "b.asterism")


def test_any_cut_is_noticed(saved, tmp_path) -> None:
    data, _ = saved
    for length in [0, 1, 7, 8, 9, 100, len(data) // 2, len(data) - 1]:
        (tmp_path / "b.asterism").write_bytes(data[:length])
        with pytest.raises(ModelFileError):
            asterism.load(tmp_path / "b.asterism")
    (tmp_path / "b.asterism").write_bytes(data + b"more")
    with pytest.raises(ModelFileError):
        asterism.load(tmp_path / "b.asterism")


@pytest.mark.parametrize("size", [0, 3, 1 << 20, 1 << 40, (1 << 64) - 1])
def test_huge_headers_are_refused(size, tmp_path) -> None:
    (tmp_path / "b.asterism").write_bytes(struct.pack("<Q", size) + b"{}" * 50)
    with pytest.raises(ModelFileError, match=r"cannot be read|not a model"):
        asterism.load(tmp_path / "b.asterism")


def tampered(saved, tmp_path, change) -> None:
    """A file whose digest is right, whatever it says."""
    path = tmp_path / "t.asterism"
    path.write_bytes(saved[0])
    from safetensors import safe_open

    arrays = load_file(path)
    with safe_open(path, framework="np") as file:
        meta = dict(file.metadata())
    told = json.loads(meta["asterism-model"])
    spec = json.loads(told["model"])
    change(spec, arrays, told)
    told["model"] = json.dumps(spec)
    told["digest"] = modelfile._digest(told["model"], arrays)
    name = "pt" if told.pop("format", None) else "asterism-model"
    save_file(arrays, path, metadata={name: json.dumps(told)})
    asterism.load(path)


def swap(name, array):
    return lambda spec, arrays, meta: arrays.__setitem__(name, array)


HOSTILE = {
    "unknown judge": lambda spec, *_: spec["judge"].__setitem__("kind", "os.system"),
    "unknown family": lambda spec, *_: spec["judge"]["family"].__setitem__("name", "builtins.eval"),
    "unknown view": lambda spec, *_: spec["view"].__setitem__("name", "plotly"),
    "no columns": lambda spec, *_: spec.__setitem__("columns", []),
    "columns twice": lambda spec, *_: spec.__setitem__("columns", spec["columns"][:1] * 3),
    "column without kind": lambda spec, *_: spec["columns"][0].pop("kind"),
    "levels of numbers": lambda spec, *_: spec["columns"][0].__setitem__("levels", ["a"]),
    "missing array": lambda spec, arrays, meta: arrays.pop("judge.weights"),
    "wrong shape": swap("judge.weights", np.ones(1)),
    "weights that do not add up": swap("judge.weights", np.ones(2)),
    "nan": swap("judge.weights", np.array([np.nan, 1.0])),
    "whole numbers": swap("judge.weights", np.ones(2, np.int64)),
    "groups out of place": swap("judge.groups", np.array([0, 1 << 40])),
    "covariances of nothing": swap("judge.params.0.matrices", np.zeros((2, 2, 2))),
    "covariances too small": swap("judge.params.0.matrices", np.ones((2, 1, 1))),
    "too many levels": lambda spec, *_: spec["judge"]["family"]["parts"][1][0].__setitem__(
        "levels", [1 << 50]
    ),
    "columns far away": lambda spec, *_: spec["judge"]["family"]["parts"][1].__setitem__(1, [9]),
    "strange parameters": swap("judge.params.0.code", np.ones((2, 2))),
    "not an object": lambda spec, *_: spec.__setitem__("judge", [1, 2, 3]),
    "newer": lambda spec, arrays, meta: meta.__setitem__("version", 999),
    "no version": lambda spec, arrays, meta: meta.__setitem__("version", "two"),
    "another program": lambda spec, arrays, meta: meta.__setitem__("format", "pt"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_with_a_remedy(name, saved, tmp_path) -> None:
    with pytest.raises(ModelFileError) as caught:
        tampered(saved, tmp_path, HOSTILE[name])
    assert caught.value.remedy


def test_nesting_without_end_is_refused(saved, tmp_path) -> None:
    def deep(spec, *_):
        spec["judge"]["family"] = {"name": "product", "parts": [[spec["judge"]["family"], [0, 1, 2]]]}

    with pytest.raises(ModelFileError):
        tampered(saved, tmp_path, lambda *args: [deep(*args) for _ in range(60)])


def test_newer_versions_say_update(saved, tmp_path) -> None:
    with pytest.raises(ModelFileError, match="Update Asterism"):
        tampered(saved, tmp_path, HOSTILE["newer"])


def test_files_that_are_not_there_or_not_files(tmp_path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(ModelFileError, match="asterism"):
            asterism.load(path)


# --- writing ----------------------------------------------------------------------------------------------------


def test_arrays_that_are_not_contiguous_are_written_right(tmp_path) -> None:
    model, rows = mixture_model("VVV")
    m = model.judge.mixture
    arrays = {name: np.asfortranarray(a) for name, a in m.family.pack(m.params).items()}
    strided = type(m)(m.family, m.weights[::-1].copy()[::-1], m.family.unpack(arrays))
    modelfile.save(GroupModel(model.columns, View(), MixtureJudge.of(strided)), tmp_path / "m.asterism")
    np.testing.assert_array_equal(asterism.load(tmp_path / "m.asterism").assign(rows).probabilities,
                                  model.assign(rows).probabilities)  # fmt: skip


def test_what_the_disk_gets_wrong_is_not_left_behind(tmp_path, monkeypatch) -> None:
    model, _ = mixture_model("VVV")
    modelfile.save(model, tmp_path / "m.asterism")
    before = (tmp_path / "m.asterism").read_bytes()
    write = modelfile.write_arrays

    def badly(path, arrays, meta):
        write(path, {**arrays, "judge.weights": arrays["judge.weights"] + 1e-12}, meta)

    monkeypatch.setattr(modelfile, "write_arrays", badly)
    with pytest.raises(ModelFileError, match="as it was written"):
        modelfile.save(model, tmp_path / "m.asterism")
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.asterism"]
    assert (tmp_path / "m.asterism").read_bytes() == before


def test_same_model_same_file(tmp_path) -> None:
    table = pd.DataFrame({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1]})
    for name in ("1", "2"):
        asterism.find(table, k=2).save(tmp_path / name)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
