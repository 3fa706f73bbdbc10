"""Mixtures of one family each, in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Self, cast

import numpy as np
from sklearn.utils import Tags

from asterism.data.source import Piece, Source
from asterism.data.sparse import SparseSource, cells_above
from asterism.errors import DataError, ParameterError
from asterism.estimators.base import as_source
from asterism.estimators.mixture import Array, BaseMixture
from asterism.families.base import Family
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.gaussian import GaussianFamily
from asterism.families.multinomial import MultinomialFamily
from asterism.families.negative_binomial import NegativeBinomialFamily
from asterism.families.poisson import PoissonFamily
from asterism.families.student import StudentFamily
from asterism.methods.mixture import MixtureFit


class FamilyMixture(BaseMixture):
    """What mixtures of one family share.

    Parameters
    ----------
    n_components : int, default 1
    assignment : "soft", "hard" (all of a row to its likeliest component) or "stochastic" (to one drawn)
    prior : None, "conjugate" (worth one observation), or how many observations it is worth
    tol, max_iter, n_init, init_params, responsibilities_init, frozen, acceleration, random_state : as in ``Mixture``

    Every class lists its parameters, however long the list: scikit-learn reads them off the signature.
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        assignment: str = "soft",
        prior: Any = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "auto",
        responsibilities_init: Any = None,
        frozen: Any = (),
        acceleration: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.assignment = assignment
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.responsibilities_init = responsibilities_init
        self.frozen = frozen
        self.acceleration = acceleration
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the components to the rows ``X``: an array, a frame, a path or a Source."""
        try:
            return super().fit(X, y, sample_weight)
        except DataError as bad:
            if bad.row is not None:  # it may be a row of a sample: find the cell in the table
                self._name_cell(self._source(X, sample_weight, reset=True))
            raise

    # --- errors ---

    def _name_cell(self, source: Source) -> None:
        """Raise the error of the first bad cell of a table, with its own row number."""
        family = self._bare_family(source)
        for block in source.blocks():
            family.statistic(None, block, np.zeros((len(block), 1)))

    def _bare_family(self, source: Source) -> Any:
        from asterism.methods.frame import survey
        from asterism.methods.mixture import facts_of

        family = self._family()
        return family.prepared(facts_of(source, family, *survey(source)))


class BernoulliMixture(FamilyMixture):
    """Columns of 0 and 1, independent given the component. SciPy sparse matrices stay sparse.

    Parameters
    ----------
    binarize : None (cells are 0 or 1) or a number: what is above it counts as 1
    others : as in ``FamilyMixture``

    Attributes
    ----------
    probabilities_ : (n_components, d) of a 1
    weights_, labels_, lower_bound_, n_parameters_, history_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import BernoulliMixture
    >>> X = np.array([[1, 1, 0], [1, 1, np.nan], [0, 0, 1], [0, 0, 1]])
    >>> BernoulliMixture(2, random_state=0).fit(X).impute(X)[1].tolist()
    [1.0, 1.0, 0.0]
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        binarize: Any = None,
        assignment: str = "soft",
        prior: Any = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "auto",
        responsibilities_init: Any = None,
        frozen: Any = (),
        acceleration: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            assignment=assignment,
            prior=prior,
            tol=tol,
            max_iter=max_iter,
            n_init=n_init,
            init_params=init_params,
            responsibilities_init=responsibilities_init,
            frozen=frozen,
            acceleration=acceleration,
            random_state=random_state,
            verbose=verbose,
        )
        self.binarize = binarize

    _sparse = True

    def _rows(self, X: Any, *, reset: bool) -> Any:
        if self.binarize is None:
            return X
        if not isinstance(self.binarize, int | float | np.number):
            raise ParameterError(f"binarize is {self.binarize!r}.", "Give a number, or None.")
        source = as_source(self, X, reset=reset, sparse=True)
        if isinstance(source, SparseSource) and self.binarize >= 0:
            return source.rewritten(partial(cells_above, float(self.binarize)))
        if source.sparse:
            raise ParameterError(
                f"binarize is {self.binarize!r}, and X is sparse: all cells that are not stored would be 1.",
                "Give 0 or more.",
            )
        return BinarySource(source, float(self.binarize))

    def _family(self) -> Family:
        return BernoulliFamily(self.prior)

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        self.probabilities_ = fit.mixture.params.probabilities


class BinarySource(Source):
    """1 where a cell is above a threshold, 0 where it is not; missing cells stay missing."""

    def __init__(self, inner: Source, threshold: float) -> None:
        self.inner, self.threshold = inner, threshold
        self.columns, self.n_rows, self.dtype = inner.columns, inner.n_rows, inner.dtype

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces."""
        for rows, weights in self.inner.pieces(start, stop):
            above = (rows > self.threshold).astype(self.dtype)
            yield np.where(np.isfinite(rows), above, rows), weights

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part."""
        return BinarySource(self.inner.part(first, last), self.threshold)


