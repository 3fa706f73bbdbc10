"""What columns carry: noise, correlated noise and repeats, against likelihoods written down in full."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import asterism
from asterism.data.columns import Column
from asterism.data.encode import Encoding
from asterism.data.source import ArraySource
from asterism.distances.neighbours import Neighbours
from asterism.explain.relevance import Relevance, Sample, relevances
from asterism.groups.judges import RegionsJudge
from asterism.groups.model import GroupModel
from asterism.groups.without import relevance_of
from asterism.methods.regions import Regions
from asterism.verdict.view import View

N = 400


def three(seed: int) -> tuple[np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return rng.choice(3, N, p=[0.5, 0.3, 0.2]), rng


def of(
    rows: np.ndarray, columns: list[Column], r: np.ndarray, w: np.ndarray | None = None
) -> dict[str, Relevance]:
    names = tuple(column.name for column in columns)
    weights = np.ones(len(rows)) if w is None else w
    sample = Sample(names, tuple(columns), tuple(range(len(names))), rows, weights, r)
    return {one.column: one for one in relevances(sample, lambda j: r)}


def numbers(count: int) -> list[Column]:
    return [Column(f"x{j}") for j in range(count)]


def test_the_loss_of_one_column_is_the_difference_of_two_maxima() -> None:
    """A column by itself: means and variances of known groups beside one of each, by an optimiser."""
    z, rng = three(0)
    prior = np.where(np.eye(3)[z] > 0, 0.8, 0.1)
    x = rng.normal(1.5 * z, 1.0 + 0.3 * z)

    def minus(t: np.ndarray) -> float:
        return -float(np.log((prior * norm.pdf(x[:, None], t[:3], np.exp(t[3:]))).sum(axis=1)).sum())

    best = minimize(minus, np.r_[0.0, 1.5, 3.0, 0.0, 0.0, 0.0], method="BFGS")
    one = norm.logpdf(x, x.mean(), x.std()).sum()
    found = of(x[:, None], numbers(1), prior)["x0"]
    assert found.loss == pytest.approx((-best.fun - one - 4) / N, abs=2e-3)
    assert found.carries


def test_levels_lose_what_their_shares_say() -> None:
    """Sure groups: n times the mutual information of the table of counts, up to the weak prior of shares."""
    z, rng = three(1)
    codes = np.where(rng.random(N) < 0.5, z, rng.integers(3, size=N)).astype(float)
    counts = np.array([[np.sum((z == g) & (codes == level)) for level in range(3)] for g in range(3)])
    share = counts / N
    information = (share * np.log(share / share.sum(axis=0) / share.sum(axis=1)[:, None])).sum()
    found = of(codes[:, None], [Column("c", "categorical", ("a", "b", "c"))], np.eye(3)[z])["c"]
    assert found.loss == pytest.approx(information - 4 / N, abs=5e-3)
    assert found.carries


def test_noise_carries_nothing_even_if_it_goes_along_with_a_column_that_does() -> None:
    wrong = 0
    for seed in range(12):
        z, rng = three(seed)
        a = rng.normal(3.0 * (z == 1), 1.0)
        b = rng.normal(3.0 * (z == 2), 1.0)
        along = 0.8 * a - 0.5 * b + rng.normal(size=N)
        found = of(np.column_stack([a, b, along, rng.normal(size=N)]), numbers(4), np.eye(3)[z])
        assert found["x0"].carries
        assert found["x1"].carries
        wrong += found["x2"].carries + found["x3"].carries
    assert wrong <= 1


def test_two_columns_that_carry_the_same_both_carry() -> None:
    z, rng = three(2)
    x = 3.0 * (z == 1)[:, None] + rng.normal(size=(N, 2))
    assert all(one.carries for one in of(x, numbers(2), np.eye(3)[z]).values())


def test_missing_cells_say_nothing_and_weights_are_rows() -> None:
    z, rng = three(3)
    x = np.column_stack([rng.normal(2.0 * z, 1.0), rng.normal(size=N)])
    x[rng.random((N, 2)) < 0.1] = np.nan
    w = rng.integers(1, 4, N)
    rows = np.repeat(np.arange(N), w)
    once = of(x, numbers(2), np.eye(3)[z], w.astype(float))
    often = of(x[rows], numbers(2), np.eye(3)[z][rows])
    for name in ("x0", "x1"):
        assert once[name].loss == pytest.approx(often[name].loss, abs=1e-8)
    assert once["x0"].carries
    assert not once["x1"].carries


def test_one_group_rests_on_nothing() -> None:
    found = of(np.random.default_rng(0).normal(size=(50, 2)), numbers(2), np.ones((50, 1)))
    assert all((one.loss, one.carries) == (0.0, False) for one in found.values())


@pytest.fixture(scope="module")
def table() -> pa.Table:
    z, rng = three(4)
    return pa.table(
        {
            "a": rng.normal(5.0 * (z == 1), 1.0),
            "noise": rng.normal(size=N),
            "b": rng.normal(5.0 * (z == 2), 1.0),
        }
    )


@pytest.mark.parametrize("method", ["auto", "kmeans", "kmedoids"])
def test_every_method_has_a_relevance(table, method: str) -> None:
    found = asterism.find(table, k=3, method=method).relevance
    assert {one.column for one in found if one.carries} == {"a", "b"}
    assert found[-1].column == "noise"
    assert all(one.error > 0 for one in found)


def test_regions_of_any_shape_are_asked_by_their_neighbours() -> None:
    rng = np.random.default_rng(0)
    ring = rng.random(300) < 0.5
    angle = rng.uniform(0, 2 * np.pi, 300)
    x = np.where(ring, 4.0, 0.0)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    rows = np.column_stack([x + 0.4 * rng.normal(size=(300, 2)), rng.normal(size=300)])
    source = ArraySource(rows)
    regions = Regions.of(Neighbours.of(rows, np.ones(300), 20), ring.astype(np.int64))
    model = GroupModel(source.columns, View(Encoding.plain(source.columns)), RegionsJudge(regions))
    found = {one.column: one for one in relevance_of(model, source)}
    assert found["x0"].carries
    assert found["x1"].carries
    assert not found["x2"].carries


def test_the_only_column_carries_all_there_is() -> None:
    rng = np.random.default_rng(0)
    z = np.repeat([0, 1], 60)
    for method in ("auto", "kmeans", "kmedoids"):
        [found] = asterism.find(rng.normal(5.0 * z, 1.0)[:, None], k=2, method=method).relevance
        assert found.carries
        assert found.loss > 0.2


def test_selection_leaves_noise_out_and_says_so(table) -> None:
    found = asterism.find(table, k=3, select=True)
    assert {column.name for column in found.columns} == {"a", "b"}
    assert [column.reason for column in found.ignored] == ["noise: it carries nothing of the groups"]
    assert found.to_dict()["relevance"][0]["carries"] is True
    labels, _ = found.model.assign(table)
    assert labels.tolist() == found.labels.tolist()


def test_nothing_is_selected_where_there_are_no_groups() -> None:
    rows = np.random.default_rng(0).normal(size=(100, 2))
    found = asterism.find(rows, k=1, select=True)
    assert len(found.columns) == 2


def test_the_page_on_relevance_is_true(root) -> None:
    import doctest

    failed, tried = doctest.testfile(str(root / "docs" / "methods" / "relevance.md"), module_relative=False)
    assert tried > 5
    assert failed == 0
