"""Normal mixtures: scikit-learn's parameters, attributes and shapes, and all fourteen covariance structures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from asterism.errors import ParameterError
from asterism.estimators.mixture import BaseMixture
from asterism.families.base import Family
from asterism.families.covariance import ALIASES, Covariances, structure_of
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import GaussianParams
from asterism.methods.em import MixtureModel
from asterism.methods.mixture import MixtureFit, Start
from asterism.methods.noise import WithNoise
from asterism.methods.posterior import Mixture

Array = NDArray[np.float64]

ABOUT_ONE = 1e-5  # what given proportions may lack of 1, or have too much


class GaussianMixture(BaseMixture):
    """A mixture of normal components, with missing cells, weights, any offset and any unit.

    Parameters
    ----------
    n_components : int, default 1
    covariance_type : "full", "tied", "diag", "spherical", or one of EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV
        EVV VVV: volume, shape and orientation Equal, Varying, or Identity
    assignment : "soft", "hard" (all of a row to its likeliest component) or "stochastic" (to one drawn)
    prior : None, or "conjugate": a weak normal and inverse Wishart prior, for few rows
    tol : settled when the mean log-likelihood rises by less
    reg_covar : "auto", or a variance that is added to every column (scikit-learn adds 1e-6, whatever the unit).
        "auto" adds nothing and only keeps every spread above 1e-4 of the table's own
    max_iter, n_init : steps; starts that run over the whole table, together
    init_params : "auto", "kmeans", "k-means++", "ward", "random", "random_from_data"
    weights_init, means_init, precisions_init : where to start, in scikit-learn's shapes
    responsibilities_init : (n, n_components) shares to start from
    frozen : of "weights", "means", "covariances": what keeps its starting value
    acceleration : None, or "squarem": fewer steps, never a lower likelihood
    noise_component : one more component, of rows that belong to none: a uniform density over the box of the table.
        ``predict`` gives them -1; collapsed components are not put elsewhere, and steps are not accelerated
    warm_start : start from the last fit
    random_state : int, RandomState or None

    Attributes
    ----------
    weights_ : (n_components,) they add up to 1, less ``noise_weight_``
    noise_weight_, noise_log_density_ : share and log density of the noise; 0 and -inf without a noise component
    means_ : (n_components, d)
    covariances_, precisions_, precisions_cholesky_ : (n_components, d, d); (d, d) tied; (n_components, d) diag;
        (n_components,) spherical
    lower_bound_ : mean log-likelihood of the rows, with the prior's share; for hard assignment the classification
        likelihood, and ``history_`` likewise
    labels_, n_parameters_, history_, n_iter_, converged_, n_features_in_, feature_names_in_

    Notes
    -----
    Method: polythetic, soft, flat. Missing cells (NaN) are integrated out exactly, and ``impute`` fills them.

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import GaussianMixture
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0.0]])
    >>> gm = GaussianMixture(2, random_state=0).fit(X)
    >>> sorted(gm.means_.round(6).tolist())
    [[1.0, 2.0], [10.0, 2.0]]
    """

    _freezable = ("weights", "means", "covariances")

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        assignment: str = "soft",
        prior: Any = None,
        tol: float = 1e-3,
        stop: str = "likelihood",
        reg_covar: Any = "auto",
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "auto",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        responsibilities_init: Any = None,
        frozen: Any = (),
        acceleration: Any = None,
        noise_component: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.assignment = assignment
        self.prior = prior
        self.tol = tol
        self.stop = stop
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.responsibilities_init = responsibilities_init
        self.frozen = frozen
        self.acceleration = acceleration
        self.noise_component = noise_component
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def _family(self) -> Family:
        added = self.reg_covar
        if not (added == "auto" or (isinstance(added, int | float | np.number) and 0 <= added < np.inf)):
            raise ParameterError(f"reg_covar is {added!r}.", "Give 'auto', or a variance, 0 or more.")
        if not (self.prior is None or self.prior == "conjugate"):
            raise ParameterError(f"prior is {self.prior!r}.", "Give None or 'conjugate'.")
        names = self._frozen() & {"means", "covariances"}
        family = GaussianFamily(self.covariance_type, added, self.prior, names)
        return WithNoise(family) if self.noise_component else family

    # --- starting ---

    def _start(self, k: int, d: int) -> Start:
        structure_of(self.covariance_type, d)  # an unknown name is told before anything else
        if self.warm_start and hasattr(self, "_mixture"):
            last = self._mixture
            return Start(model=lambda family, _: _carried(family, last, self.means_))
        weights = _checked("weights_init", self.weights_init, (k,))
        means = _checked("means_init", self.means_init, (k, d))
        kind = _kind(self.covariance_type)
        shape = {"spherical": (k,), "diag": (k, d), "tied": (d, d)}.get(kind, (k, d, d))
        precisions = _checked("precisions_init", self.precisions_init, shape)
        if weights is None and means is None and precisions is None:
            return Start(self.init_params, self.responsibilities_init)
        if weights is not None and not (weights.min() >= 0 and abs(weights.sum() - 1.0) <= ABOUT_ONE):
            raise ParameterError("weights_init does not add up to 1.", "Give shares from 0 to 1.")
        matrices = None if precisions is None else _inverted(kind, precisions, k, d)

        def given(family: Any, found: MixtureModel | None) -> MixtureModel | None:
            if found is None and (weights is None or means is None or matrices is None):
                return None
            params: Any = None if found is None else found.params
            offsets = params.means if means is None else means - family.reference
            covariances = (
                params.covariances if matrices is None else Covariances.given(family.structure, matrices)
            )
            shares = found.weights if weights is None and found is not None else weights
            return MixtureModel(np.asarray(shares), GaussianParams(offsets, covariances))

        return Start(self.init_params, self.responsibilities_init, means, given)

    # --- attributes ---

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        family, params, k = fit.mixture.family, fit.mixture.params, self.n_components
        self.noise_weight_, self.noise_log_density_ = 0.0, -np.inf
        if isinstance(family, WithNoise):
            assert family.box is not None, "not prepared"
            self.noise_weight_ = float(self.weights_[k])
            self.noise_log_density_ = float(-family.box.log_widths.sum())
            self.weights_ = self.weights_[:k]
            self.labels_ = np.where(self.labels_ == k, np.int32(-1), self.labels_)
            family = family.inner
        reference = family.reference  # type: ignore[attr-defined]
        self.means_ = reference + params.means
        self.covariances_ = self._covariances(params.covariances)

    # --- of rows ---

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(n,) the likeliest component of every row; -1: noise is likelier than any."""
        labels = super().predict(X)
        return np.where(labels == self.n_components, np.int32(-1), labels)

    def predict_proba(self, X: Any) -> Array:
        """(n, n_components) responsibilities; each row adds up to 1, less its probability of noise."""
        return np.ascontiguousarray(super().predict_proba(X)[:, : self.n_components])

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[np.int64]]:
        """(n, d) rows drawn from the mixture, and (n,) the components they came from; -1: noise."""
        rows, labels = super().sample(n_samples)
        return rows, np.where(labels == self.n_components, -1, labels)

    # --- attributes ---

    @property
    def precisions_(self) -> Array:
        """Inverses of the covariances, in their shapes."""
        check_is_fitted(self)
        return self._shaped(self._mixture.params.covariances.precisions())

    @property
    def precisions_cholesky_(self) -> Array:
        """Upper triangular U with U U' = precision, in the shapes of the covariances."""
        check_is_fitted(self)
        return self._shaped(self._mixture.params.covariances.inverse_factors().transpose(0, 2, 1))

    def _covariances(self, covariances: Covariances) -> Array:
        kind = _kind(self.covariance_type)
        if kind not in ("diag", "spherical"):
            return self._shaped(covariances.full())
        diagonals = covariances.diagonals()
        return diagonals[:, 0].copy() if kind == "spherical" else diagonals.copy()

    def _shaped(self, matrices: Array) -> Array:
        kind = _kind(self.covariance_type)
        if kind == "spherical":
            return matrices[:, 0, 0].copy()
        if kind == "diag":
            return np.diagonal(matrices, axis1=1, axis2=2).copy()
        return matrices[0].copy() if kind == "tied" else matrices


