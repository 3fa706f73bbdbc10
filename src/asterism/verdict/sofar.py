"""The best answer of a search that was stopped, from what it has found so far (``engines.journal``).

    decision on numbers  >  decision on several kinds  >  mixtures fitted so far: that of the least ICL  >  nothing

ICL because it wants rows to belong clearly: nothing brings components of one group together any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from asterism.data.source import Source
from asterism.methods.cells import Cells
from asterism.verdict.choice import Choice
from asterism.verdict.choose import _model_of
from asterism.verdict.rare_model import Rare
from asterism.verdict.tabulate import Question, Table
from asterism.verdict.view import View
from asterism.verdict.words import Verdict, tell, tell_mixed

UNDECIDED = 0.3  # convention: the confidence of a number that nothing was compared with to the end
STOPPED = "The search was interrupted"


def best_so_far(found: Mapping[str, Any], source: Source, question: Question) -> Choice | None:
    """The answer, or None where no mixture had been fitted."""
    if found.get("decision") is not None:
        return _of_decision(found, source, question)
    if found.get("mixed") is not None:
        return _of_mixed(found)
    return _of_cells(found["cells"], found["view"], question.ks) if found.get("cells") else None


def _of_decision(found: Mapping[str, Any], source: Source, question: Question) -> Choice:
    decision, drawn, walk = found["decision"], found["drawn"], found["walk"]
    view: View = found["view"]
    sample = replace(drawn, x=found["rows"].x, whole=True)  # the model stays that of the sample
    model, group_of, structure = _model_of(decision, view.of(source), sample, question, Rare())
    verdict = tell(
        decision, walk=walk, picks={}, sampled=None if drawn.whole else len(drawn.x), columns=source.n_columns
    )
    return _choice(verdict, decision.field.cells, view, (model, group_of, structure))


def _of_mixed(found: Mapping[str, Any]) -> Choice:
    decision = found["mixed"]
    verdict = tell_mixed(decision, picks={}, sampled=None)
    cell = decision.proposal.cell
    model = cell.mixture, decision.proposal.group_of, cell.structure
    return _choice(verdict, decision.cells, found["view"], model)


def _choice(verdict: Verdict, cells: Cells, view: View, model: tuple[Any, Any, str | None]) -> Choice:
    mixture, group_of, structure = model
    said = f"{STOPPED} after this was decided: criteria were not compared, groups are those of a sample."
    text = f"{verdict.text} {said}"
    return Choice(
        k=verdict.k, confidence=verdict.confidence, reasons=(*verdict.reasons, said), verdict=text,
        table=_table(cells), picks={}, structure=structure, components=len(group_of), group_of=group_of,
        model=mixture, labels=np.zeros(0, np.int32), alternative=verdict.alternative, view=view,
    )  # fmt: skip


def _of_cells(cells: Cells, view: View, ks: Sequence[int] | None) -> Choice:
    """The mixture of the least ICL, of the numbers allowed where it has any of them."""
    known = [cell for cell in cells.values() if ks is None or cell.k in ks] or list(cells.values())
    best = min(known, key=lambda cell: (not cell.sound, cell.icl))
    most = max(cell.k for cell in cells.values())
    fitted = f"of the mixtures fitted so far, of 1 to {most} components"
    said = f"{STOPPED}: {fitted}, this one's rows belong most clearly (ICL)."
    groups = "1 group" if best.k == 1 else f"{best.k} groups"
    return Choice(
        k=best.k, confidence=UNDECIDED, reasons=(said,), verdict=f"{groups} (confidence {UNDECIDED:.0%}). {said}",
        table=_table(cells), picks={}, structure=best.structure, components=best.k, group_of=np.arange(best.k),
        model=best.mixture, labels=np.zeros(0, np.int32), view=view,
    )  # fmt: skip


def _table(cells: Cells) -> Table:
    ks = sorted({cell.k for cell in cells.values()})
    of = {k: [cell for cell in cells.values() if cell.k == k] for k in ks}
    return Table(
        {"k": k, "bic": min(cell.bic for cell in of[k]), "icl": min(cell.icl for cell in of[k])} for k in ks
    )
