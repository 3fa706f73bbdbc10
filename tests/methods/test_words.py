"""Vocabularies and histograms of words, against loops."""

import numpy as np
import pytest

from asterism.methods.patches import Parts, grid_parts
from asterism.methods.words import fit_vocabulary, histograms, scaled_histograms


def groups(k, n=600, f=4, apart=30.0, seed=0):
    rng = np.random.default_rng(seed)
    middles = rng.normal(scale=apart, size=(k, f))
    rows = middles[rng.integers(k, size=n)] + rng.normal(size=(n, f))
    places = rng.random((n, 2))
    return Parts(rows, places, np.full(n, 1.0 / n))


@pytest.mark.parametrize("k", [8, 16])
def test_the_shortest_description_has_as_many_words_as_there_are_groups(k):
    vocabulary = fit_vocabulary([groups(k, 2000)], np.ones(1), None, [4], max_iter=50, seed=0)
    assert vocabulary.size == k
    assert vocabulary.lengths[k] == min(vocabulary.lengths.values())


def test_few_parts_are_not_given_more_words_than_they_can_have():
    parts = Parts(np.zeros((30, 2)) + np.arange(2), np.zeros((30, 2)), np.full(30, 1 / 30))
    assert fit_vocabulary([parts], np.ones(1), None, [2], max_iter=10, seed=0).size == 1


def test_sorts_of_features_count_the_same_whatever_their_unit():
    part = groups(4, 400)
    scaled = Parts(part.features * [1, 1, 1e6, 1e6], part.places, part.sizes)
    one, other = (fit_vocabulary([p], np.ones(1), 4, [2, 2], max_iter=50, seed=0) for p in (part, scaled))
    np.testing.assert_allclose(
        np.sort(one.words.positions, axis=0), np.sort(other.words.positions, axis=0), rtol=1e-9
    )


def test_histograms_count_the_nearest_words_field_by_field():
    rng = np.random.default_rng(2)
    images = [rng.random((12, 16, 1)), rng.random((20, 10, 1))]
    parts = [grid_parts(image, 4, 2, ["colour"]) for image in images]
    vocabulary = fit_vocabulary(parts, np.ones(2), 5, [2], max_iter=20, seed=0)
    found = histograms(vocabulary, parts, (1, 2))
    assert found.shape == (2, 5 + 4 * 5)
    words = vocabulary.words.positions * vocabulary.spread
    for row, part in zip(found, parts, strict=True):
        wanted = np.zeros(25)
        for feature, (down, across) in zip(part.features, part.places, strict=True):
            word = ((feature - words) ** 2 / vocabulary.spread**2).sum(axis=1).argmin()
            field = 2 * (down >= 0.5) + (across >= 0.5)
            wanted[[word, 5 + 5 * field + word]] += 1 / len(part.features)
        np.testing.assert_allclose(row, wanted, atol=1e-12)


def test_norms_are_what_they_are_called():
    shares = np.array([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(scaled_histograms(shares, "l1"), shares)
    np.testing.assert_allclose(np.linalg.norm(scaled_histograms(shares, "hellinger"), axis=1), [1, 0])
    np.testing.assert_allclose(np.linalg.norm(scaled_histograms(shares, "l2"), axis=1), [1, 0])