class MultinomialMixture(FamilyMixture):
    """Rows of counts that share out a total: words of texts, purchases of customers. Totals are not modelled.

    SciPy sparse matrices stay sparse.

    Parameters
    ----------
    as in ``FamilyMixture``

    Attributes
    ----------
    probabilities_ : (n_components, d), the share of each column in the total
    weights_, labels_, lower_bound_, n_parameters_, history_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import MultinomialMixture
    >>> X = np.array([[9, 1], [80, 20], [1, 9], [20, 80]])  # long and short texts on two subjects
    >>> labels = MultinomialMixture(2, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _sparse = True

    def _family(self) -> Family:
        return MultinomialFamily(self.prior)

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        self.probabilities_ = fit.mixture.params.probabilities

    def __sklearn_tags__(self) -> Tags:
        return positive_only(super().__sklearn_tags__())


class PoissonMixture(FamilyMixture):
    """Columns of counts, independent Poisson given the component.

    Parameters
    ----------
    as in ``FamilyMixture``

    Attributes
    ----------
    rates_ : (n_components, d), the expected counts
    weights_, labels_, lower_bound_, n_parameters_, history_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import PoissonMixture
    >>> X = np.array([[1], [2], [1], [2], [30], [28], [31], [31]])
    >>> sorted(PoissonMixture(2, random_state=0).fit(X).rates_.round(3).ravel().tolist())
    [1.5, 30.0]
    """

    def _family(self) -> Family:
        return PoissonFamily(self.prior)

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        self.rates_ = fit.mixture.params.rates

    def __sklearn_tags__(self) -> Tags:
        return positive_only(super().__sklearn_tags__())


class NegativeBinomialMixture(FamilyMixture):
    """Columns of counts that spread wider than Poisson's, independent given the component.

    Parameters
    ----------
    as in ``FamilyMixture``; a number as ``prior`` is how many counts it is worth

    Attributes
    ----------
    means_ : (n_components, d) m, the expected counts
    dispersions_ : (n_components, d) a: the variance is m + a m^2; 0 is Poisson's distribution
    weights_, labels_, lower_bound_, n_parameters_, history_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import NegativeBinomialMixture
    >>> X = np.array([[0], [1], [0], [9], [2], [0], [150], [80], [122], [171], [103]])
    >>> visits = NegativeBinomialMixture(2, random_state=0).fit(X)
    >>> visits.means_.round(1).ravel().tolist()
    [2.0, 125.2]
    """

    def _family(self) -> Family:
        return NegativeBinomialFamily(self.prior)

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        self.means_ = fit.mixture.params.means
        self.dispersions_ = fit.mixture.params.dispersions

    def __sklearn_tags__(self) -> Tags:
        return positive_only(super().__sklearn_tags__())


class StudentMixture(FamilyMixture):
    """Multivariate t components: normal ones in which outliers hardly count.

    Parameters
    ----------
    covariance_type : as in ``GaussianMixture``
    degrees_of_freedom : None to estimate one for each component, or a number for all
    prior : None or "conjugate": that of ``GaussianMixture``
    others : as in ``FamilyMixture``

    Attributes
    ----------
    means_ : (n_components, d)
    scales_ : (n_components, d, d) scale matrices S; the covariance is S v / (v - 2)
    covariances_ : (n_components, d, d); infinite where v is 2 or less
    degrees_of_freedom_ : (n_components,) v
    weights_, labels_, lower_bound_, n_parameters_, history_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import StudentMixture
    >>> x = np.append(np.linspace(-1, 1, 50), 1000.0)[:, None]  # and one outlier
    >>> bool(abs(StudentMixture().fit(x).means_[0, 0]) < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        degrees_of_freedom: Any = None,
        assignment: str = "soft",
        prior: Any = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "auto",
        responsibilities_init: Any = None,
        frozen: Any = (),
        acceleration: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            assignment=assignment,
            prior=prior,
            tol=tol,
            max_iter=max_iter,
            n_init=n_init,
            init_params=init_params,
            responsibilities_init=responsibilities_init,
            frozen=frozen,
            acceleration=acceleration,
            random_state=random_state,
            verbose=verbose,
        )
        self.covariance_type = covariance_type
        self.degrees_of_freedom = degrees_of_freedom

    def _family(self) -> Family:
        if not (self.prior is None or self.prior == "conjugate"):
            raise ParameterError(f"prior is {self.prior!r}.", "Give None or 'conjugate'.")
        return StudentFamily(GaussianFamily(self.covariance_type, prior=self.prior), self.degrees_of_freedom)

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        params, family = fit.mixture.params, cast(StudentFamily, fit.mixture.family)
        v = params.degrees
        self.degrees_of_freedom_ = v
        self.means_ = family.normal.reference + params.normal.means
        self.scales_ = params.normal.covariances.full()
        stretch = np.where(v > 2, v / np.where(v > 2, v - 2, 1.0), np.inf)
        with np.errstate(invalid="ignore"):  # infinity times a covariance of 0
            self.covariances_: Array = np.nan_to_num(
                self.scales_ * stretch[:, None, None], nan=0.0, posinf=np.inf
            )


def positive_only(tags: Tags) -> Tags:
    """Tags of estimators of counts."""
    tags.input_tags.positive_only = True
    return tags
