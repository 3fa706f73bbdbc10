"""Months that follow each other: does `check` see drift, and no drift that is not there?

python -m bench.tomorrow check          200 fresh samples of sources of every kind; and shifts of 0.3
python -m bench.tomorrow like           20 pairs of months, every event beside what was planted
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import asterism

ROWS = 2000
MODELS, SAMPLES = 5, 10  # of every source: models, and fresh samples for each
SHIFT = 0.3  # standard deviations within groups, in one column

Rng = np.random.Generator
Maker = Callable[[Rng, int], Any]

# --- sources ----------------------------------------------------------------------------------------------------


def numbers(rng: Rng, n: int) -> pd.DataFrame:
    """Ten columns, three groups that overlap a little."""
    z = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    centers = np.array([[0.0, 0.0, 0.0], [3.5, 1.0, 0.0], [0.0, 3.0, 3.0]])
    x = rng.normal(size=(n, 10))
    x[:, :3] += centers[z]
    x[:, 4] += 0.6 * x[:, 3]
    return pd.DataFrame(x, columns=[f"c{j}" for j in range(10)])


def mixed(rng: Rng, n: int) -> pd.DataFrame:
    """Numbers, names, a scale and yes/no, with missing cells."""
    z = rng.choice(2, n, p=[0.6, 0.4])
    table = pd.DataFrame(
        {
            "income": np.exp(rng.normal(10 + 0.9 * z, 0.4)),
            "age": rng.normal(40 + 12 * z, 8),
            "visits": rng.poisson(2 + 5 * z),
            "city": np.array(["Bern", "Rome", "Oslo", "Lima"])[
                [rng.choice(4, p=[0.6, 0.2, 0.1, 0.1] if g else [0.1, 0.2, 0.3, 0.4]) for g in z]
            ],
            "member": np.where(rng.random(n) < 0.2 + 0.6 * z, "yes", "no"),
        }
    )
    table["age"] = table["age"].where(rng.random(n) > 0.1)
    return table


def moons(rng: Rng, n: int) -> pd.DataFrame:
    """Two bent groups, which no mixture of two fits."""
    t, z = rng.random(n) * np.pi, rng.integers(0, 2, n)
    x = np.column_stack([np.cos(t) + z, np.sin(t) * (1 - 2 * z) + 0.4 * z])
    return pd.DataFrame(x + rng.normal(0, 0.08, (n, 2)), columns=["a", "b"])


def cloud(rng: Rng, n: int) -> pd.DataFrame:
    """One group, cut by k-means: borders where rows are dense."""
    return pd.DataFrame(rng.standard_t(8, size=(n, 4)), columns=list("abcd"))


@dataclass(frozen=True)
class Fresh:
    """A source, and how its groups are found."""

    name: str
    make: Maker
    options: dict[str, Any]


SOURCES = (
    Fresh("numbers", numbers, {"k": 3}),
    Fresh("mixed", mixed, {"k": 2}),
    Fresh("moons", moons, {}),
    Fresh("k-means", cloud, {"k": 4, "method": "kmeans"}),
)


# --- check ------------------------------------------------------------------------------------------------------


def plain_peer(before: pd.DataFrame, now: pd.DataFrame) -> bool:
    """Kolmogorov and Smirnov's test of every column, by Bonferroni; chi^2 for names."""
    p = []
    for name in before:
        a, b = before[name].dropna(), now[name].dropna()
        if a.dtype.kind in "if":
            p.append(stats.ks_2samp(a, b).pvalue)
        else:
            levels = sorted(set(a) | set(b))
            table = [[(c == level).sum() for level in levels] for c in (a, b)]
            p.append(stats.chi2_contingency(table).pvalue)
    return min(p) <= 0.05 / len(p)


def shifted(table: pd.DataFrame, column: str, by: float) -> pd.DataFrame:
    """One column, moved."""
    return table.assign(**{column: table[column] + by})


def checks(rows: int, models: int, samples: int) -> Iterator[str]:
    """Alarms of fresh and of shifted samples."""
    total = [0, 0, 0]
    for source in SOURCES:
        alarms, theirs, n, about = 0, 0, 0, []
        seen = peer_seen = 0
        for m in range(models):
            rng = np.random.default_rng([7, m])
            before = source.make(rng, rows)
            model = asterism.find(before, **source.options).model
            for _ in range(samples):
                now = source.make(rng, rows)
                found = asterism.check(model, now)
                alarms, theirs, n = alarms + found.drifted, theirs + plain_peer(before, now), n + 1
                about += [d.about for d in found.differences if d.counts]
                if source.name == "numbers":
                    moved = shifted(now, f"c{rng.integers(10)}", SHIFT)
                    seen += asterism.check(model, moved).drifted
                    peer_seen += plain_peer(before, moved)
        total = [total[0] + alarms, total[1] + theirs, total[2] + n]
        yield f"{source.name:<10} fresh: {alarms} alarms of {n}; columns alone {theirs}  {about or ''}"
        if source.name == "numbers":
            yield f"{'':<10} {SHIFT} sd in one column of 10: seen {seen} of {n}; columns alone {peer_seen}"
    yield f"all        fresh: {total[0]} alarms of {total[2]}; columns alone {total[1]}"


# --- like -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Month:
    """Two months, and what happened between them: (kind, group of the first month, or of the second if born)."""

    name: str
    before: pd.DataFrame
    now: pd.DataFrame
    truth: tuple[
        np.ndarray, np.ndarray
    ]  # planted groups of the rows; groups keep their number, born ones have new
    events: frozenset[tuple[str, int]]  # planted, those kept included


