"""Mixtures of any family in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.data.source import Source
from asterism.engines.threads import one_blas_thread
from asterism.errors import ParameterError
from asterism.estimators.base import Taxonomy, as_source, seed_of
from asterism.families.base import Family
from asterism.methods import posterior
from asterism.methods.mixture import MixtureFit, Settings, Start, check_frozen, fit_mixture

Array = NDArray[np.float64]

# Families by name, each in its own file.
FAMILIES = {
    "gaussian": ("asterism.families.gaussian", "GaussianFamily"),
    "categorical": ("asterism.families.categorical", "CategoricalFamily"),
    "bernoulli": ("asterism.families.bernoulli", "BernoulliFamily"),
    "multinomial": ("asterism.families.multinomial", "MultinomialFamily"),
    "poisson": ("asterism.families.poisson", "PoissonFamily"),
    "negative_binomial": ("asterism.families.negative_binomial", "NegativeBinomialFamily"),
    "hurdle": ("asterism.families.hurdle", "HurdleFamily"),
    "student": ("asterism.families.student", "StudentFamily"),
    "ppca": ("asterism.families.ppca", "PPCAFamily"),
}


def family_of(family: Any) -> Family:
    """A family itself, or the one of a name."""
    if not isinstance(family, str):
        return family  # type: ignore[no-any-return]
    if family not in FAMILIES:
        raise ParameterError(f"family is {family!r}.", f"Give a family, or one of {', '.join(FAMILIES)}.")
    module, name = FAMILIES[family]
    return getattr(import_module(module), name)()  # type: ignore[no-any-return]


class BaseMixture(DensityMixin, BaseEstimator):
    """What all mixtures share; a subclass says its family and, if it likes, its start."""

    taxonomy = Taxonomy("polythetic", "soft", "flat")
    n_components: int
    assignment: str
    init_params: str
    n_init: int
    tol: float
    max_iter: int
    responsibilities_init: Any
    frozen: Any
    acceleration: Any
    random_state: Any
    verbose: int
    _freezable: tuple[str, ...] = ("weights",)
    _sparse = False  # whether SciPy sparse matrices will do

    def _family(self) -> Family:
        raise NotImplementedError

    def _start(self, k: int, d: int) -> Start:  # noqa: ARG002  for those who can be given parameters
        return Start(self.init_params, self.responsibilities_init)

    def _rows(self, X: Any, *, reset: bool) -> Any:  # noqa: ARG002  for those who read tables in their own way
        """What ``as_source`` is given."""
        return X

    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool = False, **checks: Any) -> Source:
        """The rows that were given, by the one way all methods take: a fitted estimator's, but for ``reset``."""
        if not reset:
            check_is_fitted(self)
        rows = self._rows(X, reset=reset)
        return as_source(self, rows, sample_weight, reset=reset, sparse=self._sparse, **checks)

    # --- fitting ---

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Fit the components to the rows ``X``: an array, a frame, a path or a Source."""
        with one_blas_thread():  # or its helpers would keep a core busy, waiting for more, while ours work
            source = self._source(X, sample_weight, reset=True, ensure_min_samples=2)
            start = self._start(self.n_components, source.n_columns)
            self._set(fit_mixture(source, self._family(), self.n_components, self._settings(), start))
        return self

    def _settings(self) -> Settings:
        if self.acceleration not in (None, "squarem"):
            raise ParameterError(f"acceleration is {self.acceleration!r}.", "Give None or 'squarem'.")
        frozen = self._frozen()
        return Settings(
            assignment=self.assignment,
            tol=self.tol,
            stop=getattr(self, "stop", "likelihood"),
            max_iter=self.max_iter,
            n_init=self.n_init,
            frozen=frozen & {"weights"},
            accelerated=self.acceleration == "squarem",
            seed=seed_of(self.random_state),
        )

    def _frozen(self) -> frozenset[str]:
        """What keeps its starting value; one name may stand by itself."""
        names = (self.frozen,) if isinstance(self.frozen, str) else tuple(self.frozen)
        check_frozen(names, self._freezable)
        return frozenset(names)

    def _set(self, fit: MixtureFit) -> None:
        self._mixture = fit.mixture
        self.weights_ = fit.mixture.weights
        self.labels_ = fit.labels
        self.history_ = fit.history
        self.lower_bound_ = fit.history[-1]
        self.n_parameters_ = fit.mixture.n_parameters
        self.n_iter_ = fit.n_iter
        self.converged_ = fit.status == "settled"
        if self.verbose:
            for step, height in enumerate(fit.history):
                print(f"EM step {step}: log-likelihood a row {height:.6g}")

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """``fit(X).labels_``, which equals ``fit(X).predict(X)``."""
        return self.fit(X, y, sample_weight).labels_

    # --- of rows ---

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(n,) the likeliest component of every row."""
        source = self._source(X)
        return posterior.labels_of(self._mixture, source)

    def predict_proba(self, X: Any) -> Array:
        """(n, n_components) responsibilities; each row adds up to 1."""
        source = self._source(X)
        return posterior.shares_of(self._mixture, source)

    def score_samples(self, X: Any) -> Array:
        """(n,) log density of every row, missing cells integrated out."""
        source = self._source(X)
        return posterior.heights_of(self._mixture, source)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002  scikit-learn's signature
        """Mean log density of the rows."""
        told, n = self._told(X, sample_weight)
        return told.log_likelihood / n

    def _told(self, X: Any, sample_weight: Any) -> tuple[posterior.RowTotals, float]:
        source = self._source(X, sample_weight)
        told = posterior.told(self._mixture, source)
        return told, float(told.mass.sum())

    def bound(self, X: Any, responsibilities: Any = None, sample_weight: Any = None) -> posterior.Bound:
        """``value`` L(q, theta) and ``divergence`` KL(q || p(Z | X)) of shares q (n, n_components).

        They add up to the log-likelihood. Without q the responsibilities are taken: the divergence is 0.
        """
        source = self._source(X, sample_weight)
        q = None if responsibilities is None else np.asarray(responsibilities, np.float64)
        return posterior.bound_of(self._mixture, source, q)

    def impute(self, X: Any) -> Array:
        """(n, d) the rows, missing cells filled with what the mixture expects there."""
        source = self._source(X)
        return posterior.imputed(self._mixture, source)

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[np.int64]]:
        """(n, d) rows drawn from the mixture, and (n,) the components they came from."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ParameterError(f"n_samples is {n_samples}.", "Give 1 or more.")
        rng = np.random.default_rng(seed_of(self.random_state))
        m = self._mixture
        counts = rng.multinomial(n_samples, m.weights / m.weights.sum())
        rows = [m.family.sample(m.params, c, int(n), rng) for c, n in enumerate(counts)]
        return np.concatenate(rows), np.repeat(np.arange(m.k), counts)

    # --- criteria ---

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log-likelihood + 2 parameters; smaller is better."""
        return -2.0 * self._told(X, sample_weight)[0].log_likelihood + 2.0 * self.n_parameters_

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log-likelihood + parameters * log n; smaller is better."""
        told, n = self._told(X, sample_weight)
        return -2.0 * told.log_likelihood + self.n_parameters_ * float(np.log(n))

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """BIC - 2 sum log max r: BIC that also wants rows to belong clearly."""
        told, n = self._told(X, sample_weight)
        return 2.0 * (told.surprise - told.log_likelihood) + self.n_parameters_ * float(np.log(n))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._sparse
        return tags


class Mixture(BaseMixture):
    """A mixture of any family of components, an own one included.

    Parameters
    ----------
    family : a family (``asterism.families``), or "gaussian", "categorical", "bernoulli", "multinomial", "poisson",
        "negative_binomial", "hurdle", "student", "ppca"
    n_components : int, default 1
    assignment : "soft", "hard" (all of a row to its likeliest component) or "stochastic" (to one drawn)
    init_params : "auto", "kmeans", "k-means++", "ward", "random", "random_from_data"
    n_init : starts that run over the whole table, together; the best is kept
    tol, stop : settled when the log-likelihood a row rises by less than ``tol``; with stop="parameters" when no
        parameter moves by more than ``tol`` of its size
    responsibilities_init : (n, n_components) shares to start from
    frozen : names of what keeps its starting value: "weights"
    acceleration : None, or "squarem": fewer steps, never a lower likelihood
    random_state : int, RandomState or None

    Attributes
    ----------
    weights_, params_, labels_, n_iter_, converged_
    lower_bound_ : mean log-likelihood of the rows, with the prior's share; for hard assignment the classification
        likelihood, sum w max_c log pi_c p(x | c) a row
    history_ : list of the same before every step, then at the end; never falls but for stochastic assignment
    n_parameters_ : free ones; what is frozen is not

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import Mixture
    >>> X = np.array([[1.0], [2.0], [1.0], [30.0], [28.0], [31.0]])
    >>> Mixture("poisson", 2, random_state=0).fit(X).weights_.round(2).tolist()
    [0.5, 0.5]
    """

    def __init__(
        self,
        family: Any = "gaussian",
        n_components: int = 1,
        *,
        assignment: str = "soft",
        init_params: str = "auto",
        n_init: int = 1,
        tol: float = 1e-3,
        stop: str = "likelihood",
        max_iter: int = 100,
        responsibilities_init: Any = None,
        frozen: Any = (),
        acceleration: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.n_components = n_components
        self.assignment = assignment
        self.init_params = init_params
        self.n_init = n_init
        self.tol = tol
        self.stop = stop
        self.max_iter = max_iter
        self.responsibilities_init = responsibilities_init
        self.frozen = frozen
        self.acceleration = acceleration
        self.random_state = random_state
        self.verbose = verbose

    def _family(self) -> Family:
        return family_of(self.family)

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        self.params_ = fit.mixture.params
