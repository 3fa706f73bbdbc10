"""Whether rows are called noise that are not, and whether noise is found (``asterism.groups.background``).

    python -m bench.outliers                   about two minutes
    python -m bench.outliers --seeds 3         a first look

Groups are mixtures of the true number of normal components, by ``GaussianMixture``, so that nothing but the evidence
for a background is measured. Tables without noise: how often there is said to be some. Tables with noise: how often
it is found, its share, and which rows are taken for it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SHAPES = ((200, 2), (1000, 2), (200, 5), (1000, 5), (1000, 10))  # rows, columns
SHARES = (0.05, 0.1, 0.2, 0.3)
GROUPS = 4


def student(rng: np.random.Generator, n: int, d: int) -> Array:
    """Multivariate t of 3 degrees."""
    return rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(3, n) / 3)[:, None]


def ball(rng: np.random.Generator, n: int, d: int) -> Array:
    """Even in a ball."""
    z = rng.standard_normal((n, d))
    return z / np.linalg.norm(z, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / d)


def scales(rng: np.random.Generator, n: int, d: int) -> Array:
    """Two scales about one centre."""
    return rng.standard_normal((n, d)) * np.where(rng.random((n, 1)) < 0.2, 5.0, 1.0)


def places(rng: np.random.Generator, n: int, d: int) -> Array:
    """Centres of groups, row by row."""
    return rng.random((GROUPS, d))[rng.integers(GROUPS, size=n)]


WITHOUT: dict[str, tuple[int, Callable[[np.random.Generator, int, int], Array]]] = {  # components, table
    "normal": (1, lambda rng, n, d: rng.standard_normal((n, d))),
    "t3": (1, student),
    "t3 in each column": (1, lambda rng, n, d: rng.standard_t(3, (n, d))),
    "lognormal": (1, lambda rng, n, d: rng.lognormal(size=(n, d))),
    "uniform": (1, lambda rng, n, d: rng.random((n, d))),
    "exponential": (1, lambda rng, n, d: rng.exponential(size=(n, d))),
    "laplace": (1, lambda rng, n, d: rng.laplace(size=(n, d))),
    "ball": (1, ball),
    "triangular": (1, lambda rng, n, d: rng.random((n, d)) + rng.random((n, d))),
    "two scales": (1, scales),
    "normal groups": (GROUPS, lambda rng, n, d: 0.05 * rng.standard_normal((n, d)) + places(rng, n, d)),
    "t3 groups": (GROUPS, lambda rng, n, d: 0.03 * student(rng, n, d) + places(rng, n, d)),
    "boxes": (GROUPS, lambda rng, n, d: 0.25 * rng.random((n, d)) + places(rng, n, d)),
}


def noisy(rng: np.random.Generator, n: int, d: int, share: float) -> Array:
    """Normal groups; the first rows are noise."""
    x = 0.04 * rng.standard_normal((n, d)) + places(rng, n, d)
    x[: round(share * n)] = rng.random((round(share * n), d))
    return x


def background_of(x: Array, k: int) -> tuple[float | None, NDArray[np.bool_]]:
    """The share of the background (None: there is none), and which rows are of it."""
    from asterism import GaussianMixture
    from asterism.data.block import block_of
    from asterism.groups.judges import MixtureJudge
    from asterism.groups.outliers import background_beside

    mixture = GaussianMixture(k, random_state=0).fit(x)._mixture
    found, judge = background_beside(MixtureJudge.of(mixture), x, np.ones(len(x)))
    if found.background is None:
        return None, np.zeros(len(x), bool)
    height = judge.log_density(block_of(x))
    return found.background.share, found.background.probability(x, height) > 0.5


def false_alarms(seeds: int) -> Iterator[tuple[str, int, int]]:
    """Name, alarms, tables."""
    for name, (k, table) in WITHOUT.items():
        alarms = [
            background_of(table(np.random.default_rng([seed, n, d]), n, d), k)[0] is not None
            for seed in range(seeds)
            for n, d in SHAPES
        ]
        yield name, sum(alarms), len(alarms)


def power(seeds: int) -> Iterator[tuple[str, int, int, float, float, float]]:
    """Name, found, tables; where found: mean error of the share, of noise called noise, of groups called noise."""
    for share in SHARES:
        for n, d in SHAPES:
            facts = []
            for seed in range(seeds):
                found, rows = background_of(noisy(np.random.default_rng([seed, n, d]), n, d, share), GROUPS)
                m = round(share * n)
                if found is not None:
                    facts.append((abs(found - share), float(rows[:m].mean()), float(rows[m:].mean())))
            error, hit, wrong = np.mean(facts, axis=0) if facts else (np.nan,) * 3
            yield f"{share:.0%} of {n} x {d}", len(facts), seeds, float(error), float(hit), float(wrong)


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    print("Tables without noise, of which there is said to be some")
    alarms = list(false_alarms(seeds))
    for name, found, tables in alarms:
        print(f"  {name:20} {found:3} of {tables}")
    print(f"  all: {sum(a for _, a, _ in alarms) / sum(n for _, _, n in alarms):.1%}")
    print("Tables with noise: found, error of the share, noise called noise, groups called noise")
    for name, found, tables, error, hit, wrong in power(seeds):
        print(f"  {name:20} {found:3} of {tables}  {error:.3f}  {hit:.0%}  {wrong:.1%}")


if __name__ == "__main__":
    main()
