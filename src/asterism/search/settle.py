"""The judge of all rows: the mixture that was chosen, or k-means or medoids where the user wants those."""

from __future__ import annotations

from asterism.data.encode import EncodedSource
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.groups.judges import CentersJudge, Judge, MedoidsJudge, MixtureJudge, RegionsJudge
from asterism.methods.kmeans import KMeansFit, fit_kmeans
from asterism.methods.medoids import fit_medoids
from asterism.methods.posterior import Mixture
from asterism.methods.regions import Regions
from asterism.stats.moments import ColumnMoments
from asterism.verdict.choice import Choice
from asterism.verdict.mixed import SAMPLE
from asterism.verdict.plan import Plan
from asterism.verdict.view import View

STARTS = 5  # of k-means: with one, k = 3 on the penguins ends 10% above the best sum of squares known


def settle(
    used: Source, encoded: EncodedSource, plan: Plan, choice: Choice, seed: int
) -> tuple[View, Judge, str]:
    """How rows are seen, the judge of all rows, and the method that it is of; ``encoded``: columns in their forms."""
    if isinstance(choice.model, Mixture) and plan.method in ("gaussian", "mixed"):
        return plan.view, MixtureJudge.of(choice.model, choice.group_of), plan.method
    if isinstance(choice.model, Regions) and plan.method in ("gaussian", "mixed"):
        return plan.view, RegionsJudge(choice.model), plan.method
    total = float(reduce(used, ColumnMoments.of).total)
    if plan.method == "kmedoids":
        found = fit_medoids(used, choice.k, metric="gower", seed=seed)
        return View(), MedoidsJudge(found.model, found.inertia / total), "kmedoids"
    # An interrupted search has centres of a sample; they judge all rows as they are.
    stopped = isinstance(choice.model, KMeansFit)
    fit = choice.model if stopped else fit_kmeans(encoded, choice.k, n_init=STARTS, seed=seed)
    weight = min(total, float(SAMPLE)) if stopped else total
    return (
        View(encoded.encoding, None, plan.view.margins),
        CentersJudge(fit.model, fit.inertia / weight),
        "kmeans",
    )


def told(plan: Plan, method: str, compared: bool) -> str:
    """What was done to the table, in a sentence or two."""
    if method == plan.method and method in ("gaussian", "mixed"):
        return plan.said
    said = {
        "kmeans": "Centres of k-means, in the scaled columns.",
        "kmedoids": "Medoids, by Gower's dissimilarity.",
    }
    return f"{said[method]} Their number by: {plan.said}" if compared else said[method]
