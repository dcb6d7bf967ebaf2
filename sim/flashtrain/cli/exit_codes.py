"""Exit codes of the command; a signal's is 128 and its number, as shells have it."""

import signal

USER_ERROR = 2
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
