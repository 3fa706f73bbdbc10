"""Metrics against R's fpc, cluster and mclust (tests/oracles/metrics)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from asterism import metrics

VALUES = json.loads((Path(__file__).parents[1] / "oracles" / "metrics" / "values.json").read_text())
every_table = pytest.mark.parametrize("name", list(VALUES["tables"]))
every_metric = pytest.mark.parametrize("metric", ["euclidean", "manhattan"])


def table(name):
    found = VALUES["tables"][name]
    return found, np.array(found["rows"], float), np.array(found["labels"]), np.array(found["truth"])


@every_table
@every_metric
def test_silhouettes_are_those_of_cluster_and_fpc(name, metric):
    found, rows, labels, _ = table(name)
    ours = metrics.silhouette_samples(rows, labels, metric=metric)
    assert_allclose(ours, found[metric]["silhouettes"], rtol=1e-12, atol=1e-12)
    assert_allclose(
        metrics.silhouette_score(rows, labels, metric=metric), found[metric]["silhouette"], rtol=1e-12
    )
    groups = [ours[labels == label].mean() for label in np.unique(labels)]
    assert_allclose(groups, found[metric]["group_silhouettes"], rtol=1e-12)


@every_table
@every_metric
def test_sums_of_dissimilarities_are_those_of_fpc(name, metric):
    found, rows, labels, _ = table(name)
    ours = metrics.within_between_total(rows, labels, metric=metric)
    assert_allclose(
        [ours.between, ours.total], [found[metric]["between"], found[metric]["total"]], rtol=1e-12
    )
    assert_allclose(ours.within, found[metric]["total"] - found[metric]["between"], rtol=1e-10)


@every_table
def test_squares_and_calinski_harabasz_are_those_of_fpc(name):
    found, rows, labels, _ = table(name)
    theirs = found["euclidean"]
    assert_allclose(metrics.sum_of_squares(rows, labels), theirs["squares"], rtol=1e-12)
    assert_allclose(metrics.calinski_harabasz_score(rows, labels), theirs["calinski_harabasz"], rtol=1e-12)


@every_table
def test_agreement_is_that_of_fpc_and_mclust(name):
    found, _, labels, truth = table(name)
    rand = metrics.adjusted_rand_score(truth, labels)
    assert_allclose(rand, found["euclidean"]["adjusted_rand"], rtol=1e-12, atol=1e-14)
    assert_allclose(rand, found["adjusted_rand_mclust"], rtol=1e-12, atol=1e-14)
    assert_allclose(
        metrics.variation_of_information(truth, labels),
        found["euclidean"]["variation_of_information"],
        rtol=1e-12,
    )
    assert_allclose(metrics.entropy(labels), found["euclidean"]["entropy"], rtol=1e-12)


def test_the_optimal_matching_errs_as_often_as_mclusts():
    equal = [name for name in VALUES["tables"] if len(set(table(name)[2])) == len(set(table(name)[3]))]
    assert equal
    for name in equal:
        found, _, labels, truth = table(name)
        ours = metrics.matched_accuracy(truth, labels, how="optimal")
        assert_allclose(1 - ours, found["matched_error"], atol=1e-14)


def test_silhouettes_of_a_mixed_table_with_missing_cells_are_those_of_cluster():
    found = VALUES["mixed"]
    frame = pd.DataFrame({name: found[name] for name in ("size", "share", "colour")})
    ours = metrics.silhouette_samples(frame, found["labels"], metric="gower")
    assert_allclose(ours, found["silhouettes"], rtol=1e-10, atol=1e-12)
