"""The page of a figure in Markdown, and its JSON document."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from flashtrain.figures.figure import PublishedFigure, Sensitivity
from flashtrain.figures.parts import Comparison, Content, Table, Values


def page(
    figure: PublishedFigure, values: Values, content: Content, headline: float, found: Sequence[Sensitivity]
) -> str:
    """The page, which shows `<name>.png` and `<name>-tornado.png` beside it."""
    option = f" --storage {figure.storage.name}" if figure.storage else ""
    lines = [f"# {figure.title}", "", *_comparisons(content.comparisons), ""]
    lines += [content.verdict, ""] if content.verdict else []
    lines += [line for note in content.notes for line in (note, "")]
    lines += [f"![{figure.title}]({figure.file_name}.png)", ""]
    for table in content.tables:
        lines += [f"## {table.title}", "", *_table(table), ""]
    lines += ["## Assumptions", "", "| name | value | unit | range | reason |", "|---|---|---|---|---|"]
    lines += [
        f"| `{a.name}` | {values[a.name]:.6g} | {a.unit} | {a.low:.6g} to {a.high:.6g} | {a.reason} |"
        for a in figure.assumptions
    ]
    lines += [
        "",
        "## Sensitivity",
        "",
        f"{figure.shown_headline_name}: {headline:.4g}. The table has it with one assumption at each end of"
        " its range.",
        "",
        f"![sensitivity]({figure.file_name}-tornado.png)",
        "",
        "| assumption | at the low end | at the high end |",
        "|---|---|---|",
        *(f"| `{s.assumption.name}` | {s.at_low:.4g} | {s.at_high:.4g} |" for s in found),
        "",
        f"The command `flashtrain figure {figure.name}{option}` writes this page.",
    ]
    return "\n".join(lines) + "\n"


def document(
    figure: PublishedFigure, values: Values, content: Content, headline: float, found: Sequence[Sensitivity]
) -> dict[str, Any]:
    """The same as JSON objects."""
    return {
        "name": figure.name,
        "storage": figure.storage.name if figure.storage else None,
        "title": figure.title,
        "comparisons": [
            {**asdict(c), "relation": c.relation.value, "difference": c.difference, "reached": c.reached}
            for c in content.comparisons
        ],
        "assumptions": [{**asdict(a), "value": values[a.name]} for a in figure.assumptions],
        "charts": [asdict(chart) for chart in content.charts],
        "tables": [asdict(table) for table in content.tables],
        "notes": list(content.notes),
        "verdict": content.verdict,
        "headline": {"name": figure.shown_headline_name, "value": headline},
        "sensitivity": [
            {"assumption": s.assumption.name, "at_low": s.at_low, "at_high": s.at_high} for s in found
        ],
    }


def _comparisons(comparisons: Sequence[Comparison]) -> list[str]:
    lines = [
        "| result | published | ours | difference | criterion | reached | source |",
        "|---|---|---|---|---|---|---|",
    ]
    for c in comparisons:
        published = "–" if c.published is None else f"{c.published:.4g} {c.unit}"
        criterion = "–" if c.published is None else c.criterion
        difference = "–" if c.difference is None else f"{c.difference:+.1%}"
        reached = {None: "–", True: "yes", False: "no"}[c.reached]
        ours = f"{c.ours:.4g} {c.unit}"
        cells = (c.what, published, ours, difference, criterion, reached, c.source or "–")
        lines.append("| " + " | ".join(cells) + " |")
    reasons = [f"- {c.what}: {c.why}" for c in comparisons if c.why]
    return [*lines, "", *reasons] if reasons else lines


def _table(table: Table) -> list[str]:
    lines = ["| " + " | ".join(table.header) + " |", "|" + "---|" * len(table.header)]
    for row in table.rows:
        cells = [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
