"""The judge of all rows: the mixture that was chosen, or k-means or medoids where the user wants those."""

from __future__ import annotations

from asterism.engines.reduce import reduce
from asterism.groups.judges import CentersJudge, Judge, MedoidsJudge, MixtureJudge, RegionsJudge
from asterism.methods.kmeans import KMeansFit, fit_kmeans
from asterism.methods.medoids import fit_medoids
from asterism.methods.posterior import Mixture
from asterism.methods.regions import Regions
from asterism.search.task import BY_FORM, Task
from asterism.stats.moments import ColumnMoments
from asterism.verdict.choice import Choice
from asterism.verdict.mixed import SAMPLE
from asterism.verdict.seen import MANY_COLUMNS
from asterism.verdict.view import View

STARTS = 5  # of k-means: with one, k = 3 on the penguins ends 10% above the best sum of squares known


def settle(task: Task, choice: Choice) -> tuple[View, Judge, str]:
    """How rows are seen, the judge of all rows, and the method that it is of."""
    method = "mixed" if choice.view.encoding is None else "gaussian"
    if task.method in BY_FORM and isinstance(choice.model, Mixture):
        return choice.view, MixtureJudge.of(choice.model, choice.group_of), method
    if task.method in BY_FORM and isinstance(choice.model, Regions):
        return choice.view, RegionsJudge(choice.model), method
    total = float(reduce(task.used, ColumnMoments.of).total)
    if task.method == "kmedoids":
        found = fit_medoids(task.used, choice.k, metric="gower", seed=task.seed)
        return View(), MedoidsJudge(found.model, found.inertia / total), "kmedoids"
    # An interrupted search has centres of a sample; they judge all rows as they are.
    stopped = isinstance(choice.model, KMeansFit)
    fit = choice.model if stopped else fit_kmeans(task.encoded, choice.k, n_init=STARTS, seed=task.seed)
    weight = min(total, float(SAMPLE)) if stopped else total
    return View(task.encoded.encoding), CentersJudge(fit.model, fit.inertia / weight), "kmeans"


def described(choice: Choice, method: str, compared: bool) -> str:
    """What was done to the table, in a sentence or two."""
    view = choice.view
    if view.encoding is None:
        said = "A mixture in which each column has a distribution of its own kind."
    elif view.axes is not None:
        m, d = view.axes.shape
        said = f"{d} columns are many: groups of any shape, in {m} principal directions."
    elif choice.components and view.encoding.width > MANY_COLUMNS and isinstance(choice.model, Mixture):
        said = "Principal directions show no groups: mixtures of normal groups in all columns, which do."
    else:
        said = "Groups of any shape, in the scaled columns."
    if method in ("gaussian", "mixed"):
        return said
    of = {
        "kmeans": "Centres of k-means, in the scaled columns.",
        "kmedoids": "Medoids, by Gower's dissimilarity.",
    }
    return f"{of[method]} Their number by: {said}" if compared else of[method]
