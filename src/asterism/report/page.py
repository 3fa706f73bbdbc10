"""The page: summary and figures in one HTML file that needs nothing else.

No request leaves it (a content security policy forbids them), and no script runs but the page's own and plotly (the
policy names their hashes). Plotly stands in it packed and is unpacked once the words are on the screen. Texts of the
table are data to it: jinja2 escapes them in HTML, ``json_in_script`` in JSON.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from asterism.data.whole import write_whole
from asterism.errors import OutputExistsError
from asterism.explain.outcome import Outcome
from asterism.finding import Finding
from asterism.report.drawing import PALETTE, Figure
from asterism.report.figures import figures
from asterism.report.plotlyjs import packed_plotly, policy_hash
from asterism.report.subject import Subject, subject_of
from asterism.report.summary import Summary, summarize
from asterism.report.tree import tree_picture


def write_report(
    finding: Finding,
    path: str | os.PathLike[str],
    *,
    title: str = "table",
    command: str | None = None,
    seconds: float | None = None,
    peak_bytes: int | None = None,
    made: str | None = None,
    reference: tuple[str, Sequence[str]] | None = None,
    outcomes: Sequence[Outcome] = (),
    force: bool = False,
) -> None:
    """Write the report of a finding to ``path``, whole or not at all.

    ``title``      of the table
    ``command``    that made the finding; ``seconds``, ``peak_bytes`` and ``made`` what it took and when
    ``reference``  a column's name and its cells, to compare the groups with
    ``outcomes``   what ``finding.outcome`` found, to be shown
    ``force``      replace a file that is there
    """
    subject = subject_of(
        finding,
        title=title,
        command=command,
        seconds=seconds,
        peak_bytes=peak_bytes,
        made=made,
        reference=reference,
        outcomes=outcomes,
    )
    write_page(subject, path, force=force)


def write_page(subject: Subject, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """The report of any subject."""
    target = Path(path)
    if target.exists() and not force:
        raise OutputExistsError(f"{target} exists.", "Give another name, or force=True to replace it.")
    write_whole(target, page(summarize(subject)).encode())


def page(summary: Summary) -> str:
    """The HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("asterism.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters.update(percent=_percent, bytes=_bytes, drawing=_drawing)
    here = files("asterism.report") / "templates"
    script = (here / "report.js").read_text(encoding="utf-8")
    return environment.get_template("report.html.j2").render(
        s=summary,
        figures=figures(summary),
        tree=summary["layers"] and tree_picture(summary["layers"], _names(summary), PALETTE),
        palette=PALETTE,
        style=(here / "report.css").read_text(encoding="utf-8"),
        summary_json=json_in_script(summary),
        plotly=packed_plotly().base64,
        script=script,
        hashes=[policy_hash(script.encode()), packed_plotly().hash],
    )


def _names(summary: Summary) -> list[str]:
    return [group["name"] for group in summary["groups"]]


def _drawing(figure: Figure) -> Any:
    """What the script needs of a figure; its words and numbers stand in the page."""
    from markupsafe import Markup

    parts = {name: figure[name] for name in ("data", "layout", "narrow", "frames", "height")}
    return Markup(json_in_script(parts))


def json_in_script(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it ends the element or begins a comment.

    >>> json_in_script({"a": "</script><!--\u2028"})
    '{"a":"\\\\u003c/script\\\\u003e\\\\u003c!--\\\\u2028"}'
    """
    text = json.dumps(_finite(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:
    """Numbers JSON cannot write are null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _percent(value: float) -> str:
    """Whole percents; small ones with a digit more.

    >>> [_percent(x) for x in (0.0, 0.0042, 0.09, 0.5)]
    ['0%', '0.4%', '9%', '50%']
    """
    return f"{value:.1%}" if 0 < abs(value) < 0.0095 else f"{value:.0%}"


def _bytes(value: float) -> str:
    return f"{value / 2**30:.2f} GB" if value >= 2**30 else f"{value / 2**20:.0f} MB"
