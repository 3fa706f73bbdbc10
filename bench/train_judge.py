"""The judge of proposals, fitted to tables whose groups are known: makes ``src/asterism/verdict/judge.json``.

    python -m bench.train_judge --scenes 1000 --seeds 0,1 --keep FOLDER --jobs 2        # from the root of the project
    python -m bench.train_judge --scenes 1000 --seeds 0,1 --keep FOLDER --write other.json

draw             drawn scenes (``bench/choose_scenes.py``) and the older half of ``bench/choose_tables.py``, measured
                 tables among them once; walks, and tables without labels, are left out
evidence         of all proposals on a table, and the adjusted Rand index of each with the known groups; kept in
                 FOLDER (``bench/judge_cases.py``), so that a run can be continued
cross-validate   tables of the benchmark are scored by judges that were fitted without any table of the same name
lead, frequency  read off these scores: by how much groups must beat a single group, and how often a number is right
fit, write       the judge itself, to everything

A score is fitted to what the best proposal is and to what each is worth: of a table with proposals i of target y_i,

    loss = 1/2 T H(softmax(y / T), softmax(s / T)) + 1/2 C mean (s_i - y_i)^2,       H the cross-entropy

References
----------
1. Cao, Qin, Liu, Tsai, Li (2007), Learning to rank: from pairwise approach to listwise approach. ICML 24:129-136.
2. Kingma, Ba (2015), Adam: a method for stochastic optimization. ICLR 3.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.verdict.judge import FARTHEST, Judge, Layer
from bench.judge_cases import Case, drawn_tables, gathered

Array = NDArray[Any]
JUDGE = Path(__file__).resolve().parent.parent / "src" / "asterism" / "verdict" / "judge.json"
SCENE_SEEDS = (100, 101)  # convention: each draws half of the scenes
NUMBER_SHARE = (
    0.12  # convention: of a target, for the right number of groups; the rest is the adjusted Rand index
)
FOLDS = 3
CROSS_STEPS, STEPS = 3500, 5000  # convention: of Adam, of a judge that is cross-validated, and of the last
CROSS_LAYERS, LAYERS = 2, 3  # convention: functions whose mean is a judge
MOST_ALARMS = 0.02  # of tables without groups
LEADS = np.round(np.arange(-0.15, 0.16, 0.01), 2)
MOST_LEAD = 0.5  # as in ``Judge.confidence``
RIDGE = 0.1  # convention: on the slopes of the frequency


@dataclass(frozen=True)
class Fitting:
    """How a layer is fitted."""

    hidden: int = 20
    batch: int = 32  # tables a step
    rate: float = 0.01
    decay: float = 1e-4  # on weights
    temperature: float = 0.07
    square: float = 3.0  # C, of the squared error


# --- fit ----------------------------------------------------------------------------------------------------------


Example = tuple[
    Array, Array, float
]  # of a table: (p, e) evidence in usual units, (p,) targets, what it counts


@dataclass(frozen=True, eq=False)
class Batch:
    """Proposals of several tables, one after another."""

    z: Array  # (p, e) evidence in units of what is usual
    target: Array  # (p,)
    counts: Array  # (tables,) proposals of each
    weights: Array  # (tables,) what each counts

    @classmethod
    def of(cls, tables: Sequence[Example]) -> Batch:
        """Several tables."""
        z, target = (np.concatenate([table[j] for table in tables]) for j in (0, 1))
        return cls(z, target, np.array([len(y) for _, y, _ in tables]), np.array([w for *_, w in tables]))

    def of_proposals(self, of_tables: Array) -> Array:
        """(p,) a number of each table, at its proposals."""
        return np.repeat(of_tables, self.counts)

    def softmax(self, values: Array) -> Array:
        """(p,) shares of proposals within their table."""
        start = np.cumsum(self.counts) - self.counts
        power = np.exp(values - self.of_proposals(np.maximum.reduceat(values, start)))
        return np.asarray(power / self.of_proposals(np.add.reduceat(power, start)))


Weights = list[Array]  # (e, hidden), (hidden,), (hidden,), (1,)


def loss_and_slopes(weights: Weights, batch: Batch, how: Fitting) -> tuple[float, Weights]:
    """The mean loss of tables with its decay, and its derivatives."""
    into, bias, out, offset = weights
    h = np.tanh(batch.z @ into + bias)
    score = h @ out + offset[0]
    T, counts = how.temperature, batch.of_proposals(batch.counts)
    share = batch.of_proposals(batch.weights / len(batch.counts))
    ours, theirs, error = batch.softmax(score / T), batch.softmax(batch.target / T), score - batch.target
    entropy = -T * theirs * np.log(np.maximum(ours, 1e-30))
    loss = 0.5 * float(share @ (entropy + how.square * error**2 / counts))
    loss += 0.5 * how.decay * (float((into**2).sum()) + float((out**2).sum()))
    slope = (0.5 * share * (ours - theirs + 2.0 * how.square * error / counts)).astype(into.dtype)
    back = np.outer(slope, out) * (1.0 - h * h)
    slopes = [batch.z.T @ back + how.decay * into, back.sum(axis=0), h.T @ slope + how.decay * out]
    return loss, [*slopes, np.array([slope.sum()], into.dtype)]


def fit_layer(tables: Sequence[Example], seed: int, steps: int, how: Fitting) -> Layer:
    """One function, by Adam from weights that the seed draws, on a few tables a step."""
    rng = np.random.default_rng(seed)
    e, hidden = tables[0][0].shape[1], how.hidden
    start = (
        rng.normal(size=(e, hidden)) / np.sqrt(e), np.zeros(hidden),
        rng.normal(size=hidden) / np.sqrt(hidden) * 0.5, np.zeros(1),
    )  # fmt: skip
    weights = [part.astype(np.float32) for part in start]
    mean, square = [0 * part for part in weights], [0 * part for part in weights]
    for i in range(1, steps + 1):
        some = rng.choice(len(tables), min(how.batch, len(tables)), replace=False)
        slopes = loss_and_slopes(weights, Batch.of([tables[j] for j in some]), how)[1]
        rate = how.rate * min(1.0, 2.5 * (1.0 - i / steps) + 0.02)  # even, then down to nearly nothing
        for j, slope in enumerate(slopes):
            mean[j] = 0.9 * mean[j] + 0.1 * slope
            square[j] = 0.999 * square[j] + 0.001 * slope**2
            step = mean[j] / (1 - 0.9**i) / (np.sqrt(square[j] / (1 - 0.999**i)) + 1e-8)
            weights[j] = weights[j] - rate * step
    into, bias, out, offset = (part.astype(np.float64) for part in weights)
    return Layer(into, bias, out, float(offset[0]))


def fit_judge(cases: Sequence[Case], layers: int, steps: int, how: Fitting | None = None) -> Judge:
    """The mean of several functions, without a lead and a frequency yet."""
    every = np.concatenate([case.evidence for case in cases]).astype(np.float64)
    usual, spread = every.mean(axis=0), every.std(axis=0) + 1e-6
    tables = []
    for case in cases:
        z = np.clip((case.evidence - usual) / spread, -FARTHEST, FARTHEST)
        tables.append((z.astype(np.float32), case.target, case.weight))
    fitted = tuple(fit_layer(tables, seed, steps, how or Fitting()) for seed in range(layers))
    return Judge(tuple(cases[0].names.tolist()), usual, spread, fitted, 0.0, (0.0, 0.0, 0.0, 0.0))


# --- what the judge is worth --------------------------------------------------------------------------------------

Scored = tuple[Case, Array]  # and (proposals,) scores


def cross_validated(
    cases: Sequence[Case], layers: int, steps: int, how: Fitting | None = None
) -> list[Scored]:
    """Scores of the tables of the benchmark, by judges that have seen none of the same name."""
    names = sorted({case.table for case in cases if case.judged})
    fold = dict(
        zip(np.random.default_rng(1).permutation(names).tolist(), np.arange(len(names)) % FOLDS, strict=True)
    )
    found = []
    for f in range(FOLDS):
        judge = fit_judge([c for c in cases if not c.judged or fold[c.table] != f], layers, steps, how)
        left_out = (c for c in cases if c.judged and fold[c.table] == f)
        found += [(case, judge.scores(judge.names, case.evidence)) for case in left_out]
    return found


def best_of(scored: Scored, lead: float) -> tuple[int, float, float]:
    """The proposal that is taken, its score, and its lead over the best of another number."""
    case, scores = scored
    scores = scores - np.where(case.ks > 1, lead, 0.0)
    best = int(scores.argmax())
    others = scores[case.ks != case.ks[best]]
    return best, float(scores[best]), float(scores[best] - others.max()) if len(others) else 1.0


def alarms(scored: Iterable[Scored], lead: float) -> float:
    """The share of tables without groups in which groups are found."""
    found = [one[0].ks[best_of(one, lead)[0]] > 1 for one in scored if one[0].true == 1]
    return float(np.mean(found)) if found else 0.0


def least_lead(scored: Sequence[Scored]) -> float:
    """The least lead that leaves few enough alarms: they become fewer with it."""
    enough = [lead for lead in LEADS if alarms(scored, lead) <= MOST_ALARMS]
    return float(enough[0] if enough else LEADS[-1])


def frequency(scored: Sequence[Scored], lead: float) -> tuple[float, ...]:
    """Log odds of a right number: intercept, slopes of score, lead and a single group."""
    taken = [(case, *best_of((case, scores), lead)) for case, scores in scored]
    x = np.array(
        [(1.0, score, min(ahead, MOST_LEAD), case.ks[b] == 1) for case, b, score, ahead in taken], float
    )
    return logistic(x, np.array([case.ks[b] == case.true for case, b, *_ in taken], float))


def logistic(x: Array, right: Array) -> tuple[float, ...]:
    """Coefficients of a logistic regression, the first without a ridge: Newton's steps, none far."""
    ridge = np.diag(np.r_[0.0, np.full(x.shape[1] - 1, RIDGE)])
    b = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-x @ b))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge + 1e-9 * np.eye(len(b))
        step = np.linalg.solve(hessian, x.T @ (right - p) - ridge @ b)
        b += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-10:
            break
    return tuple(b.tolist())


