"""The image of a flash, looked at like a drive; the file is never changed.

`inspected` opens an image, `inspect` reports on it, `scrub` reads its pages, and `draw_zones` draws them.
"""

from .errors import InspectionError
from .inspected import Inspected, Recovered, inspected
from .inspection import Content, Inspection, inspect
from .link_scrub import link_scrub
from .scrub import Scrub, scrub

__all__ = [
    "Content",
    "Inspected",
    "Inspection",
    "InspectionError",
    "Recovered",
    "Scrub",
    "inspect",
    "inspected",
    "link_scrub",
    "scrub",
]
