"""scikit-learn's own checks, with no expected failure.

A new estimator is one more line in ESTIMATORS.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from asterism import (
    PCA,
    AgglomerativeClustering,
    AutoAssociativeNetwork,
    DensityTree,
    DivisiveClustering,
    FastICA,
    GaussianMixture,
    KDTreeClustering,
    KernelPCA,
    KMeans,
    KMedoids,
    Mixture,
    PrincipalCurve,
    PrincipalSurface,
    ProbabilisticPCA,
    SoftKMeans,
    Standardizer,
    TruncatedSVD,
)

ESTIMATORS = [
    KMeans(3),
    KMeans(2, init="random", n_init=2),
    SoftKMeans(3),
    GaussianMixture(2),
    GaussianMixture(2, covariance_type="VEI", assignment="hard"),
    Mixture("gaussian", 2, acceleration="squarem"),
    KMedoids(3),
    KMedoids(3, metric="gower"),
    PCA(),
    PCA(n_components=1, whiten=True),
    ProbabilisticPCA(1),
    AutoAssociativeNetwork(1, hidden_layer_sizes=(2,), alpha=1e-3, tol=1e-2),
    KernelPCA(2),
    KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
    PrincipalCurve(8),
    PrincipalSurface(4),
    TruncatedSVD(1),
    FastICA(),
    FastICA(1, algorithm="deflation", fun="cube"),
    ProbabilisticPCA(),
    ProbabilisticPCA(1, method="em"),
    Standardizer(),
    Standardizer(with_mean=False),
    AgglomerativeClustering(3),
    AgglomerativeClustering(2, linkage="average"),
    DivisiveClustering(2),
    KDTreeClustering(3),
    DensityTree(),
    DensityTree(5, evidence=0.8, noise=True),
]


@pytest.mark.filterwarnings("ignore:.*array API.*:UserWarning")
# Some checks fit twelve rows at four places: components without spread, and a true warning of them.
@pytest.mark.filterwarnings("ignore::asterism.errors.CollapsedComponentWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
