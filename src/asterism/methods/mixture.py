"""The whole job of fitting a mixture: survey, starts, EM over the table, and what the result says of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.even import in_even_blocks
from asterism.data.source import Source
from asterism.engines.loop import Run, Status, iterate
from asterism.engines.reduce import map_reduce, reduce
from asterism.engines.threads import crew, one_blas_thread
from asterism.errors import NotConvergedWarning, ParameterError
from asterism.families.assignment import ASSIGNMENTS
from asterism.families.base import Array, Facts, Family
from asterism.families.gaussian import GaussianFamily
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import Frame, survey
from asterism.methods.kmeans import check_settings
from asterism.methods.noise import FIRST_SHARE, WithNoise, with_share, without_noise
from asterism.methods.posterior import Mixture, classify_rows
from asterism.methods.repair import on_their_own, report
from asterism.methods.search import Search, check_init
from asterism.methods.sparse_starts import sparse_starts
from asterism.methods.starts import expected_of, given_shares, model_of, nearest_of, one_hot
from asterism.stats.base import Joined
from asterism.stats.moments import ColumnMoments

ROWS_A_COMPONENT = 2  # convention: and column, of a sample without its noise that groups can be looked for in


@dataclass(frozen=True)
class MixtureFit:
    """A finished fit; everything is of the mixture that is returned."""

    mixture: Mixture
    labels: NDArray[np.int32]  # (n,) the likeliest component
    log_likelihood: float  # sum w log p(x)
    log_prior: float
    total: float  # sum of weights
    history: list[
        float
    ]  # what was climbed, a unit of weight, before every step, then the last: the log-posterior,
    # or for hard assignment the classification likelihood sum w max_c log pi_c p(x | c), with the prior
    n_iter: int
    status: Status


@dataclass(frozen=True)
class Start:
    """Where EM begins, where the user has something to say about it."""

    init: str = "auto"  # see ``methods.starts``
    shares: Any = None  # (n, k) responsibilities
    centers: Array | None = None  # (k, d) rows go to the nearest of these
    model: Callable[[Family, MixtureModel | None], MixtureModel | None] | None = None  # given parameters


@dataclass(frozen=True)
class Settings:
    """How EM runs; see ``methods.em.EM``."""

    assignment: str = "soft"
    tol: float = 1e-3
    stop: str = "likelihood"
    max_iter: int = 100
    n_init: int = 1
    frozen: frozenset[str] = frozenset()  # "weights"; what else can be frozen is the family's affair
    accelerated: bool = False
    seed: int = 0

    def checked(self, k: int) -> Settings:
        """These, or a ``ParameterError`` for the first that cannot work."""
        check_settings([k], self.n_init, self.max_iter, self.tol)
        if self.assignment not in ASSIGNMENTS:
            raise ParameterError(f"assignment is {self.assignment!r}.", f"Give one of {ASSIGNMENTS}.")
        if self.stop not in ("likelihood", "parameters"):
            raise ParameterError(f"stop is {self.stop!r}.", "Give 'likelihood' or 'parameters'.")
        check_frozen(self.frozen, ("weights",))
        return self


def check_frozen(names: Iterable[str], known: Sequence[str]) -> None:
    """A ``ParameterError`` for the first name of something that cannot be frozen."""
    for name in names:
        if name not in known:
            raise ParameterError(f"frozen has {name!r}.", f"Give some of {', '.join(map(repr, known))}.")


def fit_mixture(
    source: Source, family: Family, k: int, settings: Settings, start: Start | None = None
) -> MixtureFit:
    """Fit k components of a family; ``family`` need not be prepared."""
    settings = settings.checked(k)
    with one_blas_thread(), crew():  # the sums of a product depend on how many threads share it
        frame, moments = survey(source)
        family = family.prepared(facts_of(source, family, frame, moments))
        em = EM(
            family, settings.assignment, settings.tol, settings.stop,
            settings.frozen, settings.seed, settings.accelerated,
        )  # fmt: skip
        starts = _noisy_starts if isinstance(family, WithNoise) else _starts
        models = starts(em, source, frame, moments, k, settings, start or Start())
        table = in_even_blocks(source)
        runs = iterate(em, table, models, max_iter=settings.max_iter)
        return _finish(table, em, _best(table, em, runs), moments.total)


def facts_of(source: Source, family: Family, frame: Frame, moments: ColumnMoments) -> Facts:
    """What the survey told; with one more pass where the family wants covariances."""
    facts = Facts(source.names, moments, frame.reference)
    if not getattr(family, "needs_covariance", False):
        return facts
    whole = GaussianFamily("EEE").prepared(facts)
    found = reduce(source, partial(_whole, whole))
    return replace(facts, covariance=found.scatters[0] / found.mass[0])


def _whole(family: GaussianFamily, block: Block) -> Any:
    return expected_of(EM(family), np.ones((len(block), 1)), block).inner


def _starts(
    em: EM, source: Source, frame: Frame, moments: ColumnMoments, k: int, settings: Settings, start: Start
) -> list[MixtureModel]:
    if start.shares is not None:
        return [_given(em, start, given_shares(em, source, start.shares, k))]
    if start.model is not None:
        whole = start.model(em.family, None)
        if whole is not None:
            return [whole]
    check_init(start.init)
    if source.sparse:
        models = sparse_starts(em, source, k, start.init, settings.n_init, settings.seed)
        return [_given(em, start, model) for model in models]
    search = Search.of(em, source, frame, moments, k, settings.seed)
    if start.centers is not None:
        sample = search.sample
        near = nearest_of(sample.standard, (start.centers - frame.reference) / sample.unit)
        return [_given(em, start, model_of(em, sample.block, one_hot(near, k)))]
    models = search.starts(start.init, settings.n_init, settings.seed)
    return [_given(em, start, model) for model in models]


def _noisy_starts(
    em: EM, source: Source, frame: Frame, moments: ColumnMoments, k: int, settings: Settings, start: Start
) -> list[MixtureModel]:
    """Starts of the components with a little noise beside them; and those of rows that are not taken for noise."""
    assert isinstance(em.family, WithNoise)
    plain = replace(em, family=em.family.inner)
    models = [
        with_share(model, FIRST_SHARE) if len(model.weights) == k else model
        for model in _starts(plain, source, frame, moments, k, settings, start)
    ]
    if start.shares is not None or start.model is not None or start.centers is not None:
        return models
    search = Search.of(plain, source, frame, moments, k, settings.seed)
    sample, share = without_noise(search.sample)
    if share > 0 and len(sample.w) > ROWS_A_COMPONENT * k * len(source.names):
        found = replace(search, sample=sample).starts(start.init, settings.n_init, settings.seed)
        models += [with_share(model, share) for model in found]
    return models


def _given(em: EM, start: Start, model: MixtureModel) -> MixtureModel:
    found = None if start.model is None else start.model(em.family, model)
    return model if found is None else found


def _best(source: Source, em: EM, runs: list[Run[MixtureModel]]) -> Run[MixtureModel]:
    """The highest run as it has ended: an objective is of the model before the last step, and would not be nested."""
    if len(runs) == 1 or em.assignment != "soft":
        return max(runs, key=_reached)
    mixtures = [Mixture(em.family, run.model.weights, run.model.params) for run in runs]
    found = reduce(source, lambda block: Joined(tuple(classify_rows(one, block)[1] for one in mixtures)))
    heights = [
        told.log_likelihood + em.family.log_prior(one.params)
        for told, one in zip(found.parts, mixtures, strict=True)
    ]
    return runs[int(np.argmax(heights))]


def _reached(run: Run[MixtureModel]) -> float:
    return run.model.best[0] if run.model.best is not None else -run.objective


def _finish(source: Source, em: EM, run: Run[MixtureModel], total: float) -> MixtureFit:
    """Labels and likelihood of the mixture that is returned, in one last pass."""
    model = run.model if run.model.best is None else run.model.best[1]
    mixture = Mixture(em.family, model.weights, model.params, "weights" in em.frozen)
    labels, found = map_reduce(source, partial(classify_rows, mixture))
    _warn_of(source, em, run, found.mass)
    prior = em.family.log_prior(model.params)
    climbed = found.classified if em.assignment == "hard" else found.log_likelihood
    history = [-value / total for value in run.history] + [(climbed + prior) / total]
    return MixtureFit(mixture, labels, found.log_likelihood, prior, total, history, run.steps, run.status)


def _warn_of(source: Source, em: EM, run: Run[MixtureModel], mass: Vector) -> None:
    if em.collapsible is not None:
        flags = em.collapsible.collapsed(run.model.params, None)
        if flags.any():
            report(on_their_own(flags, mass), source.names, run.model.repairs)
    if run.model.fell:
        warnings.warn(
            f"A step of {em.family.name} components lowered the log-likelihood; the model before it is returned. "
            "This matters if it happens early: an own family's estimate must not lower Q.",
            NotConvergedWarning,
            stacklevel=4,
        )