WHAT = (
    ("nothing",), ("shares",), ("moved",), ("born",), ("gone",), ("split",), ("merged",),
    ("born", "gone"), ("moved", "born"), ("moved", "gone"),
)  # fmt: skip


def months(seed: int) -> Month:
    """A pair of months of 3 to 5 groups that are 7 standard deviations apart or more, with the events of its turn."""
    rng = np.random.default_rng([26, seed])
    what, d, k = WHAT[seed % len(WHAT)], int(rng.integers(3, 7)), int(rng.integers(3, 6))
    centers = [rng.normal(0, 6, d)]
    while len(centers) < k + 2:  # two more places, for parts and strangers
        place = rng.normal(0, 6, d)
        if min(np.linalg.norm(place - c) for c in centers) > 7:
            centers.append(place)
    shares = rng.dirichlet(np.full(k, 8.0))
    shares = {g: float(max(share, 0.1)) for g, share in enumerate(shares)}
    own = dict(enumerate(centers[:k]))
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    first, second = dict(own), dict(own)
    sizes = dict(shares)
    planted = dict.fromkeys(range(k), "kept")
    events: set[tuple[str, int]] = set()
    free = list(range(k))
    rng.shuffle(free)
    for kind in what:
        g = free.pop()
        if kind == "shares":
            sizes = {h: share * float(rng.uniform(0.5, 2.0)) for h, share in sizes.items()}
        elif kind == "moved":
            second[g] = own[g] + 1.5 * direction
            planted[g] = "moved"
        elif kind == "born":
            free.append(g)
            second[k], sizes[k] = centers[k], 0.15
            events.add(("born", k))
        elif kind == "gone":
            del second[g], sizes[g]
            planted[g] = "gone"
        elif kind == "split":
            second[g], second[k] = own[g] - 2.5 * direction, own[g] + 2.5 * direction
            sizes[g], sizes[k] = 0.2, 0.15
            events.add(("split", g))
        elif kind == "merged":
            h = free.pop()
            middle = own[g]
            first[h] = middle + 6 * direction
            second[g] = second[h] = middle + 3 * direction
            planted[g] = planted[h] = "merged"
            events.add(("merged", min(g, h)))
    events |= {(kind, g) for g, kind in planted.items() if kind in ("kept", "moved", "gone")}
    events -= {("kept", g) for kind, g in events if kind == "split"}
    tables, truth = [], []
    for at, share in ((first, shares), (second, sizes)):
        groups = sorted(at)
        p = np.array([share[g] for g in groups])
        z = rng.choice(groups, int(rng.integers(800, 2001)), p=p / p.sum())
        x = (
            rng.normal(size=(len(z), d))
            + np.array([at[g] for g in range(max(groups) + 1) if g in at])[np.searchsorted(groups, z)]
        )
        tables.append(pd.DataFrame(x, columns=[f"c{j}" for j in range(d)]))
        truth.append(z)
    return Month(
        f"{seed:>2} {' + '.join(what)}", tables[0], tables[1], (truth[0], truth[1]), frozenset(events)
    )


def most_common(labels: np.ndarray, planted: np.ndarray, group: int) -> int:
    """The number that most rows of a planted group have."""
    own = labels[(planted == group) & (labels >= 0)]
    return int(np.bincount(own).argmax()) if len(own) else -1


def told(month: Month) -> tuple[bool, bool, str]:
    """Whether all planted events and no others were told, and whether kept and moved groups kept number and name."""
    old = asterism.find(month.before)
    new = asterism.find(month.now, like=old.model)
    number = {g: most_common(old.labels, month.truth[0], g) for g in np.unique(month.truth[0]).tolist()}
    want = set()
    for kind, g in month.events:
        if kind == "born":
            want.add((kind, most_common(new.labels, month.truth[1], g)))
        elif kind == "merged":
            want.add((kind, -1))  # which two they are is in the sentence
        else:
            want.add((kind, number[g]))
    got = {
        (e.kind, e.now[0] if e.kind == "born" else -1 if e.kind == "merged" else e.before[0])
        for e in new.events
        if not (e.kind in ("kept", "moved") and _has_more(new.events, e))
    }
    named = all(
        most_common(new.labels, month.truth[1], g) == number[g]
        and new.model.name_of(number[g]) == old.model.name_of(number[g])
        for kind, g in month.events
        if kind in ("kept", "moved")
    )
    return got == want, named, f"k {old.k} -> {new.k}; got {sorted(got)}, planted {sorted(want)}"


def _has_more(events: tuple[Any, ...], event: Any) -> bool:
    """The heir of a split or merged group is told twice: as what it is, and as still there."""
    return any(
        e is not event and e.kind in ("split", "merged") and set(event.now) & set(e.now) for e in events
    )


def likes(count: int, first: int) -> Iterator[str]:
    """Pairs of months, one by one."""
    right = kept = 0
    for seed in range(first, first + count):
        month = months(seed)
        good, named, text = told(month)
        right, kept = right + good, kept + named
        verdict = f"{'right' if good else 'WRONG'}  names {'kept' if named else 'LOST'}"
        yield f"{month.name:<22} {verdict}  {'' if good and named else text}"
    yield f"all events and no others in {right} of {count}; names kept in {kept}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.tomorrow", description=__doc__)
    parser.add_argument("part", choices=["check", "like"])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first pair")
    options = parser.parse_args()
    began = time.process_time()
    lines = (
        checks(options.rows, options.models, options.samples)
        if options.part == "check"
        else likes(options.pairs, options.first)
    )
    for line in lines:
        print(line, flush=True)
    print(f"{time.process_time() - began:.0f} s of processor")


if __name__ == "__main__":
    main()
