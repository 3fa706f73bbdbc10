"""Mixtures of every number of components and every structure: a path along which each starts from the others.

The usual loop over k starts every mixture anew and takes what it gets: where the start at the true k misses the best
optimum, a criterion chooses another k. Here k = 1, 2, ... and for every structure:

1. starts: groups of Ward's tree, those of k-means from there, the components of k - 1 with one split, of k + 1 with
   two brought together (``methods.moves``), and the shares that the best other structure has at the same k;
2. all take a few EM steps, the best two some more, and the best is kept if it is better than what there was;
3. up to the largest k, down again, and up, as long as neighbours change.

Nothing is drawn: rows are put in an order that depends on their values alone, equal ones as one, and compared in
standard units. So the order of rows and columns and the units of columns matter no more than rounding does, for
structures that are the same in any units; for others (EII, VII, VEV) a caller standardises the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from asterism.data.block import block_of
from asterism.data.reblocked import Reblocked
from asterism.data.source import Source
from asterism.engines.context import current, engine
from asterism.engines.journal import digest_of, journal, note
from asterism.engines.threads import crew, one_blas_thread
from asterism.errors import InterruptedWarning
from asterism.families.base import Array, Collapsible, Facts, Family
from asterism.families.gaussian import GaussianFamily
from asterism.methods.cells import Cell, Cells, Place, cell_of
from asterism.methods.coarse import labels_from
from asterism.methods.cut import cut_tree
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import survey
from asterism.methods.kept_path import packed_cells, unpacked_cells
from asterism.methods.mixture import facts_of
from asterism.methods.moves import Ways, shares_of
from asterism.methods.posterior import Mixture, imputed
from asterism.methods.stack import advance, can_stack
from asterism.methods.starts import (
    Sample,
    in_order_of_values,
    means_of,
    model_of,
    one_hot,
    sample_of,
    ward_tree,
)

TOL, FINE = 1e-4, 1e-5  # nats a row: of the search, and of what it ends with
FIRST, MORE, LAST = 4, 8, 40  # EM steps: of all starts, of the best two, of every mixture in the end
PROPOSALS = 6, 4, 3  # measured: splits, mergers and exchanges that a neighbour proposes
DEAR_PROPOSALS = 2, 2, 1  # where every mixture makes steps of its own
SAME = 1e-5  # nats a row: a mixture that is higher by less has not changed
PASSES = 3  # up, down, up
MAX_COMPONENTS_REVISITED, NEAR = (
    12,
    6,
)  # components, and how far from the best number, of cells that are started once more
TOP = 12  # cells of a table with holes that take their last steps on it
ROWS_A_COMPONENT = 2.0  # times the rows that span all its directions
SHARED = ("EII", "EEI", "EEE")  # structures in which a component has no spread of its own
BLOCKS, LEAST = 4, 512  # blocks of the table that threads share, and rows each has at least


def fit_path(
    source: Source,
    families: Mapping[str, Family],
    ks: Iterable[int],
    *,
    within: Callable[[str, int], bool] | None = None,
    patience: int | None = None,
    known: Cells | None = None,
    passes: int = PASSES,
) -> Cells:
    """The best mixture found of every family and every k, of a table of a few thousand rows.

    Cells in which a component has hardly more rows than directions are left out where another family has better.

    ``families``  name -> family, not prepared
    ``within``    called with name and k: False where a cell is not wanted
    ``patience``  a family whose BIC is no better at so many numbers in a row is not asked for larger ones
    ``known``     cells of other families on the same table, whose shares are starts, too
    ``passes``    1: nothing comes back from larger numbers; 0: one start a cell and nothing handed on

    >>> from asterism.data.source import ArraySource
    >>> from asterism.families.gaussian import GaussianFamily
    >>> rng = np.random.default_rng(0)
    >>> table = ArraySource(np.concatenate([rng.normal(0, 1, (50, 2)), rng.normal(9, 1, (40, 2))]))
    >>> cells = fit_path(table, {"VII": GaussianFamily("VII"), "EEE": GaussianFamily("EEE")}, range(1, 4))
    >>> min(cells.values(), key=lambda cell: cell.bic).k
    2
    """
    ks = sorted(set(ks))
    with one_blas_thread(), crew(), engine(n_threads=current().n_threads):  # no limit or progress of its own
        path = _Path.of(source, families, known or {}, passes)
        key = _key(path, ks, within, patience)
        before = None if key is None else journal().recall(key)  # type: ignore[union-attr]  # there is one
        if before is not None:
            arrays, states = before
            cells = unpacked_cells(arrays, states, {name: em.family for name, em in path.methods.items()})
            note(cells=cells)
            return cells
        try:
            reached = path.climb(ks, within, patience)
            for number in range(1, passes):
                if not path.again(reached if number % 2 == 0 else reached[::-1]):
                    break
            cells = path.finished()
        except (KeyboardInterrupt, InterruptedWarning):
            if journal() is not None and path.best:
                note(cells=path.so_far())
            raise
        note(cells=cells)
        if key is not None:
            journal().keep(key, *packed_cells(cells))  # type: ignore[union-attr]
        return cells


def _key(
    path: _Path, ks: Sequence[int], within: Callable[[str, int], bool] | None, patience: int | None
) -> str | None:
    """By which the path is kept; None where nothing is."""
    here = journal()
    if here is None or here.folder is None:
        return None
    wanted = [(name, k) for name in path.methods for k in ks if within is None or within(name, k)]
    known = {f"{place}": [cell.mixture.weights, dict(cell.mixture.family.pack(cell.mixture.params))]
             for place, cell in path.known.items()}  # fmt: skip
    families = {name: repr(em) for name, em in path.methods.items()}
    return digest_of("path", path.sample.source(), families, wanted, ks, patience, path.passes, known)


@dataclass(eq=False)
class _Best:
    """The best mixture so far of one cell."""

    height: float
    model: MixtureModel
    sound: bool = True  # every component has rows enough to show a spread of its own
    ways: Ways | None = None  # to other cells, once they are asked for


@dataclass(frozen=True)
class _Path:
    """A search on its way."""

    methods: Mapping[str, EM]
    sample: Sample  # all rows
    rows: Sample  # the same to search in: without holes where families are quicker so
    known: Cells
    passes: int
    best: dict[Place, _Best] = field(default_factory=dict)
    used: set[tuple[Place, _Best]] = field(default_factory=set)  # cells, and what they have started from

    @classmethod
    def of(cls, source: Source, families: Mapping[str, Family], known: Cells, passes: int) -> _Path:
        frame, moments = survey(source)
        methods = {
            name: EM(family.prepared(facts_of(source, family, frame, moments)), tol=TOL)
            for name, family in families.items()
        }
        sample = in_order_of_values(sample_of(source, frame, moments, 1, 0, at_least=source.n_rows))
        sample = sample.seen_by(next(iter(methods.values())).family)
        normal = all(isinstance(getattr(f, "normal", f), GaussianFamily) for f in families.values())
        rows = _filled(sample) if normal and not sample.complete else sample
        return cls(methods, sample, rows, known, passes)

    # --- up and down ---

    def climb(
        self, ks: Sequence[int], within: Callable[[str, int], bool] | None, patience: int | None
    ) -> list[int]:
        """All cells for the first time, k by k; the numbers that were reached."""
        least = dict.fromkeys(self.methods, (np.inf, 0))
        reached = []
        for k in ks:
            for name in list(least):
                if within is None or within(name, k):
                    self.visit(name, k, self.groups(k))
                    best = self.best.get((name, k))
                    if best is not None and best.sound and self.cost(name, k) < least[name][0]:
                        least[name] = (self.cost(name, k), k)
                    elif patience is not None and k >= least[name][1] + patience:
                        del least[name]
            if not least:
                break
            reached.append(k)
        return reached

    def again(self, ks: Sequence[int]) -> bool:
        """Cells once more from neighbours that have changed; whether any has become better.

        Of large numbers only those near the best of their family: of the others it is enough that they are worse.
        """
        lead: dict[str, int] = {}
        for name, k in self.best:
            if name not in lead or self.cost(name, k) < self.cost(name, lead[name]):
                lead[name] = k
        places = [(name, k) for k in ks for name in lead if (name, k) in self.best]
        near = [
            (name, k) for name, k in places if k <= MAX_COMPONENTS_REVISITED or abs(k - lead[name]) <= NEAR
        ]
        return sum(self.visit(name, k, []) for name, k in near) > 0

    def cost(self, name: str, k: int) -> float:
        """BIC, as far as it is known."""
        family, n = self.methods[name].family, float(self.rows.w.sum())
        return -2.0 * self.best[name, k].height + (family.n_parameters(k) + k - 1) * float(np.log(n))

    def visit(self, name: str, k: int, groups: list[Array]) -> bool:
        """Start a cell from groups and from its neighbours; whether it has become better."""
        em, block = self.methods[name], self.rows.block
        starts = groups + self.handed_on(name, k)
        if not starts:
            return False
        models = [model_of(em, block, shares) for shares in starts]
        ends = self.ranked(em, self.advance(em, models, FIRST))
        if self.passes:
            ends = self.ranked(em, self.advance(em, [one.model for one in ends[:2]], MORE))
        before = self.best.get((name, k))
        if before is not None:
            enough = SAME * float(self.rows.w.sum())
            if (before.sound, before.height + enough) >= (ends[0].sound, ends[0].height):
                return False
        self.best[name, k] = ends[0]
        return True

    def ranked(self, em: EM, ends: list[_Best]) -> list[_Best]:
        """The highest first, but after all in which every component has rows enough."""
        return sorted(self.judged(em, ends), key=lambda one: (one.sound, one.height), reverse=True)

    def judged(self, em: EM, ends: list[_Best]) -> list[_Best]:
        """The same, each with whether every component has rows enough."""
        least = _rows_a_component(em.family)
        if least:
            w = self.rows.w
            for one in ends:
                if w.min() == w.max():
                    rows = one.model.weights * len(w)
                else:
                    rows = shares_of(em, self.rows.block, one.model).sum(axis=0)
                one.sound = bool(rows.min() >= least)
        return ends

    # --- starts ---

    @cached_property
    def _tree(self) -> Array:
        return ward_tree(self.rows)

    def groups(self, k: int) -> list[Array]:
        """Shares (m, k) of the groups of Ward's tree and of k-means from there."""
        m = len(self.rows.w)
        if k == 1:
            return [np.ones((m, 1))]
        if k > m:
            return []
        cut = one_hot(cut_tree(self._tree, k=k), k)
        if not self.passes:
            return [cut]
        centers = means_of(self.rows, cut)[0]
        return [cut, one_hot(labels_from(self.rows.compared("standard"), centers), k)]

    def handed_on(self, name: str, k: int) -> list[Array]:
        """Shares (m, k) by way of neighbours that this cell has not started from, and by exchanges of its own."""
        if k == 1 or not self.passes:
            return []
        starts = []
        splits, mergers, exchanges = PROPOSALS if can_stack(self.methods[name]) else DEAR_PROPOSALS
        if self._new(name, k, (name, k - 1)):
            starts += self.ways(name, k - 1).split(splits)
        if self._new(name, k, (name, k + 1)):
            starts += self.ways(name, k + 1).merged(mergers)
        if self._new(name, k, (name, k)):
            starts += self.ways(name, k).exchanged(exchanges)
        others = [other for other in self.methods if other != name and (other, k) in self.best]
        if others:
            lender = min(others, key=lambda other: self.cost(other, k))
            if self._new(name, k, (lender, k)):
                starts.append(self.ways(lender, k).r)
        if (name, k) not in self.best:
            cells = [cell for cell in self.known.values() if cell.k == k]
            if cells:
                lent = min(cells, key=lambda cell: cell.bic).mixture
                model = MixtureModel(lent.weights, lent.params)
                starts.append(shares_of(EM(lent.family), self.rows.block, model))
        return starts

    def _new(self, name: str, k: int, neighbour: Place) -> bool:
        found = self.best.get(neighbour)
        if found is None or ((name, k), found) in self.used:
            return False
        self.used.add(((name, k), found))
        return True

    def ways(self, name: str, k: int) -> Ways:
        """From the best mixture of a cell."""
        one, em = self.best[name, k], self.methods[name]
        if one.ways is None:
            one.ways = Ways(em, self.rows, shares_of(em, self.rows.block, one.model))
        return one.ways

    # --- steps ---

    def advance(self, em: EM, models: Sequence[MixtureModel], steps: int) -> list[_Best]:
        """Each after some steps of EM, or fewer where it settles, in order."""
        ends = advance(em, self._table, models, steps, complete=self.rows.complete)
        return [_Best(height, model) for height, model in ends]

    @cached_property
    def _table(self) -> Source:
        return _in_blocks(self.rows)

    def so_far(self) -> Cells:
        """The best of every number as they are: the search was stopped."""
        leading: dict[int, str] = {}
        for name, k in list(self.best):
            if k not in leading or self.cost(name, k) < self.cost(leading[k], k):
                leading[k] = name
        return {(name, k): self._cell(name, self.best[name, k].model, self.best[name, k].sound)
                for k, name in leading.items()}  # fmt: skip

    def finished(self) -> Cells:
        """All cells after their last steps, with what they say of the rows."""
        cells: Cells = {}
        for name, em in self.methods.items():
            ks = [k for other, k in self.best if other == name]
            models, steps = [self.best[name, k].model for k in ks], LAST if self.passes else MORE
            ends = self.judged(em, self.advance(replace(em, tol=FINE), models, steps))
            for k, end in zip(ks, ends, strict=True):
                cells[name, k] = self._cell(name, end.model, end.sound)
        if self.rows is not self.sample:
            for place in sorted(cells, key=lambda place: cells[place].bic)[:TOP]:
                em, mixture = self.methods[place[0]], cells[place].mixture
                start = MixtureModel(mixture.weights, mixture.params)
                [(_, model)] = advance(em, _in_blocks(self.sample), [start], LAST, complete=False)
                cells[place] = self._cell(place[0], model, cells[place].sound)
        sound = {cell.k for cell in cells.values() if cell.sound}
        return {place: cell for place, cell in cells.items() if cell.sound or cell.k not in sound}

    def _cell(self, name: str, model: MixtureModel, sound: bool) -> Cell:
        mixture = Mixture(self.methods[name].family, model.weights, model.params)
        return cell_of(name, mixture, _in_blocks(self.sample), sound=sound)


