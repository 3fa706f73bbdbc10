"""scikit-learn's own checks of the mixtures of every family."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from asterism import (
    BernoulliMixture,
    CategoricalMixture,
    MixedMixture,
    MultinomialMixture,
    NegativeBinomialMixture,
    PoissonMixture,
    StudentMixture,
)


def whole_numbers(tags):
    tags.input_tags.categorical = True  # scikit-learn's only way to ask for tables of whole numbers
    return tags


class Counts(PoissonMixture):
    def __sklearn_tags__(self):
        return whole_numbers(super().__sklearn_tags__())


class WideCounts(NegativeBinomialMixture):
    def __sklearn_tags__(self):
        return whole_numbers(super().__sklearn_tags__())


class Totals(MultinomialMixture):
    def __sklearn_tags__(self):
        return whole_numbers(super().__sklearn_tags__())


ESTIMATORS = [
    BernoulliMixture(1, binarize=0.0),  # the tables of some checks have but one distinct row of signs
    CategoricalMixture(2),
    MixedMixture(2),
    Totals(2),
    Counts(2),
    WideCounts(2),
    StudentMixture(2, covariance_type="diag"),  # the tables of some checks have more columns than rows
]


FRACTIONS = "its table has fractions in it, whatever the tags say"


def excused(estimator):
    """Of checks whose tables are all fractions; ``test_weights_are_copies_of_whole_numbers`` asks the same below.

    And of those that take whatever has ``predict_proba`` and sparse tables for a classifier (``test_sparse.py``).
    """
    found = {}
    if isinstance(estimator, CategoricalMixture | Counts | WideCounts | Totals):
        found["check_sample_weight_equivalence_on_dense_data"] = FRACTIONS
    if isinstance(estimator, Totals):
        found["check_sample_weight_equivalence_on_sparse_data"] = FRACTIONS
    if isinstance(estimator, BernoulliMixture | Totals):
        for form in ("array", "matrix"):
            found[f"check_estimator_sparse_{form}"] = "it asks a mixture how many classes a classifier has"
    return found


@pytest.mark.filterwarnings("ignore:.*array API.*:UserWarning")
@pytest.mark.filterwarnings(
    "ignore::asterism.errors.CollapsedComponentWarning"
)  # twelve rows, half of them alike
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=excused)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kind", [CategoricalMixture, MultinomialMixture, PoissonMixture, NegativeBinomialMixture]
)
def test_weights_are_copies_of_whole_numbers(kind):
    rng = np.random.default_rng(0)
    rows, weights = rng.poisson([[1.0, 4.0, 2.0]], (60, 3)).astype(float) + 1.0, rng.integers(0, 5, 60)
    rows[30:] = rows[30:, ::-1]
    copies = kind(2, random_state=0).fit(np.repeat(rows, weights, axis=0))
    order = rng.permutation(60)
    weighted = kind(2, random_state=0).fit(rows[order], sample_weight=weights[order])
    here = rows[weights > 0]
    np.testing.assert_allclose(
        weighted.predict_proba(here), copies.predict_proba(here), rtol=1e-7, atol=1e-12
    )
