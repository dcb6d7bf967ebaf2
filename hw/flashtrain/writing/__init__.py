"""Files for others: the one writer of output files, and the checks of their places before any work.

A file gets its name when it is complete. Until then it has a name in the same folder that nobody can guess,
and is new (`open(2)`: O_EXCL, which follows no link). So an end of the process leaves the file of before, and
a planted link leads nowhere. A file that grows by lines is appended to in place. All
that is wrong is an :class:`OutputError`, which names the file.
"""

from .errors import OutputError
from .new_file import appended_file, begun_file, replacing, write_text
from .places import check_file, check_folder

__all__ = [
    "OutputError",
    "appended_file",
    "begun_file",
    "check_file",
    "check_folder",
    "replacing",
    "write_text",
]
