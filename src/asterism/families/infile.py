"""Families of components in model files: what they are in JSON, and back; and checks of what strangers wrote.

A family is looked up in ``FAMILIES``; nothing is called by a name in the file. Kernels trust the shapes of arrays,
so these are looked at here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from asterism.errors import ModelFileError, ParameterError
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.categorical import CategoricalFamily
from asterism.families.covariance import STRUCTURES
from asterism.families.gaussian import GaussianFamily
from asterism.families.ordinal import OrdinalFamily
from asterism.families.product import ProductFamily

DEEPEST = 4  # products within products: no more than anybody needs

Arrays = dict[str, NDArray[Any]]
Spec = dict[str, Any]


# --- families ---------------------------------------------------------------------------------------------------


def packed_family(family: Any, prefix: str, arrays: Arrays) -> Spec:
    """What a family is, without what it was fitted with: priors are of no use to new rows."""
    if isinstance(family, GaussianFamily):
        for name in ("reference", "center", "variances"):
            arrays[prefix + name] = getattr(family, name)
        return {"name": "gaussian", "structure": family.structure}
    if family.name == "student":
        return {
            "name": "student", "degrees": family.degrees,
            "normal": packed_family(family.normal, prefix, arrays),
        }  # fmt: skip
    if isinstance(family, ProductFamily):
        parts = [
            [packed_family(part, f"{prefix}{i}.", arrays), list(columns)]
            for i, (part, columns) in enumerate(family.parts)
        ]
        return {"name": "product", "parts": parts}
    if isinstance(family, CategoricalFamily | OrdinalFamily):
        return {"name": family.name, "levels": list(family.levels)}
    if family.name in ("bernoulli", "poisson", "negative_binomial", "hurdle", "multinomial"):
        return {"name": family.name}
    raise ParameterError(
        f"Mixtures of {type(family).__name__} cannot be saved.", f"Families that can: {', '.join(FAMILIES)}."
    )


def family_of(spec: Spec, width: int, prefix: str, arrays: Arrays, depth: int = 0) -> Any:
    """The family again."""
    demand(depth < DEEPEST, "parts that are not nested so deeply")
    return FAMILIES[spec["name"]](spec, width, prefix, arrays, depth)


def _gaussian(spec: Spec, width: int, prefix: str, arrays: Arrays, depth: int) -> Any:  # noqa: ARG001
    demand(spec["structure"] in (*STRUCTURES, "E", "V"), "a known covariance structure")
    place, center, variances = (
        floats(arrays, prefix + name, (width,)) for name in ("reference", "center", "variances")
    )
    return GaussianFamily(
        spec["structure"], reference=place, center=center, variances=variances, surveyed=True
    )


def _student(spec: Spec, width: int, prefix: str, arrays: Arrays, depth: int) -> Any:
    from asterism.families.student import StudentFamily  # with SciPy, which few files need

    degrees = None if spec["degrees"] is None else positive(spec["degrees"])
    return StudentFamily(_gaussian(spec["normal"], width, prefix, arrays, depth), degrees)


def _multinomial(*_: Any) -> Any:
    from asterism.families.multinomial import MultinomialFamily  # the same

    return MultinomialFamily()


def _poisson(*_: Any) -> Any:
    from asterism.families.poisson import PoissonFamily  # the same

    return PoissonFamily()


def _negative_binomial(*_: Any) -> Any:
    from asterism.families.negative_binomial import NegativeBinomialFamily  # the same

    return NegativeBinomialFamily()


def _hurdle(*_: Any) -> Any:
    from asterism.families.hurdle import HurdleFamily  # the same

    return HurdleFamily()


def _levels(spec: Spec, width: int) -> tuple[int, ...]:
    levels = tuple(spec["levels"])
    demand(
        len(levels) == width and all(type(n) is int and 0 < n < 1 << 31 for n in levels), "levels per column"
    )
    return levels


def _product(spec: Spec, width: int, prefix: str, arrays: Arrays, depth: int) -> Any:
    parts = []
    for i, (part, columns) in enumerate(spec["parts"]):
        demand(all(type(j) is int for j in columns), "columns by number")
        parts.append((family_of(part, len(columns), f"{prefix}{i}.", arrays, depth + 1), tuple(columns)))
    demand(sum(len(columns) for _, columns in parts) == width, "a part for every column")
    return ProductFamily(tuple(parts))


FAMILIES: dict[str, Callable[..., Any]] = {
    "gaussian": _gaussian,
    "student": _student,
    "product": _product,
    "categorical": lambda spec, width, *_: CategoricalFamily(_levels(spec, width)),
    "ordinal": lambda spec, width, *_: OrdinalFamily(_levels(spec, width)),
    "bernoulli": lambda *_: BernoulliFamily(),
    "poisson": _poisson,
    "negative_binomial": _negative_binomial,
    "hurdle": _hurdle,
    "multinomial": _multinomial,
}


def check_shapes(family: Any, params: Any, k: int, width: int) -> None:
    """Parameters that fit the columns: kernels trust shapes, so a stranger's are looked at first."""
    if isinstance(family, ProductFamily):
        for (part, columns), own in zip(family.parts, params.parts, strict=True):
            check_shapes(part, own, k, len(columns))
        return
    if family.name == "student":
        demand(params.degrees.shape == (k,) and bool((params.degrees > 0).all()), "degrees of freedom")
        check_shapes(family.normal, params.normal, k, width)
        return
    if isinstance(family, GaussianFamily):
        c = params.covariances
        demand(params.means.shape == (k, width), "a mean for every column")
        demand((c.variances is None) == (c.matrices is not None), "variances or covariances")
        for array, shape in ((c.variances, (width,)), (c.axes, (width, width)), (c.matrices, (width, width))):
            demand(
                array is None or (array.shape[1:] == shape and len(array) in (1, k)),
                "covariances of the columns",
            )
        demand(c.variances is None or bool((c.variances > 0).all()), "positive variances")
        demand(bool((c.diagonals() > 0).all()), "positive variances")
        demand(bool(np.isfinite(params.factors).all()), "covariances that can be inverted")
        return
    if family.name == "hurdle":
        demand(bool((params.zeros <= 1).all()), "shares between 0 and 1")
    wide = sum(family.levels) if isinstance(family, CategoricalFamily) else width
    for array in family.pack(params).values():
        demand(array.shape == (k, wide) and bool((array >= 0).all()), "numbers of the right shape, 0 or more")