def _in_blocks(sample: Sample) -> Source:
    """The rows in blocks that threads can share."""
    return Reblocked(sample.source(), max(LEAST, -(-len(sample.w) // BLOCKS)))


def _filled(sample: Sample) -> Sample:
    """The rows with missing cells as one normal group expects them.

    A step of a normal mixture on rows with holes takes ten times as long; starts can do without them.
    """
    source = sample.source()
    frame, moments = survey(source)
    em = EM(GaussianFamily("VVV").prepared(Facts(source.names, moments, frame.reference)), tol=TOL)
    start = model_of(em, sample.block, np.ones((len(sample.w), 1)))
    [(_, model)] = advance(em, source, [start], MORE, complete=False)
    rows = imputed(Mixture(em.family, model.weights, model.params), source)
    reference = np.nanmin(sample.block.rows - sample.y, axis=0)
    return replace(sample, block=block_of(rows, sample.w), y=rows - reference)


def _rows_a_component(family: Family) -> float:
    """Distinct rows below which a component with a spread of its own can be as thin as chance has it.

    On a few rows that happen to lie in a line a likelihood is as high as one likes, and says nothing of groups.
    """
    parts = [part for part, _ in getattr(family, "parts", ((family, ()),))]
    normal = [getattr(part, "normal", part) for part in parts if isinstance(part, Collapsible)]
    own = [part for part in normal if getattr(part, "structure", "") not in SHARED]
    return ROWS_A_COMPONENT * max((part.least_rows for part in own), default=0)
