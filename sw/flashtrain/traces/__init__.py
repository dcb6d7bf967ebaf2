"""Block traces: reads and writes of a block device, with their times, in files.

block_trace.py   a trace in memory
fio.py, blktrace.py, mqsim.py   lines of three formats
tables.py        lines of tables with commas, and those that a regular expression takes apart
files.py         a file in one of the formats, to a trace and back
zoned.py         a trace on a zoned device: checks
replay.py        a trace on a flash memory system
recorder.py      the commands of a device as a trace
"""

from .block_trace import BlockTrace, Devices, Operation, TraceError, TraceRecord
from .files import FORMATS, WRITABLE, load_trace, pattern_format, save_trace

__all__ = [
    "FORMATS", "WRITABLE", "BlockTrace", "Devices", "Operation", "TraceError", "TraceRecord", "load_trace",
    "pattern_format", "save_trace",
]  # fmt: skip
