"""What the making of groups leaves uncertain of ``Q``, the mean probabilities of the rows with each label.

Parameters of a mixture can move in p directions b. Along each of them the log density of every row in every component
has a slope, l_nc,b = d log pi_c p(x_n | c) / d b, and with it

    the score of a row       z_nb     = sum_c r_nc l_nc,b                    (Fisher's identity)
    its probabilities        r'_nc,b  = r_nc (l_nc,b - z_nb)
    the information          I        = sum_n w_n z_n z_n'                    (outer products; Berndt et al. 1974)
    so of Q                  U        = T I^-1 T',    T[s, t, b] = mean of r'_nt,b over the rows labelled s

Families keep parameters in arrays of their own that may hang together (shares add up to 1, covariances have a
structure). Directions in which they can move are found by M-steps with slightly other row weights: the estimates
differ along the family, whatever it is. Slopes are central differences.

References
----------
1. Bakk, Oberski, Vermunt (2014), Relating latent class assignments to external variables: standard errors for correct
   inference. Political Analysis 22:520-540.
2. Berndt, Hall, Hall, Hausman (1974), Estimation and inference in nonlinear structural models. AESM 3:653-665.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, block_of
from asterism.families.assignment import assign
from asterism.families.base import Array
from asterism.methods.posterior import Mixture

MOST_PARAMETERS = 600  # convention: beyond, slopes along all directions take more than seconds
NUDGE = 0.02  # convention: by how much row weights differ; differences of estimates are linear in it to a thousandth
STEP = 0.01  # convention: of a direction, in standard errors of a complete table, for a central difference
RANK = 1e-6  # convention: directions in which nudged estimates differ by less than this share do not count


def mixing_covariance(
    mixture: Mixture, group_of: NDArray[np.int64], rows: Array, weights: Array
) -> Array | None:
    """(k, k, k, k) U, from rows (m, d) as the mixture takes them; ``weights`` add up to those of all rows.

    ``group_of``  group of each component
    None where the mixture has too many parameters for it.
    """
    if mixture.n_parameters > MOST_PARAMETERS or mixture.k == 1 or mixture.n_parameters >= len(rows):
        return None
    block = block_of(np.ascontiguousarray(rows, np.float64), weights)
    r, _ = assign(mixture.scores(block), "soft")
    ways = _ways(mixture, block, r)
    slopes = np.stack([_slope(mixture, block, way) for way in ways])  # (p, n, components)
    score = (slopes * r).sum(axis=2)
    moves = r * (slopes - score[:, :, None])
    into = np.eye(int(group_of.max()) + 1)[group_of]
    labels = (r @ into).argmax(axis=1)
    at = np.eye(into.shape[1])[labels] * weights[:, None]
    mass = np.maximum(at.sum(axis=0), np.finfo(float).tiny)
    t = np.einsum("ns,pnt->stp", at / mass, moves @ into)
    information = (score * weights) @ score.T
    flat = t.reshape(-1, len(ways))
    k = into.shape[1]
    return np.asarray(flat @ np.linalg.pinv(information, rcond=1e-10, hermitian=True) @ flat.T).reshape(
        k, k, k, k
    )


# --- directions -------------------------------------------------------------------------------------------------

Arrays = Mapping[str, NDArray[Any]]


def _packed(mixture: Mixture) -> dict[str, NDArray[Any]]:
    return {"": mixture.weights, **mixture.family.pack(mixture.params)}


def _moved(mixture: Mixture, way: Arrays, far: float) -> Mixture:
    here = {name: array + far * way[name] for name, array in _packed(mixture).items()}
    weights = here.pop("")
    return Mixture(mixture.family, weights, mixture.family.unpack(here))


def _ways(mixture: Mixture, block: Block, r: Array) -> list[dict[str, NDArray[Any]]]:
    """p directions in which the parameters can move, in standard errors of a table whose groups are known."""
    rng = np.random.default_rng(0)
    p = mixture.n_parameters
    nudges = rng.standard_normal((p + 5, len(block)))
    found = [_nudged(mixture, block, r, 1 + NUDGE * nudge, 1 - NUDGE * nudge) for nudge in nudges]
    names = list(found[0])
    flat = np.array([np.concatenate([way[name].ravel() for name in names]) for way in found])
    unit = np.sqrt((flat**2).mean(axis=0))
    unit[unit == 0] = 1.0
    _, size, basis = np.linalg.svd(flat / unit, full_matrices=False)
    kept = basis[:p][size[:p] > RANK * size[0]] * unit
    shapes = [found[0][name].shape for name in names]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    return [
        {
            name: part.reshape(shape)
            for name, part, shape in zip(names, np.split(way, ends), shapes, strict=True)
        }
        for way in kept
    ]


def _nudged(mixture: Mixture, block: Block, r: Array, up: Array, down: Array) -> dict[str, NDArray[Any]]:
    """Half the difference of the estimates with these row weights, over the nudge."""
    family, ends = mixture.family, []
    for factor in (up, down):
        w = block.weights * np.maximum(factor, 0.0)
        mass = r * w[:, None]
        params = family.estimate(
            family.statistic(mixture.params, block_of(block.rows, w), mass), mixture.params
        )
        share = mass.sum(axis=0) / mass.sum()
        ends.append(_packed(Mixture(family, share, params)))
    first, second = ends
    return {name: (first[name] - second[name]) / (2 * NUDGE) for name in first}


def _slope(mixture: Mixture, block: Block, way: Arrays) -> Array:
    """(n, components) of log pi_c p(x | c)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = _moved(mixture, way, STEP).scores(block) - _moved(mixture, way, -STEP).scores(block)
    return np.where(np.isfinite(rise), rise / (2 * STEP), 0.0)
