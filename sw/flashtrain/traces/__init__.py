"""Block traces: reads and writes of a block device, with their times, in files.

block_trace.py   a trace in memory
fio.py, blktrace.py, mqsim.py   lines of three formats
files.py         a file in one of the formats, to a trace and back
zoned.py         a trace on a zoned device: checks
replay.py        a trace on a flash memory system
recorder.py      the commands of a device as a trace
"""

from .block_trace import BlockTrace, Operation, TraceError, TraceRecord
from .files import FORMATS, load_trace, save_trace

__all__ = ["FORMATS", "BlockTrace", "Operation", "TraceError", "TraceRecord", "load_trace", "save_trace"]
