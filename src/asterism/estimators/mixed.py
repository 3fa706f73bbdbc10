"""Mixtures over tables whose columns have kinds: names, ordered levels, yes and no, measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from os import PathLike
from typing import Any, cast

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.data.columns import Column, numbered_columns
from asterism.data.source import Piece, Source
from asterism.errors import ParameterError
from asterism.estimators.families import FamilyMixture
from asterism.estimators.mixture import Array
from asterism.families.base import Family
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.categorical import CategoricalFamily, level_offsets
from asterism.families.gaussian import GaussianFamily
from asterism.families.ordinal import OrdinalFamily
from asterism.families.poisson import PoissonFamily
from asterism.families.product import ProductFamily
from asterism.methods.mixture import MixtureFit

FLOATS = {"float", "double", "halffloat"}  # Arrow's names


class TableMixture(FamilyMixture):
    """Reads tables with kinds; plain numbers (an array, a frame of floats) go scikit-learn's way."""

    columns_: tuple[Column, ...]  # those that are used
    ignored_: tuple[Column, ...]  # those that are not, each with its reason

    def _rows(self, X: Any, *, reset: bool) -> Any:
        from asterism.data.read import read

        if reset:
            self._read = self._wants_reading(X)  # whether columns have kinds, that is: are read by name
            self.columns_, self.ignored_ = (), ()  # of an array: known when it is fitted
        if not self._read:
            return X
        source = X if isinstance(X, Source) else read(X, kinds=self._kinds_of(X) if reset else self.columns_)
        if reset:
            self.columns_, self.ignored_ = source.columns, source.ignored
        return PlainSource(source)

    def _kinds_of(self, X: Any) -> Any:  # noqa: ARG002  one signature for all
        """What ``asterism.read`` is told of the columns."""
        return None

    def _wants_reading(self, X: Any) -> bool:
        return _is_table(X)

    def to_frame(self, rows: Any) -> Any:
        """Rows of ``sample`` or ``impute`` as a ``pyarrow.Table``, codes as the names of their levels."""
        import pyarrow as pa

        check_is_fitted(self)
        rows = np.asarray(rows)
        return pa.table({column.name: _named(column, rows[:, j]) for j, column in enumerate(self.columns_)})


def _named(column: Column, cells: Array) -> Any:
    import pyarrow as pa

    if not column.levels:
        return pa.array(cells)
    known = ~np.isnan(cells)
    codes = pa.array(np.where(known, cells, 0).astype(np.int32), mask=~known)
    return pa.DictionaryArray.from_arrays(codes, list(column.levels))


class PlainSource(Source):
    """The same rows; codes are called numbers, for those who need not know."""

    def __init__(self, inner: Source) -> None:
        self.inner = inner
        self.columns = tuple(replace(column, kind="numeric", levels=()) for column in inner.columns)
        self.n_rows, self.dtype, self.ignored = inner.n_rows, inner.dtype, inner.ignored

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces."""
        return self.inner.pieces(start, stop)

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part."""
        return PlainSource(self.inner.part(first, last))


class CategoricalMixture(TableMixture):
    """Columns of levels without an order, independent given the component: latent class analysis.

    Columns of a frame or file are all taken for names; cells of an array are codes 0, 1, 2, ..., and a column has
    as many levels as its largest code tells.

    Parameters
    ----------
    as in ``FamilyMixture``

    Attributes
    ----------
    probabilities_ : list of (n_components, L_j), the shares of the levels of each column
    columns_ : the columns and their levels
    weights_, labels_, lower_bound_, n_parameters_, history_, n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import CategoricalMixture
    >>> X = np.array([[0, 0], [0, 0], [2, 1], [2, 1], [2, np.nan]])
    >>> lca = CategoricalMixture(2, random_state=0).fit(X)
    >>> lca.impute(X)[4].tolist()
    [2.0, 1.0]
    """

    def _kinds_of(self, X: Any) -> Any:
        return dict.fromkeys(_names(X), "categorical")

    def _family(self) -> Family:
        return CategoricalFamily(tuple(len(column.levels) for column in self.columns_), self.prior)

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        p, levels = fit.mixture.params.probabilities, cast(CategoricalFamily, fit.mixture.family).levels
        self.probabilities_ = [p[:, a:b] for a, b in pairwise(level_offsets(levels))]
        if not self.columns_:
            numbers = [tuple(map(str, range(count))) for count in levels]
            self.columns_ = _named_columns(self, "categorical", numbers)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags


class MixedMixture(TableMixture):
    """A table of columns of any kind, each with a family of its own; independent given the component.

    ============  ==============================================================================
    kind          family
    ============  ==============================================================================
    numeric       Gaussian; all numeric columns together, in the structure ``covariance_type``
    categorical   categorical
    boolean       Bernoulli
    ordinal       ordinal: a typical level, and how fast levels become rare away from it
    count         Poisson
    ============  ==============================================================================

    Parameters
    ----------
    n_components : int, default 1
    kinds : what columns are, where the guess is wrong, as in ``asterism.read``: {"size": "ordinal:S,M,L"}
    covariance_type : of the numeric columns, as in ``GaussianMixture``; "diag" keeps them independent as well
    prior : None, or "conjugate" for all families
    others : as in ``FamilyMixture``

    Attributes
    ----------
    columns_, ignored_ : the columns that are used, and those that are not, with reasons
    parameters_ : for each column by name a dict of arrays with a leading axis n_components: "mean" and "variance";
        "probabilities" (of its levels); "probability" (of the second level); "typical" and "decay"
    covariances_ : (n_components, m, m) of the m numeric columns
    weights_, labels_, lower_bound_, n_parameters_, history_, n_iter_, converged_

    Examples
    --------
    >>> import pyarrow
    >>> from asterism import MixedMixture
    >>> pets = pyarrow.table({
    ...     "kg": [4.1, 3.9, 4.6, 30.2, 28.1, 33.0, None],
    ...     "says": ["meow", "meow", "meow", "woof", "woof", "woof", "woof"],
    ... })
    >>> mixed = MixedMixture(2, random_state=0).fit(pets)
    >>> bool(mixed.impute(pets)[6, 0] > 25), len(mixed.parameters_["says"]["probabilities"])
    (True, 2)
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        kinds: Any = None,
        covariance_type: str = "diag",
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
        self.kinds = kinds
        self.covariance_type = covariance_type

    def _kinds_of(self, X: Any) -> Any:  # noqa: ARG002  one signature for all
        return self.kinds

    def _wants_reading(self, X: Any) -> bool:
        return self.kinds is not None or _is_table(X)

    def _family(self) -> Family:
        if not (self.prior is None or self.prior == "conjugate"):
            raise ParameterError(f"prior is {self.prior!r}.", "Give None or 'conjugate'.")
        columns = self.columns_ or _named_columns(self, "numeric", [()] * self.n_features_in_)
        return mixed_family(columns, self.covariance_type, self.prior)

    def _set(self, fit: MixtureFit) -> None:
        super()._set(fit)
        self.columns_ = self.columns_ or _named_columns(self, "numeric", [()] * self.n_features_in_)
        family = cast(ProductFamily, fit.mixture.family)
        self.parameters_: dict[str, dict[str, Array]] = {}
        for (part, js), params in zip(family.parts, fit.mixture.params.parts, strict=True):
            for i, j in enumerate(js):
                self.parameters_[self.columns_[j].name] = _told_of(part, params, i)
            if isinstance(part, GaussianFamily):
                self.covariances_ = params.covariances.full()
        self.parameters_ = {column.name: self.parameters_[column.name] for column in self.columns_}


def mixed_family(columns: tuple[Column, ...], structure: str = "diag", prior: Any = None) -> ProductFamily:
    """The product family of a table's columns, by their kinds.

    >>> family = mixed_family((Column("kg"), Column("color", "categorical", ("blue", "red")), Column("cm")))
    >>> [(part.name, columns) for part, columns in family.parts]
    [('gaussian', (0, 2)), ('categorical', (1,))]
    """
    where = {kind: tuple(j for j, c in enumerate(columns) if c.kind == kind) for kind in MADE_OF}
    parts = (
        (MADE_OF[kind](structure, prior, tuple(len(columns[j].levels) for j in js)), js)
        for kind, js in where.items()
        if js
    )
    return ProductFamily(tuple(parts))


MADE_OF: dict[str, Callable[[str, Any, tuple[int, ...]], Family]] = {
    "numeric": lambda structure, prior, _: GaussianFamily(structure, prior=prior),
    "categorical": lambda _, prior, levels: CategoricalFamily(levels, prior),
    "boolean": lambda _, prior, __: BernoulliFamily(prior),
    "ordinal": lambda _, prior, levels: OrdinalFamily(levels, prior),
    "count": lambda _, prior, __: PoissonFamily(prior),
}


def _told_of(family: Any, params: Any, i: int) -> dict[str, Array]:
    """What a family says of its column ``i``."""
    if isinstance(family, GaussianFamily):
        mean = family.reference[i] + params.means[:, i]
        return {"mean": mean, "variance": params.covariances.diagonals()[:, i]}
    if isinstance(family, CategoricalFamily):
        a, b = level_offsets(family.levels)[i : i + 2]
        return {"probabilities": params.probabilities[:, a:b]}
    if isinstance(family, BernoulliFamily):
        return {"probability": params.probabilities[:, i]}
    if isinstance(family, PoissonFamily):
        return {"rate": params.rates[:, i]}
    return {"typical": params.typical[:, i], "decay": params.decay[:, i]}


def _is_table(X: Any) -> bool:
    """Whether columns have kinds that must be looked at: a file, a Source, text, a frame of more than floats."""
    from asterism.data.frames import frame_table

    if isinstance(X, str | PathLike | Source):
        return True
    if isinstance(X, np.ndarray):
        texts = X.dtype.kind == "O" and any(isinstance(cell, str) for cell in X.flat)
        return X.ndim == 2 and (texts or X.dtype.kind in "US")
    if isinstance(X, list | tuple):
        return False
    table = frame_table(X)
    return table is not None and not {str(kind) for kind in table.types.values()} <= FLOATS


def _named_columns(estimator: Any, kind: Any, levels: list[tuple[str, ...]]) -> tuple[Column, ...]:
    """Columns of plain numbers, with the names that scikit-learn found."""
    names = getattr(estimator, "feature_names_in_", [c.name for c in numbered_columns(len(levels))])
    return tuple(Column(str(name), kind, own) for name, own in zip(names, levels, strict=True))


def _names(table: Any) -> tuple[str, ...]:
    """Names of the columns of whatever ``asterism.read`` reads."""
    from asterism.data.read import read

    source = read(table)
    return tuple(column.name for column in (*source.columns, *source.ignored))
