"""How many groups: every criterion in one table, one verdict, how sure it is, and why.

rows of numbers:  forms of columns, scaled -> a sample -> proposals -> one judge (``verdict``) -> the whole table
other families:   a sample -> mixtures of every k -> ICL -> the whole table
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.encode import EncodedSource, Encoding
from asterism.data.margins import Margins
from asterism.data.read import read
from asterism.data.source import ArraySource, Source
from asterism.engines.journal import note
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import DataError, ParameterError, TooFewRowsError
from asterism.families.base import Family
from asterism.families.gaussian import GaussianFamily
from asterism.families.student import StudentFamily
from asterism.methods.cells import Cells
from asterism.methods.encoding import standard_encoding
from asterism.methods.kmeans import fit_kmeans
from asterism.methods.mixture import Settings, fit_mixture
from asterism.methods.path import fit_path
from asterism.methods.posterior import Mixture, imputed
from asterism.methods.regions import Regions
from asterism.stats.moments import ColumnMoments
from asterism.verdict.all_columns import in_all_columns
from asterism.verdict.choice import Choice, fit_on_whole, group_labels, heaviest_first
from asterism.verdict.compared import HEAVY, Compared, compared_for
from asterism.verdict.decide import MOST_GROUPS, Decision, decide
from asterism.verdict.margins import margins_of
from asterism.verdict.mixed import choose_mixed, numbers_alone
from asterism.verdict.null import walks
from asterism.verdict.numbers import numbers_from
from asterism.verdict.propose import Proposal
from asterism.verdict.rare_model import Rare, look_for_rare, model_with
from asterism.verdict.repeated import without_repeated
from asterism.verdict.rows import Drawn, Rows, draw, filled
from asterism.verdict.tabulate import Question, Table, measured
from asterism.verdict.view import COMPARED_ROWS, SAMPLE_SEED, View, view_of_numbers
from asterism.verdict.words import Evidence, judge_family, tell, with_rare

PATIENCE = 3  # convention: numbers in a row that BIC likes less, after which no larger ones are tried
SHOWN = 10  # convention: numbers in the table where none were asked for, or two more than the answer
MOST_OPENED = 96  # convention: columns, names opened, beyond which names are taken as numbers
NUMBERS = ("gaussian", "student", "kmeans")  # models of columns that have places between them
CRITERIA = (
    "aic", "bic", "icl", "mdl", "cross_validation", "elbow", "gap", "stability", "noise_stability", "silhouette",
    "calinski_harabasz", "scatter_ratio", "penalty",
)  # fmt: skip


def choose_k(
    X: Any,
    model: Any = "gaussian",
    k: str | int | Iterable[int] | None = None,
    criteria: str | Sequence[str] = "all",
    *,
    sample_weight: Any = None,
    random_state: Any = None,
    penalty: Callable[[int], float] | None = None,
    precision: Any = None,
    structures: Sequence[str] | None = None,
) -> Choice:
    """Choose the number of groups of a table.

    ``X``           path, ``Source``, data frame or array; columns of numbers are scaled
    ``model``       "gaussian" (groups of any shape, as normal mixtures where they are convex), "kmeans", "student",
                    "poisson", "negative_binomial", "bernoulli", "categorical", "multinomial", or a family
    ``k``           numbers of groups to choose from, ``"2:6"`` too; with 1 among them the answer may be "there are no
                    groups". None: as many as there are
    ``criteria``    "all", or names out of ``CRITERIA``: what else is put into the table. The verdict is the same
                    for any choice
    ``penalty``     a function p(k): the table gets a column -2 log-likelihood + p(k)
    ``precision``   (d,) or one number: cells' precision for the code length; 1/1000 of each column's spread if None
    ``structures``  covariance structures to choose from, for a family of mixtures

    Columns that repeat others are left out (``verdict.repeated``), and ``reasons`` says which.
    Tables of more than 4,000 rows are judged by an even sample; labels and model are of the whole table.

    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (80, 2)), rng.normal(9, 1, (60, 2))])
    >>> choice = choose_k(X, random_state=0, criteria=["bic", "icl"])
    >>> choice.k, np.bincount(choice.labels).tolist()
    (2, [80, 60])
    """
    from asterism.estimators.base import seed_of

    wanted = _wanted(criteria, penalty)
    source = _as_source(X, sample_weight)
    seed = seed_of(random_state) % 2**31
    question = Question(_given(k), wanted, model, seed, penalty, precision)
    with one_blas_thread():
        if isinstance(model, str) and model in NUMBERS:
            standard_encoding(source)  # refuses infinite cells
            once = without_repeated(source)
            margins = margins_of(once)
            mixed = replace(question, model="mixed") if model == "gaussian" else question
            choice = choose_formed(once, None if margins.is_plain else margins, mixed)
            if not len(choice.labels):
                choice = _labelled(once, choice)
            said = (f"{c.name!r} is left out ({c.reason})." for c in once.ignored[len(source.ignored) :])
            return replace(choice, reasons=(*choice.reasons, *said))
        return _choose_family(source, compared_for(model, source.n_columns, structures), question)


def _labelled(source: Source, choice: Choice) -> Choice:
    """With labels of all rows, groups from the heaviest down."""
    seen = choice.view.of(source)
    labels = map_rows(seen, partial(group_labels, choice.model, choice.group_of))
    labels, group_of = heaviest_first(seen, labels, choice.group_of, choice.k)
    return replace(choice, labels=labels, group_of=group_of)


def choose_formed(
    source: Source, margins: Margins | None, question: Question, *, scale: bool = True
) -> Choice:
    """The verdict on columns in the forms that evidence gives them; ``choice.view`` is how its model sees rows.

    Rows of numbers are judged as such. Columns of several kinds have a judge of their own; where it takes the groups
    of the columns of numbers alone, these are judged without the others.
    """
    plain = View(margins=margins)
    formed = plain.modelled(source.columns)
    numeric = all(column.kind == "numeric" for column in formed)
    if numeric or question.model != "mixed" or Encoding.plain(formed).width > MOST_OPENED:
        numbers = replace(question, model="gaussian") if question.model == "mixed" else question
        return _choose_scaled(source, plain, numbers, scale)
    choice = choose_mixed(source, plain, question)
    if choice is not None:
        return choice
    view = numbers_alone(source)
    assert view is not None
    choice = _choose_scaled(source, view, replace(question, model="gaussian"), scale)
    if choice.k == 1:
        return choice
    said = "Groups differ in numbers alone."
    return replace(choice, reasons=(*choice.reasons, said), verdict=f"{choice.verdict} {said}")


def _choose_scaled(source: Source, plain: View, question: Question, scale: bool) -> Choice:
    """The verdict on the columns of numbers that a view leaves, scaled."""
    seen = plain.of(source)
    encoded = EncodedSource(seen, standard_encoding(seen, scale=scale))
    scaled = view_of_numbers(encoded)
    return choose_numbers(
        source, encoded, replace(plain, encoding=scaled.encoding, axes=scaled.axes), question
    )


def choose_numbers(source: Source, encoded: EncodedSource, view: View, question: Question) -> Choice:
    """The verdict on rows of numbers; where directions of a wide table show no groups, all columns are asked.

    ``encoded`` is of the columns in the forms of the view.
    """
    choice = choose_in_view(source, view, question)
    compared = question.ks is None or (1 in question.ks and len(question.ks) > 1)
    if view.axes is None or choice.k > 1 or not compared or question.model != "gaussian":
        return choice
    wide = in_all_columns(encoded, question)
    return choice if wide is None else replace(wide, view=replace(view, axes=None))


def choose_in_view(source: Source, view: View, question: Question) -> Choice:
    """The verdict on rows of numbers, as a view shows them."""
    note(view=view, cells=None, decision=None)
    seen = view.of(source)
    drawn = draw(seen, COMPARED_ROWS, SAMPLE_SEED)
    if len(np.unique(drawn.x, axis=0)) == 1:
        return _equal_rows(seen, view)
    rows = filled(drawn)
    allowed = _allowed(question.ks, drawn)
    walk = (allowed is None or 1 in allowed) and walks(seen, reduce(seen, ColumnMoments.of).variance)
    old = question.offered
    known = None if old is None else (old, old.of_sample(seen, COMPARED_ROWS, SAMPLE_SEED))
    decision = decide(rows.x, rows.weights, [1] if walk else allowed, None if walk else known)
    note(decision=decision, drawn=drawn, rows=rows, walk=walk)
    rare = _rare(source, view, drawn, rows, decision, question) if not walk else Rare()
    k = decision.k + rare.more
    if rare.k:
        view, seen = rare.view, rare.view.of(source)
    shown = allowed or list(range(1, min(max(SHOWN, k + 2), _most(drawn)) + 1))
    table, picks = measured(rows, decision.field.cells, decision.field.best, replace(question, ks=shown))
    sampled = None if drawn.whole else len(drawn.x)
    verdict = tell(decision, walk=walk, picks=picks, sampled=sampled, columns=source.n_columns)
    verdict = with_rare(verdict, rare.sizes, decision.k - len(rare.gone))
    if question.model == "kmeans":
        fitted: Any = fit_kmeans(seen, k, n_init=5, seed=question.seed)
        labels, group_of, structure = fitted.labels, np.arange(k), None
    else:
        fitted, group_of, structure = _model_of(decision, seen, drawn, question, rare)
        labels = map_rows(seen, partial(group_labels, fitted, group_of))
    labels, group_of = heaviest_first(seen, labels, group_of, k)
    if isinstance(fitted, Regions):
        fitted = fitted.reordered(np.argsort(group_of))
        group_of = np.arange(k)
    return Choice(
        k=k, confidence=verdict.confidence, reasons=verdict.reasons, verdict=verdict.text, table=table, picks=picks,
        structure=structure, components=len(group_of), group_of=group_of, model=fitted, labels=labels,
        alternative=verdict.alternative, view=view, seen=None if rare.k else decision.field.best.mixture,
    )  # fmt: skip


def _rare(
    source: Source, view: View, drawn: Drawn, rows: Rows, decision: Decision, question: Question
) -> Rare:
    """The rare groups that a sample does not show, where their number is allowed and the model can hold them."""
    ks = question.ks
    if drawn.whole or not question.rare or question.model != "gaussian":
        return Rare()
    if ks is not None and max(ks) <= decision.k:
        return Rare()
    rare = look_for_rare(source, view, drawn, rows, decision)
    return rare if ks is None or decision.k + rare.more in ks else Rare()


def _equal_rows(seen: Source, view: View) -> Choice:
    one = fit_mixture(seen, GaussianFamily("EII"), 1, Settings()).mixture
    labels = map_rows(seen, lambda block: np.where(block.weights > 0, 0, -1).astype(np.int32))
    said = "All rows are equal."
    return Choice(
        k=1, confidence=1.0, reasons=(said,), verdict=f"There are no groups. {said}", table=Table([{"k": 1}]),
        picks={}, structure="EII", components=1, group_of=np.zeros(1, np.int64), model=one, labels=labels, view=view,
    )  # fmt: skip


def _model_of(
    decision: Decision, seen: Source, drawn: Drawn, question: Question, rare: Rare
) -> tuple[Any, NDArray[np.int64], str | None]:
    """What gives every row of the table its group: a mixture, or the rows that were seen."""
    proposal: Proposal = decision.proposal
    if question.model == "student":
        family: Family = StudentFamily(GaussianFamily("VVV"))
        settings = Settings(max_iter=50, seed=question.seed)
        return fit_mixture(seen, family, decision.k, settings).mixture, np.arange(decision.k), HEAVY + "VVV"
    if decision.k == 1:
        # A rare group may lie where one normal component expects rows, and its best mixture none: within a ring.
        ones = [cell for cell in decision.field.cells.values() if cell.k == 1]
        one = decision.field.best if rare.k else min(ones, key=lambda cell: cell.bic)
        proposal = replace(proposal, mixture=one.mixture, group_of=np.zeros(one.k, np.int64))
    if rare.k:
        model, group_of = model_with(rare, seen, decision, proposal)
        return model, group_of, model.family.name if isinstance(model, Mixture) else None
    if proposal.mixture is None or proposal.group_of is None:
        return Regions.of(decision.field.near, proposal.labels), np.arange(decision.k), None
    mixture = proposal.mixture
    if not drawn.whole or np.isnan(drawn.x).any():
        mixture = fit_on_whole(seen, mixture)
    return mixture, proposal.group_of, mixture.family.name


def _choose_family(source: Source, compared: Compared, question: Question) -> Choice:
    """The verdict on a family whose rows have no places between them, or that the user prefers."""
    drawn = draw(source, COMPARED_ROWS, question.seed)
    ks = _allowed(question.ks, drawn) or list(range(1, min(SHOWN, _most(drawn)) + 1))
    cells = _cells(drawn, compared, ks)
    best = min(cells.values(), key=lambda cell: cell.icl)
    rows = Rows(imputed(best.mixture, ArraySource(drawn.x, drawn.weights)), drawn.weights)
    table, picks = measured(rows, cells, best, replace(question, ks=ks))
    verdict = judge_family(Evidence(tuple(ks), picks, best.k, None if drawn.whole else len(drawn.x)))
    cell = min((cell for cell in cells.values() if cell.k == verdict.k), key=lambda cell: cell.bic)
    fitted = cell.mixture if drawn.whole else fit_on_whole(source, cell.mixture)
    labels = map_rows(source, partial(group_labels, fitted, np.arange(cell.k)))
    labels, group_of = heaviest_first(source, labels, np.arange(cell.k), cell.k)
    return Choice(
        k=verdict.k, confidence=verdict.confidence, reasons=verdict.reasons, verdict=verdict.text, table=table,
        picks=picks, structure=cell.structure, components=cell.k, group_of=group_of, model=fitted, labels=labels,
    )  # fmt: skip


# --- what was asked for -----------------------------------------------------------------------------------------


def _as_source(X: Any, sample_weight: Any) -> Source:
    source = read(X, weights=None if isinstance(X, Source) else sample_weight)
    if isinstance(X, Source) and sample_weight is not None:
        from asterism.estimators.base import WeightedSource

        source = WeightedSource(source, sample_weight)
    for column in source.columns:
        if column.kind == "categorical":
            raise DataError(
                "the cells are names without an order, but mixtures of numbers are compared.",
                "Leave the column out, encode it, or use asterism.find, which takes mixed tables.",
                column=column.name,
            )
    return source


def _wanted(criteria: str | Sequence[str], penalty: Any) -> frozenset[str]:
    if criteria == "all":
        return frozenset(CRITERIA) - (frozenset() if penalty else {"penalty"})
    names = [criteria] if isinstance(criteria, str) else list(criteria)
    for name in names:
        if name not in CRITERIA:
            raise ParameterError(
                f"There is no criterion {name!r}.", f"Give 'all', or some of {', '.join(CRITERIA)}."
            )
    return frozenset(names) | {"bic", "icl"} | ({"penalty"} if penalty else frozenset())


def _given(k: str | int | Iterable[int] | None) -> list[int] | None:
    """The numbers that were asked for."""
    if k is None:
        return None
    k = numbers_from(k) if isinstance(k, str) else k
    given = list(k) if isinstance(k, Iterable) else [k]
    whole = all(isinstance(number, int | np.integer) and not isinstance(number, bool) for number in given)
    if not given or not whole or min(given) < 1:
        raise ParameterError(f"k is {k!r}.", "Give whole numbers, 1 or more.")
    return sorted({int(number) for number in given})


def _most(drawn: Drawn) -> int:
    """The largest number of groups that so many distinct rows can have."""
    return min(max(len(np.unique(drawn.x, axis=0)) - 1, 1), MOST_GROUPS)


def _allowed(ks: Sequence[int] | None, drawn: Drawn) -> list[int] | None:
    if ks is None:
        return None
    distinct = len(np.unique(drawn.x, axis=0))
    allowed = [k for k in ks if k <= max(distinct - 1, 1)]
    if not allowed:
        raise TooFewRowsError(
            f"{min(ks)} groups or more were asked for, but the table has {distinct} distinct rows that count.",
            f"Ask for fewer than {distinct}.",
        )
    return allowed


# --- mixtures and groups ----------------------------------------------------------------------------------------


def _cells(drawn: Drawn, compared: Compared, ks: list[int]) -> Cells:
    total, d = float(drawn.weights.sum()), drawn.x.shape[1]
    distinct = len(np.unique(drawn.x, axis=0))
    tried = sorted({1, *ks, *range(1, min(ks[-1] + compared.extra, max(distinct - 1, 1)) + 1)})
    table, families = ArraySource(drawn.x, drawn.weights), compared.families
    search = partial(
        fit_path,
        table,
        within=lambda name, number: compared.large_enough(name, number, total, d),
        patience=PATIENCE if ks[0] == 1 else None,  # numbers that were asked for must be there
    )
    heavy = {name: family for name, family in families.items() if name.startswith(HEAVY)}
    if len(heavy) in (0, len(families)):
        return search(families, tried)
    cells = search({name: family for name, family in families.items() if name not in heavy}, tried)
    lead = min(cells.values(), key=lambda cell: cell.bic)
    # Heavy tails cost more and take no more components: only of the leading structure, up to its number.
    name = HEAVY + lead.structure
    fewer = [number for number in tried if number <= lead.k]
    return cells | search({name: heavy[name]}, fewer, known=cells) if name in heavy else cells
