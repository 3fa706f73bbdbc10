"""``python -m bench METHOD``, from the root of the project: choose, compress, kmeans, medoids, mixed and so on."""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Asterism beside its peers, in one run."
    )
    parser.add_argument(
        "method",
        choices=[
            "choose",
            "compress",
            "kmeans",
            "medoids",
            "metrics",
            "mixed",
            "mixture",
            "pca",
            "reduce",
            "trees",
        ],
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, for a first look")
    parser.add_argument("--tiny", action="store_true", help="a few rows: does it run at all?")
    parser.add_argument("--only", default="", metavar="CASE", help="cases whose name has these words in it")
    parser.add_argument(
        "--seed", type=int, help="seed of generated tables, where a method has many (choose, mixed)"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="go on with answers kept here (choose, mixed)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number measured")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    options = parser.parse_args()

    # Not at the top: worker processes import this file too, before their threads are limited.
    from bench import choose, compress, harness, kmeans, medoids, metrics, mixed, mixture, pca, reduce, trees
    from bench.report import Session

    size = "tiny" if options.tiny else "quick" if options.quick else "full"
    harness.SPAN = 0.0 if options.tiny else harness.SPAN
    modules = (choose, compress, kmeans, medoids, metrics, mixed, mixture, pca, reduce, trees)
    method = {module.__name__.rpartition(".")[2]: module for module in modules}[options.method]
    words = options.only.split()
    cases = [case for case in method.cases(size) if all(word in case.name for word in words)]
    if options.seed is not None and hasattr(method, "seeded"):
        cases = [method.seeded(case, options.seed) for case in cases]
    if options.keep is not None and hasattr(method, "kept"):
        cases = [method.kept(case, options.keep) for case in cases]
    if options.list or not cases:
        print(
            "\n".join(case.name for case in cases) or f"no case has {options.only!r} in its name; see --list"
        )
        parser.exit(0 if options.list else 2)
    with Session(size, options.json) as session:
        for case in cases:
            session.show(method.run(case, session))
        session.conclude(method.bars(session.reports))


if __name__ == "__main__":
    main()
