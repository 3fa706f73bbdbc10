"""Layers: planted hierarchies come back, layers lie within each other, files keep them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import asterism
from asterism import modelfile
from asterism.cli.main import main
from asterism.data.columns import numbered_columns
from asterism.data.source import ArraySource
from asterism.errors import ModelFileError, ParameterError
from asterism.families.categorical import CategoricalFamily
from asterism.families.gaussian import GaussianFamily
from asterism.groups.apart import of_regions, separations
from asterism.groups.judges import CentersJudge, MixtureJudge, RegionsJudge
from asterism.groups.layers import joins_of, layers_from, layers_of, subregions
from asterism.groups.model import GroupModel
from asterism.methods.density_layers import neighbours_of
from asterism.methods.kmeans import fit_kmeans
from asterism.methods.mixture import Settings, fit_mixture
from asterism.methods.posterior import Mixture
from asterism.methods.regions import Regions
from asterism.metrics import adjusted_rand_score
from asterism.verdict.view import View

HEAPS = np.array([[0.0, 0.0], [60.0, 0.0], [0.0, 60.0]])
INSIDE = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])


def planted(n=40, inside=INSIDE, seed=0):
    """Three heaps of three groups: rows, heaps, groups."""
    rng = np.random.default_rng(seed)
    centres = (HEAPS[:, None] + inside[None]).reshape(-1, 2)
    truth = np.repeat(np.arange(9), n)
    return centres[truth] + rng.normal(size=(9 * n, 2)), truth // 3, truth


def mixture_at(rows, truth, structure="VVV"):
    table = ArraySource(rows)
    fitted = fit_mixture(table, GaussianFamily(structure), int(truth.max()) + 1, Settings(seed=0)).mixture
    return table, fitted


def model_of(mixture: Mixture, groups=None, seen=None) -> GroupModel:
    return GroupModel(numbered_columns(2), View(), MixtureJudge.of(mixture, groups), seen=seen)


# --- how far apart ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [1.0, 3.0, 8.0, 40.0])
def test_two_normal_groups_are_as_far_apart_as_their_means_in_standard_deviations(distance) -> None:
    rng = np.random.default_rng(1)
    turn = np.array([[2.0, 0.0], [1.5, 0.3]])  # a spread of its own in every direction: Mahalanobis
    rows = np.concatenate([rng.normal(size=(400, 2)), rng.normal((distance, 0.0), 1.0, (400, 2))]) @ turn
    labels = np.repeat([0, 1], 400)
    _, fitted = mixture_at(rows, labels, "EEE")
    means, covariance = fitted.params.means, fitted.params.covariances.full()[0]
    exact = float(np.sqrt((means[0] - means[1]) @ np.linalg.solve(covariance, means[0] - means[1])))
    found = separations(MixtureJudge.of(fitted), np.arange(2))[0]
    assert found[0, 1] == pytest.approx(exact, rel=0.15)
    assert found[0, 1] == found[1, 0]


def test_the_side_that_lies_nearer_to_the_border_counts() -> None:
    family = GaussianFamily(
        "VVV", reference=np.zeros(1), center=np.zeros(1), variances=np.ones(1), surveyed=True
    )
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 0.1, (300, 1)), rng.normal(12, 3, (300, 1))])
    fitted = fit_mixture(ArraySource(rows), family, 2, Settings(seed=0)).mixture
    assert 3.0 < separations(MixtureJudge.of(fitted), np.arange(2))[0][0, 1] < 6.0  # 12 / 3, not 12 / 0.1


def test_groups_that_differ_in_names_alone_are_as_far_apart_as_their_log_ratio_says() -> None:
    family = CategoricalFamily((2,))
    params = family.unpack({"probabilities": np.array([[0.9, 0.1], [0.1, 0.9]])})
    found = separations(MixtureJudge.of(Mixture(family, np.array([0.5, 0.5]), params)), np.arange(2))[0][0, 1]
    mean = 0.8 * np.log(9.0)  # of s = +-log 9, whose deviation is 0.6 log 9
    assert found == pytest.approx(min(2 * mean / (0.6 * np.log(9.0)), np.sqrt(2 * mean)), rel=0.1)


def test_centres_are_apart_in_deviations_of_the_rows_about_them() -> None:
    rows = planted()[0]
    fit = fit_kmeans(ArraySource(rows), 9, n_init=5, seed=0)
    found = separations(CentersJudge(fit.model, fit.inertia / len(rows)), np.arange(9))[0]
    centres = np.stack([rows[fit.labels == g].mean(axis=0) for g in range(9)])
    unit = np.sqrt(fit.inertia / len(rows) / 2)
    np.testing.assert_allclose(found, np.linalg.norm(centres[:, None] - centres, axis=2) / unit, rtol=1e-6)


def test_regions_are_apart_by_their_nearest_known_rows() -> None:
    rows, heaps, _ = planted(n=15)
    regions = Regions(rows, np.ones(len(rows)), heaps.astype(np.int64), np.zeros(len(rows)))
    found = of_regions(regions, regions.labels)
    for a in range(3):
        for b in range(3):
            if a != b:
                sides = []
                for one, other in ((a, b), (b, a)):
                    away = np.linalg.norm(rows[heaps == one][:, None] - rows[heaps == other], axis=2).min(
                        axis=1
                    )
                    sides.append(away.mean() / away.std())
                assert found[a, b] == pytest.approx(min(sides))


# --- joins ------------------------------------------------------------------------------------------------------


@given(st.integers(2, 9), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_layers_of_groups_are_those_of_scipys_single_linkage(k, seed) -> None:
    rng = np.random.default_rng(seed)
    apart = squareform(rng.uniform(1, 9, k * (k - 1) // 2))
    layers = layers_from(list(range(k)), joins_of(np.arange(k), apart, apart))
    tree = linkage(squareform(apart), "single")
    for layer in layers:
        assert adjusted_rand_score(fcluster(tree, layer.k, "maxclust"), layer.group_of) == 1.0
        assert layer.apart == (None if layer.k == 1 else pytest.approx(tree[k - layer.k, 2]))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_layers_nest_and_one_of_them_is_the_groups(groups, seed) -> None:
    groups = np.unique(groups, return_inverse=True)[1]
    rng, n, k = np.random.default_rng(seed), len(groups), int(groups.max()) + 1
    parts, whole = (
        squareform(rng.uniform(0, 5, m * (m - 1) // 2)) if m > 1 else np.zeros((1, 1)) for m in (n, k)
    )
    layers = layers_from(groups.tolist(), joins_of(groups, parts, whole))
    assert [layer.k for layer in layers] == list(range(1, n + 1))
    assert layers.at(k).group_of == tuple(groups.tolist())
    for coarse, fine in zip(layers.layers, layers.layers[1:], strict=False):
        assert len(set(zip(coarse.group_of, fine.group_of, strict=True))) == fine.k
        joined = {fine.group_of[p] for p in range(n) if coarse.group_of[p] == coarse.group_of[_member(fine)]}
        assert set(fine.joined) == joined


def _member(layer) -> int:
    return layer.group_of.index(layer.joined[0])


def test_heaps_stand_out_and_evenly_spaced_groups_do_not() -> None:
    rows, _, truth = planted()
    assert model_of(mixture_at(rows, truth)[1]).layers.standing_out.k == 3
    rng = np.random.default_rng(0)
    chain = np.concatenate([rng.normal((9.0 * g, 0.0), 1.0, (60, 2)) for g in range(5)])
    _, fitted = mixture_at(chain, np.repeat(np.arange(5), 60))
    assert model_of(fitted).layers.standing_out is None


# --- planted ----------------------------------------------------------------------------------------------------


def test_a_planted_hierarchy_comes_back_by_its_number_of_groups() -> None:
    rows, heaps, truth = planted()
    finding = asterism.find(rows, k=9)
    assert finding.layers.standing_out.k == 3
    assert adjusted_rand_score(heaps, finding.model.assign(rows, level=3).labels) == 1.0
    assert adjusted_rand_score(truth, finding.model.assign(rows, level=9).labels) == 1.0
    within = finding.layers.within(3)
    assert [within[g] for g in finding.labels] == finding.model.assign(rows, level=3).labels.tolist()
    said = finding.to_dict()["layers"]
    assert said["stands_out"] == 3
    assert json.loads(json.dumps(said))["table"][2]["k"] == 3


def test_parts_come_from_a_finer_mixture_that_the_search_saw() -> None:
    rows, heaps, truth = planted()
    coarse, fine = mixture_at(rows, heaps)[1], mixture_at(rows, truth)[1]
    model = model_of(coarse, seen=fine)
    assert len(model.layers) == 9
    assert model.layers.groups == tuple(sorted(model.layers.groups))
    assert adjusted_rand_score(truth, model.assign(rows, level=9).labels) == 1.0
    assert adjusted_rand_score(heaps, model.assign(rows, level=3).labels) == 1.0


def test_components_that_overlap_are_no_parts() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(30, 1, (200, 2))])
    _, fitted = mixture_at(rows, np.repeat(np.arange(4), 100))  # two components each
    groups = (fitted.params.means[:, 0] + fitted.family.reference[0] > 15).astype(np.int64)
    assert len(model_of(fitted, groups).layers) == 2


def test_regions_have_the_parts_that_clear_valleys_make() -> None:
    rows, heaps, truth = planted(n=60)
    near = neighbours_of(rows, np.ones(len(rows)), 60)
    order = [int(np.flatnonzero((near.rows == row).all(axis=1))[0]) for row in rows]
    labels = np.empty(len(rows), np.int64)
    labels[order] = heaps
    regions = Regions.of(near, labels)
    parts = subregions(regions)
    assert adjusted_rand_score(truth, parts[order]) == 1.0
    layers, judge = layers_of(RegionsJudge(regions))
    assert len(layers) == judge.k == 9
    assert layers.k == 3


# --- rows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "kmeans", "kmedoids"])
def test_labels_of_layers_nest_row_by_row_and_probabilities_add_up(method) -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(c, 1.0, (40, 2)) for c in ((0, 0), (3, 0), (9, 9), (12, 9))])
    model = asterism.find(rows, k=4, method=method).model
    finer = None
    for level in range(len(model.layers), 0, -1):
        found = model.assign(rows, level=level)
        np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
        assert found.probabilities.shape == (len(rows), level)
        if finer is not None:
            pairs = set(zip(found.labels.tolist(), finer.tolist(), strict=True))
            assert len(pairs) == len({fine for _, fine in pairs})
        finer = found.labels
    assert (model.assign(rows, level=4).labels == model.assign(rows).labels).all()
    np.testing.assert_allclose(
        model.assign(rows, level=4).probabilities, model.assign(rows).probabilities, atol=1e-9
    )


def test_rows_of_no_group_are_in_no_group_of_any_layer() -> None:
    rows, _, _ = planted()
    finding = asterism.find(rows, k=9, outliers=0.05)
    assert ((finding.model.assign(rows, level=3).labels < 0) == (finding.labels < 0)).all()


@pytest.mark.parametrize("level", [0, 10, 2.0, True, "2"])
def test_levels_there_are_not_are_refused_with_those_there_are(level) -> None:
    rows, _, truth = planted()
    with pytest.raises(ParameterError, match="Give 1 to 9"):
        model_of(mixture_at(rows, truth)[1]).assign(rows, level=level)


# --- files ------------------------------------------------------------------------------------------------------


def saved(model, path):
    modelfile.save(model, path)
    return modelfile.load(path)


def test_layers_come_back_from_a_file_to_the_bit(tmp_path) -> None:
    rows, heaps, truth = planted()
    model = model_of(mixture_at(rows, heaps)[1], seen=mixture_at(rows, truth)[1])
    again = saved(model, tmp_path / "m.asterism")
    assert again.layers == model.layers
    for level in (2, 3, 9):
        np.testing.assert_array_equal(
            again.assign(rows, level=level).probabilities, model.assign(rows, level=level).probabilities
        )


def test_a_file_without_layers_has_those_of_its_judge(tmp_path, monkeypatch) -> None:
    rows, _, truth = planted()
    model = model_of(mixture_at(rows, truth)[1])
    dumps = modelfile.json.dumps

    def without_layers(value, **how):
        if isinstance(value, dict):
            value = {name: item for name, item in value.items() if name != "layers"}
        return dumps(value, **how)

    monkeypatch.setattr(modelfile.json, "dumps", without_layers)
    again = saved(model, tmp_path / "old.asterism")
    assert again.known_layers is None
    assert again.layers == model.layers


@pytest.mark.parametrize(
    "wrong",
    [
        {"groups": [0, 1]},
        {"groups": [0] * 9},
        {"joins": []},
        {"joins": [[0, 0, 1.0]] * 8},
        {"joins": [[0, 99, 1.0]] * 8},
        {"joins": [[0, 1, -1.0]] * 8},
        {"judge": {"kind": "mixture"}},
    ],
    ids=str,
)
def test_layers_that_make_no_sense_are_refused(wrong, tmp_path, monkeypatch) -> None:
    rows, _, truth = planted()
    model = model_of(mixture_at(rows, truth)[1])
    dumps = modelfile.json.dumps

    def spoiled(value, **how):
        if isinstance(value, dict) and "layers" in value:
            value = {**value, "layers": {**value["layers"], **wrong}}
        return dumps(value, **how)

    monkeypatch.setattr(modelfile.json, "dumps", spoiled)
    modelfile.save(model, tmp_path / "m.asterism")
    monkeypatch.undo()
    with pytest.raises(ModelFileError):
        modelfile.load(tmp_path / "m.asterism")


def test_level_on_the_command_line(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows, heaps, truth = planted()
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
    modelfile.save(
        GroupModel(
            tuple(column for column in asterism.read("t.csv").columns),
            View(),
            MixtureJudge.of(mixture_at(rows, truth)[1]),
        ),
        "m.asterism",
    )
    done = CliRunner().invoke(main, ["assign", "m.asterism", "t.csv", "--level", "3", "--quiet"])
    assert done.exit_code == 0, done.stderr
    groups = [line.split(",")[1] for line in done.stdout.splitlines()[1:]]
    assert adjusted_rand_score(heaps, groups) == 1.0
    done = CliRunner().invoke(main, ["assign", "m.asterism", "t.csv", "--level", "3", "--json"])
    assert json.loads(done.stdout)["sizes"] == [120, 120, 120]
    assert CliRunner().invoke(main, ["assign", "m.asterism", "t.csv", "--level", "10"]).exit_code == 2