# --- checks -----------------------------------------------------------------------------------------------------


def demand(holds: Any, what: str) -> None:
    """A ``ModelFileError`` unless it holds."""
    if not holds:
        raise ModelFileError(
            f"The model file should hold {what}.", "It was not written by Asterism, or is damaged."
        )


def floats(
    arrays: Arrays, name: str, shape: tuple[int | None, ...], *, missing: bool = False
) -> NDArray[np.float64]:
    """An array of finite numbers of this shape (None: any length)."""
    array = _shaped(arrays, name, shape)
    demand(array.dtype == np.float64, f"{name!r} as float64")
    demand(
        not np.isinf(array).any() and (missing or not np.isnan(array).any()), f"finite numbers in {name!r}"
    )
    return cast(NDArray[np.float64], array)


def whole(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> NDArray[np.int64]:
    """An array of whole numbers, 0 or more."""
    array = _shaped(arrays, name, shape)
    demand(array.dtype == np.int64 and bool((array >= 0).all()), f"whole numbers in {name!r}")
    return cast(NDArray[np.int64], array)


def _shaped(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    demand(name in arrays, f"{name!r}")
    array = arrays[name]
    fits = array.ndim == len(shape) and all(
        w is None or n == w for n, w in zip(array.shape, shape, strict=True)
    )
    demand(fits and array.size > 0, f"{name!r} of the right shape")
    return array


def positive(value: Any, *, zero: bool = False) -> float:
    """A number above 0 (or 0, where that is allowed)."""
    good = isinstance(value, int | float) and np.isfinite(value) and (value > 0 or (zero and value == 0))
    demand(good, "positive numbers")
    return float(value)
