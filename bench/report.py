"""What was measured, as tables on stdout and as JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, Self

from rich import box
from rich.console import Console
from rich.table import Table

from bench.harness import THREADS, Result, gemm_speed

Size = Literal["full", "quick", "tiny"]
PACKAGES = ("asterism", "numpy", "scikit-learn", "scikit-learn-intelex", "faiss-cpu")
OURS = "asterism"
MB = 1e6
WIDTH = 118


@dataclass(frozen=True)
class Report:
    """One case, everybody's results."""

    name: str
    part: str
    results: list[Result]
    over: Literal["best", "mean"] = "best"  # of repeats of the same work; over different seeds
    objective: str = "objective"  # what the judge calls it
    flops: float = 0.0  # that a plain matrix product would need for this work; 0 where none bounds it
    dtype: str = "float64"
    remarks: list[str] = field(default_factory=list)
    peak: float = (
        0.0  # flops a second of a matrix product, measured beside the case; 0: only when the run began
    )

    def share(self, result: Result, peak: float = 0.0) -> float | None:
        """Percent of a matrix product's speed."""
        peak = self.peak or peak
        return (
            100.0 * self.flops / self.seconds(result) / peak if self.flops and peak and result.turns else None
        )

    def seconds(self, result: Result) -> float:
        return result.best if self.over == "best" else result.mean

    @property
    def ours(self) -> Result:
        return next(r for r in self.results if r.contestant.package == OURS)

    def fastest(self, packages: Iterable[str] | None = None) -> Result | None:
        """The fastest counted peer, of these packages if given."""
        peers = [
            r
            for r in self.results
            if r.turns and r.contestant.counted and r is not self.ours
            if packages is None or r.contestant.package in packages
        ]
        return min(peers, key=self.seconds, default=None)

    def ratio(self, peer: Result | None) -> float | None:
        """The peer's time over ours: above 1 we are faster."""
        if peer is None or not peer.turns or not self.ours.turns:
            return None
        return self.seconds(peer) / self.seconds(self.ours)


@dataclass(frozen=True)
class Bar:
    """Something we hold ourselves to."""

    text: str
    met: bool | None  # None: not measured in this run
    value: str


def bar(text: str, values: Sequence[float | None], goal: float, combine: Any = min, unit: str = "x") -> Bar:
    """``combine(values) >= goal``; not measured where a value is missing."""
    if not values or any(v is None for v in values):
        return Bar(text, None, "not measured")
    value = combine(values)
    return Bar(text, bool(value >= goal), f"{value:.2f}{unit}")


def bar_below(text: str, values: Sequence[float | None], limit: float, unit: str) -> Bar:
    """``max(values) <= limit``; not measured where a value is missing."""
    if not values or any(v is None for v in values):
        return Bar(text, None, "not measured")
    value = max(v for v in values if v is not None)
    return Bar(text, bool(value <= limit), f"{value:+.2f} {unit}")


def geometric_mean(values: Iterable[float]) -> float:
    """exp(mean(log))."""
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs))


