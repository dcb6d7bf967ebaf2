"""A drive exercised: jobs with options as fio has them.

units.py, patterns.py, block_sizes.py, offsets.py   values of options
options.py, fio.py                                  options with a meaning here, and all others of fio
job.py, job_file.py                                 jobs, from files and from the command line
checks.py                                           jobs against a configuration
drive.py, flash_drive.py, ssd_drive.py              what jobs need of a drive, on both kinds of drives
content.py                                          contents of blocks, and their check
worker.py, run.py                                   jobs at work on a drive
samples.py                                          times of commands, and what follows from them
sweep.py                                            the same jobs with several values of an option
text.py, document.py, figures.py                    results
"""

from .checks import jobs_for_flash, jobs_for_ssd, memory_bytes, queue_entries
from .errors import IoFailed, JobError
from .flash_drive import FlashDrive
from .job import Job
from .job_file import command_line_job, load_jobs
from .options import OPTIONS
from .run import IoRun, JobResult
from .ssd_drive import SsdDrive

__all__ = [
    "OPTIONS", "FlashDrive", "IoFailed", "IoRun", "Job", "JobError", "JobResult", "SsdDrive",
    "command_line_job", "jobs_for_flash", "jobs_for_ssd", "load_jobs", "memory_bytes", "queue_entries",
]  # fmt: skip
