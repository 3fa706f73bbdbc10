"""What the pages promise of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sorted((ROOT / "src" / "asterism").rglob("*.py"))
CORE = sorted((ROOT / "src" / "core").glob("*.?pp"))

MOST_ARGUMENTS = 8
MOST_LINES = 5_000

# Called by users, by keyword: each argument is a choice of its own with a default.
BY_KEYWORD = {
    "verdict/choose.py": {"choose_k"},
    "finding.py": {"find"},
    "metrics/extrinsic.py": {"extrinsic_score"},
    "report/page.py": {"write_report"},
}

# Functions with more, to be emptied: never to be added to.
TOO_MANY: dict[str, set[str]] = {}


def names_imported(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def long_signatures(tree: ast.AST) -> dict[str, int]:
    """Functions (Class.method in a class) with too many arguments, self and cls not counted, and how many."""
    found = {}

    def visit(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                own = [a.arg for a in (*child.args.posonlyargs, *child.args.args, *child.args.kwonlyargs)]
                count = len([name for name in own if name not in ("self", "cls")])
                if count > MOST_ARGUMENTS:
                    found[inside + child.name] = count
                visit(child, f"{inside}{child.name}.")
            elif isinstance(child, ast.ClassDef):
                visit(child, f"{inside}{child.name}.")
            else:
                visit(child, inside)

    visit(tree, "")
    return found


def is_estimator(where: str, name: str) -> bool:
    """Constructors of estimators take scikit-learn's parameters, by keyword."""
    return where.startswith("estimators/") and name.endswith(".__init__")


def offenders() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in PYTHON:
        where = path.relative_to(ROOT / "src" / "asterism").as_posix()
        names = long_signatures(ast.parse(path.read_text(encoding="utf-8")))
        excused = BY_KEYWORD.get(where, set())
        if left := {name for name in names if name not in excused and not is_estimator(where, name)}:
            found[where] = left
    return found


def test_functions_take_at_most_eight_arguments() -> None:
    assert offenders() == TOO_MANY


@pytest.mark.parametrize("compiler", ["numba", "llvmlite", "cffi"])
def test_nothing_is_compiled_at_run_time(compiler: str) -> None:
    users = [
        path for path in PYTHON if compiler in names_imported(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert users == []


def test_compiled_code_is_a_few_thousand_lines() -> None:
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in CORE) <= MOST_LINES


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.name)
def test_the_core_knows_no_threads(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = r"<(thread|atomic|mutex|future|condition_variable|barrier|latch|semaphore|omp\.h|pthread\.h)>"
    assert not re.search(named + r"|#\s*pragma\s+omp|_Pragma\(\"omp|\bpthread_|\bthread_local\b", text)


@pytest.mark.parametrize("path", [path for path in CORE if path.suffix == ".cpp"], ids=lambda path: path.name)
def test_kernels_bind_at_most_eight_arguments(path: Path) -> None:
    for call in re.split(r"\bdef\(|\.def", path.read_text(encoding="utf-8"))[1:]:
        assert len(re.findall(r'"\w+"_a\b', call)) <= MOST_ARGUMENTS


def test_the_core_is_built_of_all_its_files() -> None:
    listed = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    kernels = {path.stem for path in CORE if path.suffix == ".cpp"} - {"module"}
    assert kernels == set(re.search(r"set\(kernels\s+(.*?)\)", listed, re.S)[1].split())


# --- pages ------------------------------------------------------------------------------------------------------

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]
PLACES = [ROOT, ROOT / "src", ROOT / "src" / "asterism", ROOT / "src" / "core"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_name_files_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if "\nStatus: replaced by" in text:
        pytest.skip("tells of what was once")
    named = re.findall(r"`((?:[\w.]+/)+\w+\.(?:py|cpp|hpp|md))[`:]", text)
    missing = [name for name in named if not any((place / name).exists() for place in [*PLACES, page.parent])]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