def told(scored: Sequence[Scored], judge: Judge) -> str:
    """Figures by kind, and how often a number was right at a confidence."""
    kinds: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    sure: dict[float, list[bool]] = defaultdict(list)
    for case, scores in scored:
        best, score, ahead = best_of((case, scores), judge.lead)
        right = bool(case.ks[best] == case.true)
        kinds["no groups" if case.true == 1 else case.kind].append((float(case.rand[best]), right))
        confidence = judge.confidence(score, ahead, bool(case.ks[best] == 1))
        sure[float(np.digitize(confidence, (0.5, 0.7, 0.8, 0.9)))].append(right)
    grouped = [mark for kind, marks in kinds.items() if kind != "no groups" for mark in marks]
    lines = [f"cross-validated, lead {judge.lead:+.2f}, alarms {alarms(scored, judge.lead):.1%}"]
    for kind, marks in (("with groups", grouped), *sorted(kinds.items())):
        rand, right_share = np.mean(marks, axis=0) if marks else (np.nan, np.nan)
        lines.append(f"{kind:12} {len(marks):5}  adjusted Rand {rand:.3f}  number right {right_share:.3f}")
    bounds = ("below 0.5", "0.5 to 0.7", "0.7 to 0.8", "0.8 to 0.9", "0.9 or more")
    lines += [
        f"confidence {bounds[int(i)]:12} {sum(v):4} of {len(v):4} right" for i, v in sorted(sure.items())
    ]
    return "\n".join(lines)


