"""scikit-learn's own checks, with no expected failure.

A new estimator is one more line in ESTIMATORS.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from asterism import PCA, KMeans, SoftKMeans, Standardizer

ESTIMATORS = [
    KMeans(3),
    KMeans(2, init="random", n_init=2),
    SoftKMeans(3),
    PCA(),
    PCA(n_components=1, whiten=True),
    Standardizer(),
    Standardizer(with_mean=False),
]


@pytest.mark.filterwarnings("ignore:.*array API.*:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