class Session:
    """One run: the machine it is on, a folder for tables, the reports so far."""

    def __init__(self, size: Size, json_file: Path | None = None) -> None:
        self.size = size
        self.reports: list[Report] = []
        self._json = json_file
        self._console = Console(width=WIDTH, highlight=False, color_system=None)
        self._folder = tempfile.TemporaryDirectory(prefix="bench-")

    def __enter__(self) -> Self:
        self.machine = describe_machine()
        self.gemm = self.multiply()
        self._console.print(*self._heading(), sep="\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def multiply(self) -> dict[str, float]:
        """Flops a second of a matrix product on this machine, as it is now, in each precision."""
        return gemm_speed(self.folder, 256 if self.size == "tiny" else 2048)

    @property
    def folder(self) -> Path:
        """Where tables are put for the workers to load."""
        return Path(self._folder.name)

    def _heading(self) -> list[str]:
        m = self.machine
        lines = [f"{m['cpu']}, {m['cores']} cores, {THREADS} threads for everyone, Python {m['python']}"]
        lines += [", ".join(f"{name} {version or 'ABSENT'}" for name, version in m["versions"].items())]
        speeds = ", ".join(f"{dtype} {flops / 1e9:.0f} GFLOP/s" for dtype, flops in self.gemm.items())
        lines += [f"matrix product: {speeds}"]
        if m["cores"] < THREADS:
            lines += [f"WARNING: {m['cores']} core(s) for {THREADS} threads."]
        if m["load"] > 0.5:
            lines += [f"WARNING: this machine is busy (load {m['load']:.1f}); do not trust the times."]
        if self.size != "full":
            lines += [f"WARNING: {self.size} sizes; bars are meant for full ones."]
        return lines

    # --- tables

    def show(self, report: Report) -> None:
        """Print a case as soon as it is done, and keep it."""
        self.reports.append(report)
        table = _table()
        numbers = ("seconds", "ratio", "steps", "extra MB", report.objective, "to ours", "% GEMM")
        rows = [self._row(report, result) for result in report.results]
        used = [j for j in range(len(numbers) + 2) if any(row[j] for row in rows)]
        for j in used:
            heading = ("contestant", *numbers, "note")[j]
            table.add_column(heading, justify="right" if heading in numbers else "left")
        for row in rows:
            table.add_row(*[row[j] for j in used])
        self._console.print(f"\n{report.name}", table)
        for remark in report.remarks:
            self._console.print(f"  {remark}")
        self._dump([])

    def _row(self, report: Report, result: Result) -> list[str]:
        c = result.contestant
        if not result.turns:
            return [c.name, *[""] * 7, result.failure]
        seconds, steps = report.seconds(result), result.fact("steps")
        fewer = len(result.turns) < max(len(r.turns) for r in report.results)
        notes = [c.note, "" if c.counted else "not counted", f"{len(result.turns)} turn(s)" if fewer else ""]
        return [
            c.name,
            f"{seconds:.3f}",
            "" if result is report.ours else _text(report.ratio(result), ".2f", "x"),
            _text(steps, ".0f"),
            f"{result.memory / MB:.1f}",
            _text(result.fact("objective"), ".7g"),
            "" if result is report.ours else _text(objective_excess(report, result), "+z.3f", "%"),
            _text(self._share_of_gemm(report, result), ".0f", "%"),
            "; ".join(filter(None, [*notes, result.failure])),
        ]

    def _share_of_gemm(self, report: Report, result: Result) -> float | None:
        precision = result.contestant.gemm
        if not precision:
            return None
        return report.share(result, self.gemm[report.dtype if precision == "own" else precision])

    def conclude(self, bars: Sequence[Bar]) -> None:
        """Ratios of all cases to the fastest peer, their means, and the bars."""
        table = _table()
        for heading in ("case", "ours s", "peer s", "ratio", "extra MB", "fastest peer"):
            table.add_column(heading, justify="left" if heading in ("case", "fastest peer") else "right")
        for report in self.reports:
            ours, peer = report.ours, report.fastest()
            table.add_row(
                report.name,
                f"{report.seconds(ours):.3f}" if ours.turns else ours.failure,
                f"{report.seconds(peer):.3f}" if peer else "",
                _text(report.ratio(peer), ".2f", "x"),
                f"{ours.memory / MB:.1f}" if ours.turns else "",
                peer.contestant.name if peer else "",
            )
        self._console.print("\nOurs beside the fastest peer (ratio: its time / ours)", table)
        for part in dict.fromkeys(report.part for report in self.reports):
            ratios = [r.ratio(r.fastest()) for r in self.reports if r.part == part]
            known = [r for r in ratios if r is not None]
            if known:
                mean = geometric_mean(known)
                self._console.print(
                    f"{part}: geometric mean of {len(known)} ratios {mean:.2f}x, least {min(known):.2f}x"
                )
        self._console.print()
        for b in bars:
            word = {True: "met", False: "NOT MET", None: "?"}[b.met]
            self._console.print(f"{word:8} {b.text}: {b.value}")
        absent = [name for name, version in self.machine["versions"].items() if not version]
        if absent:
            self._console.print(f"not installed, so not compared with: {', '.join(absent)}")
        self._dump(bars)

    # --- JSON

    def _dump(self, bars: Sequence[Bar]) -> None:
        if self._json is None:
            return
        found = {
            "version": 1,
            "size": self.size,
            "threads": THREADS,
            "machine": self.machine,
            "gemm_flops_per_second": self.gemm,
            "cases": [_as_dict(report) for report in self.reports],
            "bars": [asdict(b) for b in bars],
        }
        self._json.parent.mkdir(parents=True, exist_ok=True)
        self._json.write_text(json.dumps(found, indent=1) + "\n")


def objective_excess(report: Report, result: Result) -> float | None:
    """How far a contestant's objective is above ours, in percent of ours."""
    ours, theirs = (r.fact("objective") if r.turns else None for r in (report.ours, result))
    return None if not ours or theirs is None else 100.0 * (theirs / ours - 1.0)


def describe_machine() -> dict[str, Any]:
    """What times depend on."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = ""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "cpu": _cpu_name(),
        "cores": cores,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        "python": platform.python_version(),
        "versions": versions,
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or sys.platform
    return next(
        (x.partition(":")[2].strip() for x in lines if x.startswith("model name")), platform.machine()
    )


def _as_dict(report: Report) -> dict[str, Any]:
    peer = report.fastest()
    return {
        "name": report.name,
        "part": report.part,
        "over": report.over,
        "ratio": report.ratio(peer),
        "fastest_peer": peer.contestant.name if peer else None,
        "flops": report.flops,
        "remarks": report.remarks,
        "results": [
            {
                "name": r.contestant.name,
                "package": r.contestant.package,
                "counted": r.contestant.counted,
                "failure": r.failure,
                "turns": [asdict(turn) for turn in r.turns],
            }
            for r in report.results
        ],
    }


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False)


def _text(value: float | None, form: str, unit: str = "") -> str:
    return "" if value is None else f"{value:{form}}{unit}"
