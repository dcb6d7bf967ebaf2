"""Writes a figure: page, images and data."""

import json
from collections.abc import Mapping
from pathlib import Path

from flashtrain.figures.figure import PublishedFigure, sensitivities
from flashtrain.figures.page import document, page
from flashtrain.figures.parts import Content
from flashtrain.writing import write_text


def write_figure(
    figure: PublishedFigure, folder: Path, changed: Mapping[str, float] | None = None
) -> Content:
    """Write `<name>.md`, `.json`, `.png` and `-tornado.png` into `folder`; the results.

    `changed`: assumptions that differ from their defaults. Raises `FigureError` for an unknown one,
    `OutputError` for a file that cannot be written.
    """
    from flashtrain.figures.draw import draw_charts, draw_tornado  # Matplotlib takes a second to import

    values = figure.values(changed or {})
    content = figure.shown(values)
    headline, found = figure.headline(values), sensitivities(figure, values)
    data = document(figure, values, content, headline, found)
    write_text(folder / f"{figure.file_name}.json", json.dumps(data, indent=1) + "\n")
    write_text(folder / f"{figure.file_name}.md", page(figure, values, content, headline, found))
    draw_charts(content.charts, folder / f"{figure.file_name}.png")
    draw_tornado(found, headline, figure.shown_headline_name, folder / f"{figure.file_name}-tornado.png")
    return content
