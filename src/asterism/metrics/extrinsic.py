"""Does clustering help a task? A classifier with and without it, by cross-validation on the same folds.

``plain``             the classifier on the columns alone
``cluster id``        columns and the row's cluster, one column a cluster
``distances``         columns and the distances to the centres
``responsibilities``  columns and the membership probabilities, for models without distances
``model per cluster`` one classifier for each cluster, trained on its rows; the plain one for clusters whose rows are
                      too few, or all of one class
``outliers removed``  trained without the rows that lie farthest from their centre, or where the model gives least
                      density; judged on all rows

Clusters are found in the training rows of each fold alone, without their classes, so that nothing is known of the
rows that are judged. Differences to ``plain`` are taken fold by fold, since folds differ more than ways do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.data.source import checked_weights
from asterism.errors import DataError, ParameterError

WAYS = ("plain", "cluster id", "distances", "responsibilities", "model per cluster", "outliers removed")
FEWEST = 10  # rows of a cluster that has a classifier of its own
CLEAR = 2.0  # standard errors that make a difference worth telling


@dataclass(frozen=True, slots=True)
class Way:
    """One way to use clusters, over all folds."""

    name: str
    scores: tuple[float, ...]  # of each fold
    difference: float  # mean difference to plain
    error: float  # its standard error over the folds

    @property
    def score(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.scores))

    @property
    def helps(self) -> bool | None:
        """True or False where the difference is clear, None where it might be chance."""
        if self.name == "plain" or abs(self.difference) <= CLEAR * self.error:
            return None
        return self.difference > 0


@dataclass(frozen=True)
class Extrinsic:
    """All ways side by side."""

    ways: tuple[Way, ...]  # plain first
    n_folds: int
    verdict: str  # in plain words

    @property
    def best(self) -> Way:
        """The way with the highest mean score."""
        return max(self.ways, key=lambda way: way.score)

    def __getitem__(self, name: str) -> Way:
        return next(way for way in self.ways if way.name == name)


def extrinsic_score(
    X: Any,
    y: Any,
    clusterer: Any,
    *,
    classifier: Any = None,
    ways: Sequence[str] | None = None,
    cv: Any = 5,
    outliers: float = 0.05,
    sample_weight: Any = None,
    random_state: int | None = 0,
) -> Extrinsic:
    """Whether clusters help to predict ``y``: every way beside the plain classifier, by cross-validation.

    ``clusterer``   any model with ``fit`` and ``predict``: ``KMeans(10)``, ``GaussianMixture(3)``, a tree
    ``ways``        names out of ``WAYS``; None: all that the model allows. Distances need its ``transform`` (to
                    distances to centres), responsibilities its ``predict_proba``, outliers ``transform`` or
                    ``score_samples``
    ``classifier``  an estimator of scikit-learn's manners; logistic regression on standardised columns if not given
    ``cv``          folds, stratified by class and shuffled; or a splitter of scikit-learn
    ``outliers``    share of the training rows to remove in "outliers removed"

    Scores are accuracies, weighted. Weights reach clusterer and classifier where their ``fit`` takes them.
    """
    from sklearn.metrics import accuracy_score

    rows, classes, weights = _checked(X, y, sample_weight)
    if ways is None:
        ways = possible_ways(clusterer)
    unknown = [way for way in ways if way not in WAYS]
    if unknown:
        raise ParameterError(f"ways has {unknown[0]!r}.", f"Known are {', '.join(WAYS)}.")
    if not 0 <= outliers < 1:
        raise ParameterError(f"outliers is {outliers}.", "Give the share of rows to remove, 0 to below 1.")
    asked = tuple(dict.fromkeys(("plain", *ways)))
    scores: dict[str, list[float]] = {way: [] for way in asked}
    for train, test in _folds(cv, rows, classes, random_state):
        fold = Fold.of(rows, classes, weights, train, test, clusterer, classifier or _default_classifier())
        for way in asked:
            found = fold.predict(way, outliers)
            scores[way].append(float(accuracy_score(classes[test], found, sample_weight=weights[test])))
    compared = tuple(_way(way, scores[way], scores["plain"]) for way in asked)
    return Extrinsic(compared, len(scores["plain"]), _verdict(compared))


def possible_ways(clusterer: Any) -> tuple[str, ...]:
    """The ways to use a model: where there are distances, responsibilities say little more.

    >>> from asterism import GaussianMixture
    >>> possible_ways(GaussianMixture(2))
    ('plain', 'cluster id', 'responsibilities', 'model per cluster', 'outliers removed')
    """
    far, soft = hasattr(clusterer, "transform"), hasattr(clusterer, "predict_proba")
    left_out = {
        "distances": not far,
        "responsibilities": far or not soft,
        "outliers removed": not (far or hasattr(clusterer, "score_samples")),
    }
    return tuple(way for way in WAYS if not left_out.get(way, False))


def _checked(X: Any, y: Any, sample_weight: Any) -> tuple[NDArray[Any], NDArray[Any], Vector]:
    from asterism.data.finite import require_finite
    from asterism.metrics.tables import source_of

    source = source_of(X, None)
    for block in source.blocks():
        require_finite(block, source.names)
    rows = np.concatenate([part for part, _ in source.pieces(0, source.n_rows)])
    classes = np.asarray(y)
    if classes.shape != (len(rows),):
        raise DataError(f"y has the shape {classes.shape} for {len(rows)} rows.", "Give one class a row.")
    weights = np.ones(len(rows)) if sample_weight is None else checked_weights(sample_weight, len(rows))
    kept = weights > 0
    return rows[kept], classes[kept], weights[kept]


def _default_classifier() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _folds(cv: Any, rows: NDArray[Any], classes: NDArray[Any], random_state: int | None) -> Any:
    from sklearn.model_selection import StratifiedKFold

    if not isinstance(cv, int):
        return cv.split(rows, classes)
    fewest = int(np.unique(classes, return_counts=True)[1].min())
    if cv < 2 or fewest < cv:
        raise ParameterError(
            f"cv is {cv}, and the rarest class has {fewest} rows.",
            "Give between 2 folds and as many as the rarest class has rows.",
        )
    return StratifiedKFold(cv, shuffle=True, random_state=random_state).split(rows, classes)


@dataclass(frozen=True)
class Fold:
    """One split: what is trained on, what is judged, and the clusters of the first."""

    train: NDArray[Any]  # (n, d)
    test: NDArray[Any]  # (m, d)
    classes: NDArray[Any]  # (n,) of the training rows
    weights: Vector  # (n,)
    clusterer: Any  # fitted to the training rows
    classifier: Any  # not fitted

    @classmethod
    def of(
        cls,
        rows: NDArray[Any],
        classes: NDArray[Any],
        weights: Vector,
        train: NDArray[Any],
        test: NDArray[Any],
        clusterer: Any,
        classifier: Any,
    ) -> Fold:
        """Find the clusters of the training rows."""
        from sklearn.base import clone

        fitted = _fit(clone(clusterer), rows[train], None, weights[train])
        if not hasattr(fitted, "predict"):
            raise ParameterError(
                f"{type(fitted).__name__} cannot tell the cluster of new rows.",
                "Give a clusterer with predict, such as KMeans.",
            )
        return cls(rows[train], rows[test], classes[train], weights[train], fitted, classifier)

    def predict(self, way: str, outliers: float) -> NDArray[Any]:
        """Classes of the judged rows."""
        if way == "model per cluster":
            return self._per_cluster()
        kept = np.ones(len(self.train), bool)
        if way == "outliers removed":
            unusual = self._unusual(self.train)
            kept = unusual <= np.quantile(unusual, 1.0 - outliers)
            if len(np.unique(self.classes[kept])) < len(np.unique(self.classes)):
                kept[:] = True  # a class would be lost altogether
        model = self._trained(self._columns(self.train, way)[kept], kept)
        found: NDArray[Any] = model.predict(self._columns(self.test, way))
        return found

    def _columns(self, rows: NDArray[Any], way: str) -> NDArray[Any]:
        if way == "cluster id":
            levels = np.unique(self.clusterer.predict(self.train))
            return np.hstack([rows, self.clusterer.predict(rows)[:, None] == levels])
        if way == "distances":
            return np.hstack([rows, self._asked("transform", rows)])
        return np.hstack([rows, self._asked("predict_proba", rows)]) if way == "responsibilities" else rows

    def _unusual(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) distance to the nearest centre; minus the log density of a model without distances."""
        if hasattr(self.clusterer, "transform"):
            return np.asarray(self._asked("transform", rows).min(axis=1))
        return -self._asked("score_samples", rows)

    def _asked(self, question: str, rows: NDArray[Any]) -> NDArray[np.float64]:
        """What the model says of rows: distances, responsibilities or log densities."""
        if not hasattr(self.clusterer, question):
            raise ParameterError(
                f"{type(self.clusterer).__name__} has no {question}.",
                f"Leave out the ways that need it; {', '.join(possible_ways(self.clusterer))} are possible.",
            )
        return np.asarray(getattr(self.clusterer, question)(rows), np.float64)

    def _per_cluster(self) -> NDArray[Any]:
        groups, where = self.clusterer.predict(self.train), self.clusterer.predict(self.test)
        everyone = self._trained(self.train, np.ones(len(self.train), bool))
        found: NDArray[Any] = np.asarray(everyone.predict(self.test))
        for g in np.unique(where):
            own, asked = groups == g, where == g
            if own.sum() >= FEWEST and len(np.unique(self.classes[own])) > 1:
                found[asked] = self._trained(self.train[own], own).predict(self.test[asked])
            elif own.sum() >= FEWEST:
                found[asked] = self.classes[own][0]
        return found

    def _trained(self, columns: NDArray[Any], kept: NDArray[np.bool_]) -> Any:
        from sklearn.base import clone

        return _fit(clone(self.classifier), columns, self.classes[kept], self.weights[kept])


