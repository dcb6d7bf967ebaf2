"""A device exercised like a drive: jobs with options as fio has them.

units.py, patterns.py, options.py   values of options
job.py, job_file.py                 jobs, from files and from the command line
checks.py                           jobs against a configuration
content.py                          contents of blocks, and their check
worker.py, run.py                   jobs at work on a device
samples.py                          times of commands, and what follows from them
sweep.py                            the same jobs with several values of an option
text.py, document.py, figures.py    results
"""

from .checks import check_jobs, memory_bytes, queue_entries
from .errors import IoFailed, JobError
from .job import Job
from .job_file import command_line_job, load_jobs
from .options import OPTIONS
from .run import IoRun, JobResult

__all__ = [
    "OPTIONS", "IoFailed", "IoRun", "Job", "JobError", "JobResult", "check_jobs", "command_line_job",
    "load_jobs", "memory_bytes", "queue_entries",
]  # fmt: skip
