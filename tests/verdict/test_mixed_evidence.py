"""Evidence of mixed proposals: against brute force, and the same whatever cannot matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.stats import bernoulli, norm, poisson
from sklearn.metrics import adjusted_rand_score

from asterism.data.columns import Column
from asterism.data.margins import Form, Margins
from asterism.methods.path import fit_path
from asterism.verdict.dependence_null import MixedRows
from asterism.verdict.kinds import most_assumed, product_of
from asterism.verdict.mixed_evidence import (
    RIDGE,
    MixedProposal,
    MixedTable,
    _rand,
    margin_log_likelihood,
    measure_mixed,
)

COLUMNS = (
    Column("kg"),
    Column("visits", "count"),
    Column("answer", "ordinal", tuple("1234")),
    Column("town", "categorical", tuple("abc")),
    Column("smokes", "boolean", ("no", "yes")),
)


def table_of(cells, weights=None, columns=COLUMNS):
    weights = np.ones(len(cells)) if weights is None else weights
    return MixedRows(Margins(tuple(columns), (Form(),) * len(columns)), np.ascontiguousarray(cells), weights)


def two_groups(seed=0, n=240):
    rng = np.random.default_rng(seed)
    of = rng.integers(2, size=n)
    kg = rng.normal(3.0 * of, 1.0)
    town = np.where(rng.random(n) < 0.8, of, 2)
    answer = np.clip(np.rint(1.5 + of + 0.5 * kg), 0, 3)
    cells = np.column_stack([kg, rng.poisson(2 + 4 * of), answer, town, rng.random(n) < 0.3 + 0.4 * of])
    return cells.astype(float), of


def proposal(labels, side="mixture"):
    return MixedProposal(side, np.eye(int(labels.max()) + 1)[labels], None)


def mixtures(rows):
    """Those of one component."""
    family = product_of(rows.columns, most_assumed(rows.columns), "VVI")
    cells = fit_path(rows.source, {"VVI": family}, [1], passes=0)
    return {1: cells["VVI", 1]}


def evidence(rows, proposals):
    names, numbers = measure_mixed(rows, None, mixtures(rows), proposals)
    return [dict(zip(names, line, strict=True)) for line in numbers]


ONE = np.zeros(240, int)


def test_dependence_in_a_table_is_half_the_sum_of_squared_canonical_correlations():
    cells, _ = two_groups()
    table = MixedTable(table_of(cells), None, mixtures(table_of(cells)))
    z, origin = table.opened
    total = 0.0
    for i in range(5):
        for j in range(i):
            a, b = z[:, origin == i], z[:, origin == j]
            aa, bb = (
                a.T @ a / len(z) + RIDGE * np.eye(a.shape[1]),
                b.T @ b / len(z) + RIDGE * np.eye(b.shape[1]),
            )
            ab = a.T @ b / len(z)
            total += 0.5 * np.trace(np.linalg.solve(aa, ab) @ np.linalg.solve(bb, ab.T))
    assert table.whole["dependence"] == pytest.approx(total, rel=1e-9)


def test_groups_lie_apart_by_the_eigenvalues_of_discriminant_analysis():
    cells, of = two_groups()
    of = of + (cells[:, 3] == 2)
    table = MixedTable(table_of(cells), None, mixtures(table_of(cells)))
    z, origin = table.opened
    means = np.array([z[of == g].mean(axis=0) for g in range(3)])
    centred = z - means[of]
    within = centred.T @ centred / len(z)
    between = (means.T * np.bincount(of) / len(z)) @ means
    blocks = np.where(origin[:, None] == origin, within, 0.0) + RIDGE * np.eye(len(origin))
    values = eigh(between, blocks, eigvals_only=True)[::-1]
    found = table.of(proposal(of))
    assert found["lead"] == pytest.approx(values[0], rel=1e-8)
    assert found["last"] == pytest.approx(values[1], rel=1e-8)
    assert found["line"] == pytest.approx(10 * values[0] / values[:2].sum(), rel=1e-8)


def test_columns_that_depend_on_each_other_only_through_the_groups_do_not_inside_them():
    rng = np.random.default_rng(3)
    of = rng.integers(2, size=240)
    cells = np.column_stack([rng.normal(4.0 * of), rng.poisson(1 + 6 * of), 3 * of, of, of]).astype(float)
    cells[:, 2:] = np.where(rng.random((240, 3)) < 0.9, cells[:, 2:], 0.0)
    right, wrong = evidence(table_of(cells), [proposal(of), proposal(rng.permutation(of))])
    assert right["within"] < 0.2 * wrong["within"]
    assert right["explained"] > wrong["explained"]


def test_groups_with_few_rows_between_them_have_a_dip_and_slices_of_one_group_have_none():
    rng = np.random.default_rng(4)
    of = rng.integers(2, size=240)
    apart = np.column_stack([rng.normal(6.0 * of), *rng.random((4, 240)).round()])
    together = np.column_stack([rng.normal(size=240), *rng.random((4, 240)).round()])
    [valley], [slices] = (
        evidence(table_of(cells), [proposal(labels)])
        for cells, labels in ((apart, of), (together, (together[:, 0] > 0).astype(int)))
    )
    assert np.expm1(valley["least_dip"]) > 3 * np.expm1(slices["least_dip"])
    assert valley["least_strip"] < slices["least_strip"]


def test_one_group_has_no_evidence_about_several():
    cells, of = two_groups()
    one, two = evidence(table_of(cells), [proposal(ONE), proposal(of)])
    for name in ("certainty", "shared", "lead", "apart", "least_dip", "agrees", "with_tree"):
        assert one[name] == 0.0
    assert two["lead"] > 0
    assert one["single"] > 0 == two["single"]


CHANGES = {
    "rows in another order": lambda cells, columns, of, rng: (*_shuffled(cells, of, rng), columns),
    "columns in another order": lambda cells, columns, of, rng: (cells[:, ::-1], of, columns[::-1]),
    "levels by other codes": lambda cells, columns, of, rng: (
        np.column_stack([*cells[:, :3].T, 2 - cells[:, 3], cells[:, 4]]), of, columns
    ),
    "groups by other numbers": lambda cells, columns, of, rng: (cells, 1 - of, columns),
    "other units": lambda cells, columns, of, rng: (
        cells * np.array([2.2, 1, 1, 1, 1]) + [7.0, 0, 0, 0, 0], of, columns
    ),
}  # fmt: skip


def _shuffled(cells, of, rng):
    order = rng.permutation(len(cells))
    return cells[order], of[order]


@pytest.mark.parametrize("change", CHANGES)
def test_what_cannot_matter_changes_no_evidence(change):
    cells, of = two_groups(1)
    others, labels, columns = CHANGES[change](cells, COLUMNS, of, np.random.default_rng(0))
    [plain], [changed] = (
        evidence(table_of(x, columns=named), [proposal(y)])
        for x, y, named in ((cells, of, COLUMNS), (others, labels, columns))
    )
    assert list(plain) == list(changed)
    np.testing.assert_allclose(list(changed.values()), list(plain.values()), rtol=1e-7, atol=1e-9)


def test_a_row_of_weight_two_counts_as_two_rows():
    cells, of = two_groups(2)
    weights = np.where(np.arange(240) < 60, 2.0, 1.0)
    again = np.r_[np.arange(240), np.arange(60)]
    [weighted] = evidence(table_of(cells, weights), [proposal(of)])
    [repeated] = evidence(table_of(cells[again]), [proposal(of[again])])
    for name in ("certainty", "smallest", "by_names", "with_tree", "log_rows"):
        assert weighted[name] == pytest.approx(repeated[name], rel=1e-6), name


def test_columns_one_by_one_have_the_densities_of_their_margins():
    cells, _ = two_groups(6)
    cells[::7, 0] = np.nan
    rows = table_of(cells)
    family = product_of(rows.columns, ("normal", "poisson", "categorical", "categorical", "bernoulli"), "VVV")
    mixture = fit_path(rows.source, {"VVV": family}, [2], passes=0)["VVV", 2].mixture
    pi, (normal, names, truth, counts) = mixture.weights, mixture.params.parts
    answer, town = np.split(names.probabilities, [4], axis=1)
    known = ~np.isnan(cells[:, 0])
    density = [
        norm.pdf(
            cells[known, :1] - mixture.family.parts[0][0].reference[0],
            normal.means[:, 0],
            np.sqrt(normal.covariances.full()[:, 0, 0]),
        ),
        poisson.pmf(cells[:, 1:2], counts.rates[:, 0]),
        answer[:, cells[:, 2].astype(int)].T,
        town[:, cells[:, 3].astype(int)].T,
        bernoulli.pmf(cells[:, 4:], truth.probabilities[:, 0]),
    ]
    expected = sum(np.log(one @ pi).sum() for one in density)
    assert margin_log_likelihood(mixture, rows.x, rows.weights) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_agreement_is_the_adjusted_rand_index_and_weights_count_rows(seed):
    rng = np.random.default_rng(seed)
    a, b, w = rng.integers(3, size=80), rng.integers(4, size=80), rng.integers(1, 4, size=80)
    expected = adjusted_rand_score(np.repeat(a, w), np.repeat(b, w))
    assert _rand(a, b, w.astype(float)) == pytest.approx(expected, abs=1e-12)
