"""Outcomes in groups that are not known for sure: do intervals cover, and is the third step that of StepMix?

    python -m bench.outcome                        500 tables of each design, about five minutes
    python -m bench.outcome --tables 50            a first look
    python -m bench.outcome --only names           designs with this word in their name
    python -m bench.outcome --peer                 only the comparison with StepMix

Every table has three groups, an entropy of about 0.6, and outcomes (a number, yes or no, three levels) that depend
on the group alone. Step one is a mixture of the right kind, fitted anew to each table; groups are matched to the true
ones. A table counts how often 95% intervals hold the truth: the naive ones, those of the third step alone, and ours.
And how often the test says that groups differ in an outcome that has nothing to do with them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.explain.first_step import mixing_covariance
from asterism.explain.outcome import METHODS, Outcome, outcome_of
from asterism.explain.three_step import Membership
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.gaussian import GaussianFamily
from asterism.methods.mixture import Settings, fit_mixture
from asterism.methods.posterior import Mixture, shares_of

Array = NDArray[np.float64]
SHARES = np.array([0.5, 0.3, 0.2])
MEANS = np.array([0.0, 1.0, -1.0])  # of the number, whose deviation is 1
CHANCES = np.array([0.2, 0.5, 0.8])  # of yes
LEVELS = np.array([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
CORNERS = np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]], float)  # of normal groups
ANSWERS = np.array([[0.75] * 8, [0.75] * 4 + [0.25] * 4, [0.25] * 8])  # chances of yes


@dataclass(frozen=True)
class Design:
    """How tables are drawn."""

    name: str
    rows: int
    apart: float  # of normal groups, standard deviations; 0: names

    def draw(self, rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
        """Rows, and the group of each."""
        z = rng.choice(3, self.rows, p=SHARES)
        if self.apart:
            return self.apart * CORNERS[z] + rng.normal(size=(self.rows, 4)), z
        return (rng.random((self.rows, 8)) < ANSWERS[z]).astype(float), z

    def fitted(self, x: Array) -> tuple[Mixture, NDArray[np.int64]]:
        """A mixture, and the true group of each component."""
        family, truth = GaussianFamily("VII"), self.apart * CORNERS
        if not self.apart:
            family, truth = BernoulliFamily(), ANSWERS
        mixture = fit_mixture(ArraySource(x), family, 3, Settings(tol=1e-8, max_iter=1000, n_init=2)).mixture
        r = shares_of(mixture, ArraySource(x))
        places = r.T @ x / r.sum(axis=0)[:, None]
        order = min(permutations(range(3)), key=lambda p: float(((places[list(p)] - truth) ** 2).sum()))
        return mixture, np.argsort(order)


DESIGNS = (
    Design("numbers", 2000, 1.55),
    Design("few numbers", 1000, 1.55),
    Design("names", 2000, 0.0),
)


def outcomes(z: NDArray[np.int64], rng: np.random.Generator) -> Iterator[tuple[str, Column, Array, Array]]:
    """Name, column, cells, and the truth of each group."""
    yield "number", Column("number"), rng.normal(MEANS[z], 1.0), MEANS
    yield (
        "yes or no",
        Column("yes", "boolean", ("no", "yes")),
        (rng.random(len(z)) < CHANCES[z]) + 0.0,
        CHANCES,
    )
    codes = (rng.random(len(z))[:, None] > LEVELS.cumsum(axis=1)[z][:, :2]).sum(axis=1)
    yield "three levels", Column("level", "categorical", ("a", "b", "c")), codes + 0.0, LEVELS.ravel()


def covered(found: Outcome, truth: Array, which: str) -> NDArray[np.bool_]:
    """Of each group (and level), whether the interval holds the truth."""
    made = [getattr(group, which) for group in found.groups]
    return np.array([e.low <= t <= e.high for e, t in zip(made, truth, strict=True)])


def coverage(design: Design, tables: int) -> None:
    """Print how often intervals hold the truth."""
    held: dict[tuple[str, str], list[NDArray[np.bool_]]] = {}
    false: dict[str, list[bool]] = {}
    entropies = []
    for seed in range(tables):
        rng = np.random.default_rng([seed, design.rows])
        x, z = design.draw(rng)
        mixture, group_of = design.fitted(x)
        r = shares_of(mixture, ArraySource(x)) @ np.eye(3)[group_of]
        ones = np.ones(len(x))
        known = Membership(r, ones, step_one=mixing_covariance(mixture, group_of, x, ones))
        entropies.append(known.entropy)
        for name, column, cells, truth in outcomes(z, rng):
            for method in METHODS:
                found = outcome_of(known, cells, column, method)
                alone = outcome_of(replace(known, step_one=None), cells, column, method)
                if method == "bch":
                    held.setdefault((name, "naive"), []).append(covered(found, truth, "naive"))
                held.setdefault((name, f"{method}, third step alone"), []).append(
                    covered(alone, truth, "corrected")
                )
                held.setdefault((name, method), []).append(covered(found, truth, "corrected"))
        noise = rng.normal(size=len(x))
        for method in METHODS:
            test = outcome_of(known, noise, Column("noise"), method).test
            assert test is not None
            false.setdefault(method, []).append(test.p < 0.05)
    print(f"{design.name}: {tables} tables of {design.rows:,} rows, mean entropy {np.mean(entropies):.2f}")
    for (name, which), hits in held.items():
        each = np.mean(hits, axis=0)
        shown = " ".join(f"{share:.3f}" for share in each)
        bar = "" if "alone" in which else (" met" if met(which, each.mean()) else " MISSED")
        print(f"  {name:13}{which:24}{each.mean():.3f}  ({shown}){bar}")
    for method, said in false.items():
        print(f"  {method}: groups differ in noise, said of {np.mean(said):.1%} at 5%")


def met(which: str, share: float) -> bool:
    """The bars: ours 93-97%, the naive below 85%."""
    return share < 0.85 if which == "naive" else 0.93 <= share <= 0.97


# --- the peer ---------------------------------------------------------------------------------------------------


def largest_difference(design: Design, seed: int = 0) -> dict[tuple[str, str], float]:
    """Between StepMix's third step and ours, fed with StepMix's own probabilities."""
    from stepmix.stepmix import StepMix

    rng = np.random.default_rng(seed)
    x, z = design.draw(rng)
    kind = "gaussian_spherical" if design.apart else "binary"
    found = {}
    for name, column, cells, _ in outcomes(z, rng):
        structural = {"number": "gaussian_diag", "yes or no": "binary", "three levels": "categorical"}[name]
        for method in METHODS:
            peer = StepMix(
                3, n_steps=3, correction=method.upper(), assignment="modal", measurement=kind, structural=structural,
                random_state=0, n_init=5, abs_tol=1e-11, rel_tol=1e-13, max_iter=5000, verbose=0, progress_bar=0,
            )  # fmt: skip
            peer.fit(x, cells[:, None])
            theirs = peer.get_parameters()["structural"]
            r = peer.predict_proba_class(x)
            ours = outcome_of(Membership(r, np.ones(len(x))), cells, column, method).estimates
            values = theirs["means"][:, 0] if name == "number" else theirs["pis"]
            found[name, method] = float(abs(ours.ravel() - np.asarray(values).ravel()).max())
    return found


def peer(designs: tuple[Design, ...]) -> None:
    """Print how far we are from StepMix."""
    try:
        import stepmix  # noqa: F401
    except ImportError:
        print("StepMix: not installed")
        return
    for design in designs:
        for (name, method), apart in largest_difference(design).items():
            verdict = "met" if apart < 1e-3 else "MISSED"
            print(
                f"beside StepMix, {design.name}, {name}, {method}: largest difference {apart:.1e} {verdict}"
            )


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.outcome")
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--only", default="")
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args(arguments)
    designs = tuple(design for design in DESIGNS if options.only in design.name)
    if options.peer or options.tables >= 500:
        peer(designs)
    if not options.peer:
        for design in designs:
            coverage(design, options.tables)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