def _kind(covariance_type: str) -> str:
    """scikit-learn's name of a structure, where it has one."""
    return {name: alias for alias, name in ALIASES.items()}.get(covariance_type, covariance_type)


def _checked(name: str, value: Any, shape: tuple[int, ...]) -> Array | None:
    if value is None:
        return None
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError) as bad:
        raise ParameterError(f"{name} is not numbers.", f"Give numbers of shape {shape}.") from bad
    if array.shape != shape or not np.isfinite(array).all():
        raise ParameterError(f"{name} has the shape {array.shape}.", f"Give finite numbers of shape {shape}.")
    return array


def _inverted(kind: str, precisions: Array, k: int, d: int) -> Array:
    """(k, d, d) covariances of precisions in scikit-learn's shapes; (k, d) where they are diagonal."""
    if kind == "spherical":
        precisions = precisions[:, None] * np.ones(d)
    if kind in ("spherical", "diag"):
        if not (precisions > 0).all():
            raise ParameterError("precisions_init is not positive.", "Give inverses of variances.")
        return np.asarray(1.0 / precisions)
    full = np.broadcast_to(precisions, (k, d, d))
    try:
        np.linalg.cholesky(full)
    except np.linalg.LinAlgError as bad:
        raise ParameterError(
            "precisions_init is not positive definite.", "Give inverses of covariances."
        ) from bad
    return np.asarray(np.linalg.inv(full), np.float64)


def _carried(family: Any, last: Mixture, means: Array) -> MixtureModel:
    """The last fit, about the reference of another table."""
    return MixtureModel(last.weights, replace(last.params, means=means - family.reference))
