"""The documentation site, of the pages in this folder: `make docs`."""

import argparse
import os

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from flashtrain.cli.dispatch import COMMANDS, parser

os.environ["COLUMNS"] = "100"  # of the texts of --help

project = "flashtrain"
author = "The flashtrain authors"
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4  # links to headings of a page, as a forge has them
myst_enable_extensions = ["smartquotes"]

html_theme = "furo"
html_title = "flashtrain"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False

default_role = "py:obj"  # docstrings have names in single backquotes
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
python_use_unqualified_type_names = True
add_module_names = False


class Commands(SphinxDirective):
    """The help of `flashtrain` and of each of its commands, a section each."""

    def run(self) -> list[nodes.Node]:
        return [*map(self.section, (parser(), *subcommands(parser(*COMMANDS))))]

    def section(self, command: argparse.ArgumentParser) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id(command.prog)])
        section += nodes.title(text=command.prog)
        section += nodes.literal_block(text=command.format_help(), language="text")
        return section


def subcommands(command: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The commands below a parser, at all levels, in order."""
    inner = [
        own
        for action in command._actions
        if isinstance(action, argparse._SubParsersAction)
        for own in action.choices.values()
    ]
    return [found for own in inner for found in (own, *subcommands(own))]


def without_field_numbers(_app, _what, _name, _object, _options, lines: list[str]) -> None:
    """Fields of named tuples have a docstring that only counts them."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def setup(app: Sphinx) -> None:
    app.add_directive("commands", Commands)
    app.connect("autodoc-process-docstring", without_field_numbers)
