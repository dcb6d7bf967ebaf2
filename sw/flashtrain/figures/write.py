"""Writes a figure: page, images and data."""

import json
from collections.abc import Mapping
from pathlib import Path

from flashtrain.figures.errors import FigureError
from flashtrain.figures.figure import PublishedFigure, sensitivities
from flashtrain.figures.page import document, page
from flashtrain.figures.parts import Content


def write_figure(
    figure: PublishedFigure, folder: Path, changed: Mapping[str, float] | None = None
) -> Content:
    """Write `<name>.md`, `.json`, `.png` and `-tornado.png` into `folder`; the results.

    `changed`: assumptions that differ from their defaults. Raises `FigureError` for an unknown one, and for a
    file that cannot be written.
    """
    from flashtrain.figures.draw import draw_charts, draw_tornado  # Matplotlib takes a second to import

    values = figure.values(changed or {})
    content = figure.content(values)
    headline, found = figure.headline(values), sensitivities(figure, values)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        data = document(figure, values, content, headline, found)
        (folder / f"{figure.name}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        text = page(figure, values, content, headline, found)
        (folder / f"{figure.name}.md").write_text(text, encoding="utf-8")
    except OSError as error:
        raise FigureError(f"{error.filename}: cannot be written: {error.strerror}") from error
    draw_charts(content.charts, folder / f"{figure.name}.png")
    draw_tornado(found, headline, figure.headline_name, folder / f"{figure.name}-tornado.png")
    return content
