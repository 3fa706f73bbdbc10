"""Where EM starts on a sparse table: groups of k-means on its rows, as the family compares them, and their M-step.

A sample would not do: a word that its rows do not have would be impossible in every component. So k-means runs on the
whole table (``methods.sparse_lloyd``), and every row leaves a small share to all components: what is impossible at
the start would stay so.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.data.sparse import SparseSource
from asterism.engines.context import current, engine
from asterism.engines.loop import iterate
from asterism.engines.reduce import reduce
from asterism.errors import ParameterError, TooFewRowsError
from asterism.families.base import Compared
from asterism.methods.em import EM, Expected, MixtureModel
from asterism.methods.kmeans import fit_kmeans
from asterism.methods.starts import expected_of, started

TRIES, SHORT = 3, 3  # convention: groups of k-means that are tried, and EM steps of each
STEPS = 20  # convention: of k-means: its groups need not be settled
ROOM = 0.1  # convention: share of a row that goes to all components alike
WAYS = {  # init_params -> of k-means: how it begins, and its steps
    "auto": ("k-means++", STEPS),
    "kmeans": ("k-means++", STEPS),
    "k-means++": ("k-means++", 1),
    "random_from_data": ("random", 1),
}


def sparse_starts(em: EM, source: Source, k: int, init: str, n_starts: int, seed: int) -> list[MixtureModel]:
    """``n_starts`` starts of k components."""
    if k == 1:
        return [_model(em, source, np.zeros(source.n_rows, np.int32), 1)]
    if init not in WAYS and init != "random":
        raise ParameterError(
            f"init_params is {init!r}, and the table is sparse.",
            f"Give one of {', '.join(map(repr, WAYS))}, 'random'.",
        )
    rng = np.random.default_rng(seed)
    assert isinstance(source, SparseSource), "asked for a table that is not sparse"
    rows = source.rewritten(em.family.compared) if isinstance(em.family, Compared) else source
    # Starts have no time limit, checkpoint, cluster or progress of their own.
    with engine(n_threads=current().n_threads):
        return [_start(em, source, rows, k, init, rng) for _ in range(n_starts)]


def _start(em: EM, source: Source, rows: Source, k: int, init: str, rng: np.random.Generator) -> MixtureModel:
    """The best of several guesses after a few steps each."""
    tries = TRIES if init == "auto" else 1
    models = [_model(em, source, _labels(rows, k, init, int(rng.integers(2**31))), k) for _ in range(tries)]
    if tries == 1:
        return models[0]
    runs = iterate(em, source, models, max_iter=SHORT)
    if any(run.status == "interrupted" for run in runs):
        raise KeyboardInterrupt  # there is nothing to return yet
    return min(runs, key=lambda run: run.objective).model.bare


def _labels(rows: Source, k: int, init: str, seed: int) -> NDArray[np.int32]:
    """(n,) a guess at the groups."""
    if init in WAYS:
        how, steps = WAYS[init]
        try:
            return fit_kmeans(rows, k, init=how, max_iter=steps, tol=1e-3, seed=seed).labels
        except TooFewRowsError:  # fewer distinct rows than components: any will do
            pass
    return np.random.default_rng(seed).integers(k, size=rows.n_rows).astype(np.int32)


def _model(em: EM, source: Source, labels: NDArray[np.int32], k: int) -> MixtureModel:
    return started(em, reduce(source, partial(_expected, em, labels, k)))


def _expected(em: EM, labels: NDArray[np.int32], k: int, block: Block) -> Expected:
    shares = np.full((len(block), k), ROOM / k)
    shares[np.arange(len(block)), labels[block.start : block.start + len(block)]] += 1.0 - ROOM
    return expected_of(em, shares, block)
