"""`flashtrain`: the entry point.

Nothing heavy is imported here, so an interrupt during the imports ends the command with one line, too.
"""

import sys
from collections.abc import Sequence

from .exit_codes import INTERRUPTED


def main(arguments: Sequence[str] | None = None) -> int:
    """The command with `arguments`, by default those of the process; its exit code."""
    try:
        from .dispatch import run_command

        return run_command(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        print("flashtrain: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
