"""`flashtrain bringup`: starts the chips of a device by its command port, and compares them with it."""

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from flashtrain.spec import ConfigError, config_text
from flashtrain.spec.sdr import SDR_MODES
from flashtrain.writing import write_text

from .command import Command, add_configuration, add_json, add_link, configuration
from .console import Console, table
from .links import LINKS, announced
from .outputs import output_file

if TYPE_CHECKING:
    from flashtrain.host.bringup import ChipReport

MEMORY_BYTES = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser)
    add_link(parser, boards=True)
    parser.add_argument(
        "--fastest", type=int, choices=range(len(SDR_MODES)), default=len(SDR_MODES) - 1, metavar="MODE",
        help="set no faster SDR timing mode: 0 to 5 (default: 5)",
    )  # fmt: skip
    parser.add_argument(
        "--probe", type=output_file, metavar="FILE",
        help="write the configuration with the die that the chips state, which are not compared then",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: NumPy takes a moment to import.
    from flashtrain.host.bringup import BringUpError, bring_up, probed

    config = configuration(options)
    factory = announced(LINKS[options.link], console.step)
    with factory(config, MEMORY_BYTES) as link:
        reports = bring_up(
            link,
            options.fastest,
            lambda report, step: console.step(
                f"channel {report.channel} die {report.die}: {step.name}, {step.outcome}"
            ),
            compare=options.probe is None,
        )
    console.say(_table(reports))
    for report in reports:
        if report.error is not None:
            console.say(f"{type(report.error).__name__}: {report.error}")
    failed = any(report.error is not None for report in reports)
    if options.probe is not None and not failed:
        try:
            write_text(options.probe, config_text(probed(config, reports)))
            console.say(f"{options.probe}")
        except (BringUpError, ConfigError) as error:
            console.say(f"{type(error).__name__}: {error}")
            failed = True
    console.document({"chips": [_document(report) for report in reports]})
    return int(failed)


def _table(reports: "list[ChipReport]") -> str:
    rows = [
        (
            f"channel {report.channel} die {report.die}",
            report.page.maker if report.page else "-",
            report.page.model if report.page else "-",
            f"SDR mode {report.mode}" if report.error is None else "failed",
            report.steps[-1].name if report.steps else "none",
        )
        for report in reports
    ]
    return table(("chip", "maker", "model", "interface", "last step"), rows, left=5)


def _document(report: "ChipReport") -> dict[str, object]:
    return {
        "channel": report.channel,
        "die": report.die,
        "steps": [asdict(step) for step in report.steps],
        "parameter_page": asdict(report.page) if report.page else None,
        "mode": report.mode,
        "error": None if report.error is None else [type(report.error).__name__, str(report.error)],
    }


COMMAND = Command(
    examples="""\
  flashtrain bringup --config board.toml            every chip: identity, parameter page, timing mode
  flashtrain bringup --config board.toml --fastest 2
  flashtrain bringup --config board.toml --link serial:/dev/ttyUSB0   the chips of a board
  flashtrain bringup --config board.toml --json
  flashtrain bringup --config board.toml --probe probed.toml   the configuration of the chips that are there

Nothing is programmed or erased. The configuration needs command_port = true. The simulated dies of the rtl
link have no asynchronous interface: they are missing chips.
""",
    add_arguments=add_arguments,
    run=run,
)
