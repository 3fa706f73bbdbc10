"""Asterism finds the groups in a table.

Names load when they are first used, so that ``import asterism`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "engine": "asterism.engines.context",
    "read": "asterism.data.read",
    "find": "asterism.finding",
    "Finding": "asterism.finding",
    "load": "asterism.modelfile",
    "to_sql": "asterism.export",
    "to_python": "asterism.export",
    "to_json": "asterism.export",
    "KMeans": "asterism.estimators.kmeans",
    "AgglomerativeClustering": "asterism.estimators.agglomerative",
    "DivisiveClustering": "asterism.estimators.divisive",
    "DensityTree": "asterism.estimators.density_tree",
    "KDTreeClustering": "asterism.estimators.kdtree",
    "SoftKMeans": "asterism.estimators.softkmeans",
    "KMedoids": "asterism.estimators.kmedoids",
    "Mixture": "asterism.estimators.mixture",
    "GaussianMixture": "asterism.estimators.gaussian_mixture",
    "BernoulliMixture": "asterism.estimators.families",
    "MultinomialMixture": "asterism.estimators.families",
    "PoissonMixture": "asterism.estimators.families",
    "NegativeBinomialMixture": "asterism.estimators.families",
    "StudentMixture": "asterism.estimators.families",
    "CategoricalMixture": "asterism.estimators.mixed",
    "MixedMixture": "asterism.estimators.mixed",
    "PCA": "asterism.estimators.pca",
    "AutoAssociativeNetwork": "asterism.estimators.network",
    "KernelPCA": "asterism.estimators.kernelpca",
    "PrincipalCurve": "asterism.estimators.curve",
    "PrincipalSurface": "asterism.estimators.surface",
    "Choice": "asterism.verdict.choice",
    "choose_k": "asterism.verdict.choose",
    "check": "asterism.follow.drift",
    "dimension": "asterism.estimators.dimension",
    "svd": "asterism.estimators.svd",
    "TruncatedSVD": "asterism.estimators.svd",
    "FastICA": "asterism.estimators.ica",
    "ProbabilisticPCA": "asterism.estimators.ppca",
    "Standardizer": "asterism.estimators.standardizer",
    "VectorQuantizer": "asterism.estimators.quantizer",
    "BagOfVisualWords": "asterism.estimators.words",
}

__all__ = [  # noqa: RUF022  classes, then functions
    "AgglomerativeClustering", "AutoAssociativeNetwork", "BernoulliMixture",
    "CategoricalMixture", "DensityTree", "DivisiveClustering", "FastICA",
    "GaussianMixture", "KDTreeClustering", "KMeans", "KMedoids", "KernelPCA", "MixedMixture", "Mixture",
    "MultinomialMixture", "NegativeBinomialMixture", "PCA", "PoissonMixture", "PrincipalCurve",
    "PrincipalSurface", "ProbabilisticPCA", "SoftKMeans", "Standardizer", "StudentMixture",
    "TruncatedSVD",
    "BagOfVisualWords", "VectorQuantizer",
    "check", "choose_k", "dimension", "engine", "errors", "find", "load", "metrics", "read", "svd",
    "to_json", "to_python", "to_sql",
]  # fmt: skip

if TYPE_CHECKING:
    from asterism import errors as errors
    from asterism import metrics as metrics
    from asterism.data.read import read as read
    from asterism.engines.context import engine as engine
    from asterism.estimators.agglomerative import AgglomerativeClustering as AgglomerativeClustering
    from asterism.estimators.curve import PrincipalCurve as PrincipalCurve
    from asterism.estimators.density_tree import DensityTree as DensityTree
    from asterism.estimators.dimension import dimension as dimension
    from asterism.estimators.divisive import DivisiveClustering as DivisiveClustering
    from asterism.estimators.families import BernoulliMixture as BernoulliMixture
    from asterism.estimators.families import MultinomialMixture as MultinomialMixture
    from asterism.estimators.families import NegativeBinomialMixture as NegativeBinomialMixture
    from asterism.estimators.families import PoissonMixture as PoissonMixture
    from asterism.estimators.families import StudentMixture as StudentMixture
    from asterism.estimators.gaussian_mixture import GaussianMixture as GaussianMixture
    from asterism.estimators.ica import FastICA as FastICA
    from asterism.estimators.kdtree import KDTreeClustering as KDTreeClustering
    from asterism.estimators.kernelpca import KernelPCA as KernelPCA
    from asterism.estimators.kmeans import KMeans as KMeans
    from asterism.estimators.kmedoids import KMedoids as KMedoids
    from asterism.estimators.mixed import CategoricalMixture as CategoricalMixture
    from asterism.estimators.mixed import MixedMixture as MixedMixture
    from asterism.estimators.mixture import Mixture as Mixture
    from asterism.estimators.network import AutoAssociativeNetwork as AutoAssociativeNetwork
    from asterism.estimators.pca import PCA as PCA
    from asterism.estimators.ppca import ProbabilisticPCA as ProbabilisticPCA
    from asterism.estimators.quantizer import VectorQuantizer as VectorQuantizer
    from asterism.estimators.softkmeans import SoftKMeans as SoftKMeans
    from asterism.estimators.standardizer import Standardizer as Standardizer
    from asterism.estimators.surface import PrincipalSurface as PrincipalSurface
    from asterism.estimators.svd import TruncatedSVD as TruncatedSVD
    from asterism.estimators.svd import svd as svd
    from asterism.estimators.words import BagOfVisualWords as BagOfVisualWords
    from asterism.export import to_json as to_json
    from asterism.export import to_python as to_python
    from asterism.export import to_sql as to_sql
    from asterism.finding import Finding as Finding
    from asterism.finding import find as find
    from asterism.follow.drift import check as check
    from asterism.modelfile import load as load
    from asterism.verdict.choice import Choice as Choice
    from asterism.verdict.choose import choose_k as choose_k


def __getattr__(name: str) -> Any:
    if name in ("errors", "metrics"):
        return import_module(f"asterism.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'asterism' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, "errors", "metrics"])