def _fit(estimator: Any, rows: NDArray[Any], y: Any, weights: Vector) -> Any:
    """With weights where there are any and ``fit`` takes them; the last step's, in a pipeline."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if (weights == 1).all():
        return estimator.fit(rows, y)
    if isinstance(estimator, Pipeline):
        return estimator.fit(
            rows,
            y,
            **{
                f"{name}__sample_weight": weights
                for name, step in estimator.steps
                if has_fit_parameter(step, "sample_weight")
            },
        )
    if has_fit_parameter(estimator, "sample_weight"):
        return estimator.fit(rows, y, sample_weight=weights)
    raise ParameterError(
        f"{type(estimator).__name__}.fit takes no sample_weight.", "Leave weights out, or give one that does."
    )


def _way(name: str, scores: list[float], plain: list[float]) -> Way:
    off = np.subtract(scores, plain)
    error = float(off.std(ddof=1) / math.sqrt(len(off))) if len(off) > 1 else math.nan
    return Way(name, tuple(scores), float(off.mean()), error)


def _verdict(ways: Sequence[Way]) -> str:
    plain, others = ways[0], ways[1:]
    said = [f"The plain classifier is right on {plain.score:.1%} of the rows."]
    for word, truth in (("helps", True), ("hurts", False)):
        names = [f"{way.name} ({way.difference:+.1%})" for way in others if way.helps is truth]
        if names:
            said.append(f"Clustering {word} as {', '.join(names)}.")
    if all(way.helps is None for way in others):
        said.append("No way of using the clusters makes a clear difference.")
    return " ".join(said)