# --- write --------------------------------------------------------------------------------------------------------


def written(judge: Judge) -> str:
    """What ``judge.json`` holds: a few digits, a line for each row of weights."""

    def rounded(numbers: Any, digits: int = 4) -> Any:
        return np.round(np.asarray(numbers, float), digits).tolist()

    held = {
        "names": list(judge.names),
        "usual": rounded(judge.usual, 5),
        "spread": rounded(judge.spread, 5),
        "lead": judge.lead,
        "frequency": rounded(judge.frequency, 3),
        "layers": [
            {
                "weights": rounded(one.weights),
                "bias": rounded(one.bias),
                "out": rounded(one.out),
                "offset": rounded(one.offset, 5),
            }
            for one in judge.layers
        ],
    }
    text = json.dumps(held, separators=(",", ":"))
    return text.replace('],"', '],\n"').replace("],[", "],\n[") + "\n"


def made(scored: Sequence[Scored], judge: Judge) -> Judge:
    """The judge with the lead and the frequency that cross-validation shows."""
    lead = least_lead(scored)
    return replace(judge, lead=lead, frequency=frequency(scored, lead))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=int, default=1000, help="drawn scenes")
    parser.add_argument("--seeds", default="0,1", help="of the tables of the benchmark")
    parser.add_argument("--keep", type=Path, required=True, help="folder of evidence")
    parser.add_argument("--jobs", type=int, default=1, help="processes that measure evidence")
    parser.add_argument("--write", type=Path, default=JUDGE)
    asked = parser.parse_args(arguments)
    seeds = [int(seed) for seed in asked.seeds.split(",")]
    cases = gathered(asked.keep, drawn_tables(asked.scenes, seeds), asked.jobs)
    print(f"{len(cases)} tables, {sum(len(case.ks) for case in cases)} proposals", file=sys.stderr)
    scored = cross_validated(cases, CROSS_LAYERS, CROSS_STEPS)
    judge = made(scored, fit_judge(cases, LAYERS, STEPS))
    print(told(scored, judge))
    asked.write.write_text(written(judge), encoding="utf-8")


if __name__ == "__main__":
    main()
