"""How good a clustering is: by itself, beside another, beside people's judgement, and for a task.

Names load when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_NAMES = {
    "internal": "calinski_harabasz_score davies_bouldin_score internal_scores scatter_matrices scatter_ratio "
    "sum_of_squares",
    "silhouette": "silhouette_samples silhouette_score",
    "estimate": "silhouette_interval",
    "dissimilarities": "within_between_total",
    "external": "contingency_matrix entropy homogeneity_completeness_v_measure mutual_info_score "
    "normalized_mutual_info_score variation_of_information",
    "information": "adjusted_mutual_info_score expected_mutual_information",
    "pairs": "adjusted_rand_score fowlkes_mallows_score pair_confusion_matrix pair_scores rand_score",
    "matching": "clustering_distance match_clusters matched_accuracy stability_score",
    "judgements": "judged_pairs_score pairs_to_ask",
    "extrinsic": "extrinsic_score",
    "plots": "contingency_figure silhouette_figure",
}
_HOME = {name: f"asterism.metrics.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from asterism.metrics.dissimilarities import within_between_total as within_between_total
    from asterism.metrics.estimate import silhouette_interval as silhouette_interval
    from asterism.metrics.external import contingency_matrix as contingency_matrix
    from asterism.metrics.external import entropy as entropy
    from asterism.metrics.external import (
        homogeneity_completeness_v_measure as homogeneity_completeness_v_measure,
    )
    from asterism.metrics.external import mutual_info_score as mutual_info_score
    from asterism.metrics.external import normalized_mutual_info_score as normalized_mutual_info_score
    from asterism.metrics.external import variation_of_information as variation_of_information
    from asterism.metrics.extrinsic import extrinsic_score as extrinsic_score
    from asterism.metrics.information import adjusted_mutual_info_score as adjusted_mutual_info_score
    from asterism.metrics.information import expected_mutual_information as expected_mutual_information
    from asterism.metrics.internal import calinski_harabasz_score as calinski_harabasz_score
    from asterism.metrics.internal import davies_bouldin_score as davies_bouldin_score
    from asterism.metrics.internal import internal_scores as internal_scores
    from asterism.metrics.internal import scatter_matrices as scatter_matrices
    from asterism.metrics.internal import scatter_ratio as scatter_ratio
    from asterism.metrics.internal import sum_of_squares as sum_of_squares
    from asterism.metrics.judgements import judged_pairs_score as judged_pairs_score
    from asterism.metrics.judgements import pairs_to_ask as pairs_to_ask
    from asterism.metrics.matching import clustering_distance as clustering_distance
    from asterism.metrics.matching import match_clusters as match_clusters
    from asterism.metrics.matching import matched_accuracy as matched_accuracy
    from asterism.metrics.matching import stability_score as stability_score
    from asterism.metrics.pairs import adjusted_rand_score as adjusted_rand_score
    from asterism.metrics.pairs import fowlkes_mallows_score as fowlkes_mallows_score
    from asterism.metrics.pairs import pair_confusion_matrix as pair_confusion_matrix
    from asterism.metrics.pairs import pair_scores as pair_scores
    from asterism.metrics.pairs import rand_score as rand_score
    from asterism.metrics.plots import contingency_figure as contingency_figure
    from asterism.metrics.plots import silhouette_figure as silhouette_figure
    from asterism.metrics.silhouette import silhouette_samples as silhouette_samples
    from asterism.metrics.silhouette import silhouette_score as silhouette_score


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'asterism.metrics' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
