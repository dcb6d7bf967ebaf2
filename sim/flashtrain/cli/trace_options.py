"""The options of traces and waves: which file, of which part of a run."""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

from flashtrain.spec import ConfigError

from .links import LinkKind
from .outputs import output_file

_TIME = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)(ns|us|µs|ms|s)?")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
WAVES = (".fst", ".vcd")


@dataclass(frozen=True)
class Moment:
    """A time since the begin of a run: `value` cycles, or of this unit in seconds."""

    value: float
    unit: float | None

    def cycles(self, clock_mhz: int) -> int:
        return round(self.value if self.unit is None else self.value * self.unit * clock_mhz * 1e6)


@dataclass(frozen=True)
class Window:
    """The time from one moment to before another; None: from the begin, or to the end of the run."""

    begin: Moment | None = None
    end: Moment | None = None

    def cycles(self, clock_mhz: int) -> tuple[int, int | None]:
        """First cycle, and the first one behind the window, since the begin of the run."""
        begin = 0 if self.begin is None else self.begin.cycles(clock_mhz)
        return begin, None if self.end is None else self.end.cycles(clock_mhz)


@dataclass(frozen=True)
class TraceRequest:
    """A trace, or waves, of a part of a run.

    - trace, waves: the files. At most one of them is there.
    - window: of either. iterations: the first and the last one of the trace, from 1.
    - is_default: nobody has asked for it.
    """

    trace: Path | None = None
    waves: Path | None = None
    window: Window = Window()
    iterations: tuple[int, int] | None = None
    is_default: bool = False


def add_trace(parser: argparse.ArgumentParser, of_iterations: bool = False) -> None:
    """`--trace`, `--waves` and their windows; see :func:`trace_request`."""
    parser.add_argument(
        "--trace", type=output_file, metavar="FILE", help="write a trace for Perfetto (docs/tracing.md)"
    )
    parser.add_argument(
        "--trace-window", type=_window, metavar="A:B", help="only from A to B: 10us:1.5ms, or cycles"
    )
    if of_iterations:
        parser.add_argument(
            "--trace-iteration", type=_iterations, metavar="N", help="only of iteration N, or of N:M"
        )
    parser.add_argument(
        "--waves", type=output_file, metavar="FILE", help="write waves: .vcd or .fst (link rtl)"
    )
    parser.add_argument("--waves-window", type=_window, metavar="A:B", help="only from A to B")


def trace_request(options: argparse.Namespace, kind: LinkKind, iterations: int | None = None) -> TraceRequest:
    """The request of these options, for a run on this kind of Link with so many iterations.

    :class:`ConfigError` when they do not go together.
    """
    asked: tuple[int, int] | None = getattr(options, "trace_iteration", None)
    if options.trace is None and options.trace_window is not None:
        raise ConfigError("--trace-window is of a trace: add --trace FILE")
    if options.waves is None and options.waves_window is not None:
        raise ConfigError("--waves-window is of waves: add --waves FILE")
    if options.trace is not None and options.waves is not None:
        raise ConfigError("--trace and --waves exclude each other: the cycles of two runs are the same")
    if asked is not None and options.trace_window is not None:
        raise ConfigError("--trace-iteration and --trace-window exclude each other")
    if asked is not None and iterations is not None and asked[1] > iterations:
        raise ConfigError(f"--trace-iteration {asked[0]}:{asked[1]}: the run has {iterations} iterations")
    if options.trace is not None:
        if not kind.timed:
            raise ConfigError(f"--trace shows time, and link {kind.name} has none: expected rtl or model")
    if options.waves is not None:
        if kind.name != "rtl":
            raise ConfigError(f"--waves shows signals of the RTL, and link {kind.name} has none")
        if options.waves.suffix not in WAVES:
            raise ConfigError(f"--waves {options.waves}: expected a file that ends with .vcd or .fst")
    window = options.trace_window or options.waves_window or Window()
    return TraceRequest(options.trace, options.waves, window, asked)


def _window(text: str) -> Window:
    begin, separator, end = text.partition(":")
    found = Window(_moment(begin, text), _moment(end, text))
    if not separator:
        raise argparse.ArgumentTypeError(f"expected A:B, such as 10us:1.5ms, got {text!r}")
    if found.begin and found.end:
        # Any clock orders two times, or two numbers of cycles.
        if (found.begin.unit is None) is not (found.end.unit is None):
            raise argparse.ArgumentTypeError(f"expected two times or two numbers of cycles, got {text!r}")
        if found.begin.cycles(1_000_000) >= found.end.cycles(1_000_000):
            raise argparse.ArgumentTypeError(f"expected a begin before the end, got {text!r}")
    return found


def _moment(text: str, whole: str) -> Moment | None:
    if not text:
        return None
    found = _TIME.fullmatch(text)
    if found is None or (found[2] is None and "." in text):
        raise argparse.ArgumentTypeError(
            f"expected times in ns, us, ms or s, or whole cycles, got {text!r} in {whole!r}"
        )
    return Moment(float(found[1]), _SECONDS[found[2]] if found[2] else None)


def _iterations(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,18})(?::([0-9]{1,18}))?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise argparse.ArgumentTypeError(f"expected N or N:M from 1 on, with N up to M, got {text!r}")
    return first, last
