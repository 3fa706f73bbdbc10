"""EM: one method for every family and every way to assign rows.

    E   r_nc = pi_c p(x_n | c) / sum_b pi_b p(x_n | b)          (or its argmax, or a draw from it)
    M   pi_c = N_c / sum_b N_b,    params = family.estimate(statistic of the rows with mass w_n r_nc)

For any shares q:   log p(X) = L(q, theta) + KL(q || p(Z | X, theta))
                    L(q, theta) = sum_n w_n sum_c q_nc (log pi_c p(x_n | c) - log q_nc)

The E-step makes KL zero, the M-step raises L (plus the log prior, where there is one), so the log-likelihood
(log-posterior) never falls. A family may only improve L (generalised EM); the method looks that it does, and goes
back to the better model where rounding or an own family's mistake made it fall.

References
----------
1. Dempster, Laird, Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm. JRSS B 39:1-38.
2. Neal, Hinton (1998), A view of the EM algorithm that justifies incremental, sparse, and other variants.
3. Celeux, Govaert (1992), A classification EM algorithm for clustering and two stochastic versions. CSDA 14:315-332.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of, present
from asterism.families.assignment import assign, draws_for
from asterism.families.base import Collapsible, Family, Fused, Linear
from asterism.methods.accelerate import Trail
from asterism.methods.repair import repaired

PART = 1 << 13  # rows whose shares are kept at a time
ROUNDING = 1e-10  # a relative fall that rounding makes anywhere
SERIOUS = 1e-6  # one that rounding does not even make where covariances are nearly singular


@dataclass(frozen=True)
class MixtureModel:
    """Proportions and components, and what the method remembers of its way."""

    weights: Vector  # (k,) pi
    params: Any  # the family's
    step: int = 0  # passes that led here
    seen: float = -np.inf  # the log-posterior that was reached before this model
    gain: float = np.inf  # what the last step that was measured had won, a row
    before: MixtureModel | None = field(default=None, repr=False)  # where to go back to if this one is worse
    leap: bool = False  # a proposal of the accelerator
    trail: Trail = field(default=Trail(), repr=False)  # what the accelerator remembers
    repairs: int = 0  # components that had collapsed and were put elsewhere
    fell: bool = False  # a step had to be taken back
    best: tuple[float, MixtureModel] | None = field(default=None, repr=False)  # of a stochastic run

    @functools.cached_property
    def log_weights(self) -> Vector:
        """(k,) log pi; one array for all blocks, by which they know that they are of one step."""
        return np.array([math.log(w) if w > 0 else -math.inf for w in self.weights.tolist()])

    @property
    def bare(self) -> MixtureModel:
        """Without what it remembers."""
        return MixtureModel(self.weights, self.params, repairs=self.repairs)


@dataclass(frozen=True, slots=True)
class Expected:
    """What the E-step found, added up."""

    mass: Vector  # (k,) N
    climbed: float  # sum w log p(x); for hard assignment sum w max_c log pi_c p(x | c)
    inner: Any  # the family's statistic

    def merge(self, other: Expected) -> Expected:
        """Sums add, statistics merge."""
        return Expected(self.mass + other.mass, self.climbed + other.climbed, self.inner.merge(other.inner))


@dataclass(frozen=True)
class EM:
    """The method."""

    family: Family
    assignment: str = "soft"  # or "hard", "stochastic"
    tol: float = 1e-3  # see ``stop``
    stop: str = (
        "likelihood"  # settled when it rises by less than tol a row; "parameters": when they move less
    )
    frozen: frozenset[str] = frozenset()  # "weights": the proportions stay (a family freezes its own)
    seed: int = 0  # of stochastic assignment
    accelerated: bool = False
    name: str = "EM"

    @functools.cached_property
    def _fused(self) -> Any:
        """The family, if it has a pass of its own over a block: asked once, as the question takes long."""
        return self.family if isinstance(self.family, Fused) else None

    @functools.cached_property
    def collapsible(self) -> Collapsible | None:
        """The family, if it can tell which components have collapsed; asked once, as well."""
        return self.family if isinstance(self.family, Collapsible) else None

    # --- E ---

    def prepare(self, model: MixtureModel, dtype: np.dtype[Any]) -> None:
        """What a fused family makes of a model once for all blocks."""
        prepare = getattr(self.family, "prepare", None)
        if prepare is not None:
            prepare(model.params, model.log_weights, dtype)

    def summarize(self, model: MixtureModel, block: Block) -> Expected:
        """The E-step of a block."""
        draws = draws_for(block, self.seed, model.step) if self.assignment == "stochastic" else None
        log_weights = model.log_weights
        here = present(block)
        if draws is not None and here is not block:
            draws = draws[block.weights > 0]
        if self._fused is not None:
            return Expected(*self._fused.summarize(model.params, log_weights, here, self.assignment, draws))
        parts = [
            self._expect(model, log_weights, piece, None if draws is None else draws[at])
            for at, piece in pieces(here)
        ]
        return functools.reduce(Expected.merge, parts)

    def _expect(
        self, model: MixtureModel, log_weights: Vector, block: Block, draws: Vector | None
    ) -> Expected:
        scores = self.family.log_density(model.params, block) + log_weights
        r, climbed = assign(scores, self.assignment, draws)
        mass = r * block.weights[:, None]
        inner = self.family.statistic(model.params, block, mass)
        return Expected(mass.sum(axis=0), float(block.weights @ climbed), inner)

    # --- M ---

    def update(self, model: MixtureModel, statistic: Expected) -> MixtureModel:
        """The M-step; or back, where the last step led down."""
        reached = self._height(model, statistic)
        if self._has_fallen(model, reached):
            return self._back(model, reached)
        total = float(statistic.mass.sum())
        after = self._maximised(
            model,
            statistic,
            step=model.step + 1,
            seen=reached,
            gain=(reached - model.seen) / total,
            before=model.bare,
            repairs=model.repairs,
            best=self._best(model, reached),
        )
        if self.stop == "parameters":
            after = replace(after, gain=self._moved(model, after))
        if self.collapsible is not None:
            after = repaired(self.collapsible, after, statistic)
        if self.accelerated and self.assignment == "soft" and isinstance(self.family, Linear):
            after = self._leapt(self.family, model, after, statistic)
        return after

    def _maximised(self, model: MixtureModel, statistic: Expected, **way: Any) -> MixtureModel:
        keep = "weights" in self.frozen
        weights = model.weights if keep else statistic.mass / statistic.mass.sum()
        return MixtureModel(weights, self.family.estimate(statistic.inner, model.params), **way)

    def _best(self, model: MixtureModel, reached: float) -> tuple[float, MixtureModel] | None:
        """A stochastic run wanders: the best place it saw is kept."""
        if self.assignment != "stochastic" or (model.best is not None and model.best[0] >= reached):
            return model.best
        return reached, model.bare

    def _has_fallen(self, model: MixtureModel, reached: float) -> bool:
        if self.assignment == "stochastic" or model.before is None:
            return False
        return bool(has_fallen(reached, model.seen))

    def _back(self, model: MixtureModel, reached: float) -> MixtureModel:
        """A leap that was too long is not taken; a step that led down ends the run where it was best."""
        assert model.before is not None
        if model.leap:
            return replace(model.before, step=model.step + 1, trail=model.trail.shortened)
        fell = bool(has_fallen(reached, model.seen, SERIOUS))
        return replace(model.before, step=model.step + 1, seen=model.seen, gain=0.0, fell=fell)

    def _leapt(
        self, family: Linear, model: MixtureModel, plain: MixtureModel, statistic: Expected
    ) -> MixtureModel:
        """Where the accelerator proposes to go, with the plain step to fall back on."""
        if plain.repairs > model.repairs or self.settled(model, plain):
            return replace(plain, trail=Trail())
        trail, proposal = model.trail.extended(family, statistic, leapt=model.leap)
        plain = replace(plain, trail=trail)
        if proposal is None:
            return plain
        return self._maximised(plain, proposal, **{**_way(plain), "before": plain, "leap": True})

    # --- what the loop asks ---

    def objective(self, model: MixtureModel, statistic: Expected) -> float:
        """Minus the log-posterior; of the model that is kept, where a step is taken back."""
        reached = self._height(model, statistic)
        return -(model.seen if self._has_fallen(model, reached) else reached)

    def _height(self, model: MixtureModel, statistic: Expected) -> float:
        return statistic.climbed + self.family.log_prior(model.params)

    def settled(self, before: MixtureModel, after: MixtureModel) -> bool:  # noqa: ARG002  ``after`` remembers
        """The last step won too little. Stochastic runs go on to their limit: they are never still."""
        return self.assignment != "stochastic" and bool(has_settled(after.gain, self.tol))

    def _moved(self, before: MixtureModel, after: MixtureModel) -> float:
        """The largest relative move of proportions and parameters."""
        old, new = self.pack(before), self.pack(after)
        moves = [_relative(old[name], new[name]) for name in new if name not in WAY]
        return max(moves)

    def pack(self, model: MixtureModel) -> Mapping[str, NDArray[Any]]:
        """Arrays for a checkpoint. The accelerator begins anew after it."""
        way = {name: np.array([float(getattr(model, name))]) for name in WAY}
        params = {f"params.{name}": array for name, array in self.family.pack(model.params).items()}
        return {"weights": model.weights, **params, **way}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> MixtureModel:
        """From a checkpoint."""
        mine = {n.removeprefix("params."): a for n, a in arrays.items() if n.startswith("params.")}
        return MixtureModel(
            arrays["weights"],
            self.family.unpack(mine),
            step=int(arrays["step"][0]),
            seen=float(arrays["seen"][0]),
            gain=float(arrays["gain"][0]),
            repairs=int(arrays["repairs"][0]),
        )


# --- the same questions for one mixture and for many (``methods.stack``) ---


def has_fallen(reached: Any, seen: Any, relative: float = ROUNDING) -> Any:
    """Whether a log-likelihood is below the one before by more than rounding makes of it."""
    return reached < seen - relative * np.abs(seen)


def has_settled(gain: Any, tol: float) -> Any:
    """Whether a step won too little, a row."""
    return gain <= tol


WAY = ("step", "seen", "gain", "repairs")


def _way(model: MixtureModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in (*WAY, "trail", "best")}


def _relative(old: NDArray[Any], new: NDArray[Any]) -> float:
    size = float(np.abs(new).max(initial=0.0))
    return float(np.abs(new - old).max(initial=0.0)) / size if size > 0 else 0.0


def pieces(block: Block) -> Iterator[tuple[slice, Block]]:
    """A block in parts small enough that an array of rows times components is nothing."""
    for a in range(0, max(len(block), 1), PART):
        at = slice(a, a + PART)
        yield at, block_of(block.rows[at], block.weights[at], block.start + a)
