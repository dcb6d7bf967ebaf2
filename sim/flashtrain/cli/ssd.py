"""`flashtrain ssd`: conventional SSDs, to compare the flash memory system with."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flashtrain.ssd import SsdArray, SsdConfig, SsdRun
from flashtrain.ssd.bench import (
    AMPLIFICATION_PAGES,
    MANY_CORES,
    AmplificationRow,
    BandwidthRow,
    amplification,
    bandwidths,
    overwrite_bandwidth,
)
from flashtrain.ssd.commands import commands_of
from flashtrain.ssd.config import DRIVES_OF_DEVICE
from flashtrain.ssd.drive_file import drive_text
from flashtrain.ssd.fill import Fill, fill_for
from flashtrain.ssd.fit import SheetPoint, drive_named, fitted, points
from flashtrain.ssd.mqsim import Row, import_drive, import_workload, job_text
from flashtrain.ssd.pcie import PcieLink
from flashtrain.ssd.sheet import SHEETS, DataSheet, sheet_named
from flashtrain.traces import Operation
from flashtrain.writing import write_text

from .command import Command, add_configuration, add_json, at_least_one, at_least_zero, configuration
from .console import Console, table
from .outputs import output_folder
from .trace import add_trace, trace_of

GB = 1e9
ALL = "all"
COUNTS = (1, DRIVES_OF_DEVICE)
COMMANDS, QUICK_COMMANDS = 2000, 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    replay = actions.add_parser("replay", help="play a block trace")
    add_trace(replay)
    replay.add_argument("--count", type=int, choices=COUNTS, default=1, help="drives in RAID 0 (default: 1)")
    replay.add_argument(
        "--depth", type=at_least_zero, default=0, metavar="N",
        help="commands in flight; 0: each at its time (default: 0)",
    )  # fmt: skip
    replay.add_argument(
        "--pack", action="store_true",
        help="number the pages that the trace uses from 0, for a trace of a larger device",
    )  # fmt: skip
    replay.add_argument(
        "--fill", choices=[each.value for each in Fill], default=Fill.READ.value,
        help="pages written before, in no time: those that the trace reads, all, or none (default: read)",
    )  # fmt: skip
    _add_drive(replay)
    replay.set_defaults(action=_replay)

    bench = actions.add_parser("bench", help="bandwidths beside their bounds, and write amplification")
    bench.add_argument("--quick", action="store_true", help="less data")
    bench.add_argument(
        "--sheet", metavar="NAME",
        help="published values beside those of the drive that is fitted to them: of a data sheet"
        f" ({', '.join(SHEETS)}), of one in a TOML file, or all",
    )  # fmt: skip
    _add_drive(bench)
    bench.set_defaults(action=_bench)

    imported = actions.add_parser("import", help="read MQSim's configuration and workload")
    imported.add_argument("file", type=Path, help="MQSim's configuration, ssdconfig.xml")
    imported.add_argument("--workload", type=Path, metavar="FILE", help="MQSim's workload.xml")
    imported.add_argument(
        "--output", type=output_folder, metavar="DIR",
        help="folder for drive.toml, and for jobs.fio or scenario1.fio and so on (default: none)",
    )  # fmt: skip
    imported.set_defaults(action=_import)
    add_json(imported)


def _add_drive(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cores", type=at_least_one, default=1, metavar="N", help="cores of the firmware (default: 1)"
    )
    parser.add_argument(
        "--over-provisioning", type=float, default=SsdConfig.over_provisioning, metavar="SHARE",
        help=f"physical pages beyond the logical ones (default: {SsdConfig.over_provisioning})",
    )  # fmt: skip
    parser.add_argument(
        "--drive", metavar="FILE",
        help="a drive in a TOML file, as `ssd import` writes it, or the name of a data sheet, in the place of"
        " parts of a preset",
    )  # fmt: skip
    add_configuration(parser, default="behemoth")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    return options.action(options, console)


def _drives(options: argparse.Namespace, count: int) -> SsdConfig:
    if options.drive is not None:
        return replace(drive_named(options.drive), drives=count)
    return SsdConfig.of(
        configuration(options), count,
        firmware_cores=options.cores, over_provisioning=options.over_provisioning,
    )  # fmt: skip


def _replay(options: argparse.Namespace, console: Console) -> int:
    trace, config = trace_of(options), _drives(options, options.count)
    commands = commands_of(trace, config, options.pack)
    with SsdArray(config) as array:
        fill_for(array, commands, Fill(options.fill))
        run_of = array.run(commands, options.depth)
    sizes = {op: trace.bytes_of(op) for op in (Operation.READ, Operation.WRITE)}
    rate = sum(sizes.values()) / run_of.seconds if run_of.seconds else None
    console.say(f"{options.file}: {len(trace):,} commands on {_drive_text(config)}")
    console.say(f"simulated            {run_of.seconds * 1e3:.3f} ms")
    if rate is not None:
        console.say(f"bandwidth            {rate / GB:.3f} GB/s, reads and writes")
    console.say("\n".join(_latency_lines(run_of)))
    factor = run_of.write_amplification
    console.say(f"write amplification  {'n/a: nothing was written' if factor is None else f'{factor:.3f}'}")
    console.say(f"erases               {run_of.counts.erased:,} blocks")
    console.document({
        "file": str(options.file), "drive": config.name, "count": config.drives, "commands": len(trace),
        "seconds": run_of.seconds, "bytes_per_second": rate,
        "latency_seconds": {op.name.lower(): _latency(run_of, op) for op in sizes},
        "write_amplification": factor, "counts": run_of.counts._asdict(),
    })  # fmt: skip
    return 0


def _drive_text(config: SsdConfig) -> str:
    g = config.geometry
    size = config.capacity_bytes / config.drives / GB
    return (
        f"{config.drives} of {config.name}: {size:,.1f} GB, {g.channels} channels x {g.dies} dies,"
        f" {config.over_provisioning:.0%} over-provisioning, firmware on {config.firmware_cores} cores"
    )


def _latency(run_of: SsdRun, op: Operation) -> dict[str, float | None]:
    return {f"p{percentile}": run_of.latency(op, percentile) for percentile in (50, 99)}


def _latency_lines(run_of: SsdRun) -> list[str]:
    lines = []
    for op in (Operation.READ, Operation.WRITE):
        p50, p99 = run_of.latency(op, 50), run_of.latency(op, 99)
        if p50 is not None and p99 is not None:
            lines.append(
                f"{op.name.lower() + ' latency':20} p50 {p50 * 1e6:,.1f} us, p99 {p99 * 1e6:,.1f} us"
            )
    return lines


def _bench(options: argparse.Namespace, console: Console) -> int:
    if options.sheet is not None:
        return _bench_sheets(options.sheet, console)
    commands = QUICK_COMMANDS if options.quick else COMMANDS
    rows: list[BandwidthRow] = []
    for count in COUNTS:
        console.step(f"bandwidths of {count}")
        rows += bandwidths(_drives(options, count), commands)
    one = _drives(options, 1)
    sizes = AMPLIFICATION_PAGES[:-2] if options.quick else AMPLIFICATION_PAGES
    console.step("random overwrites in the steady state")
    rows += [overwrite_bandwidth(replace(one, firmware_cores=cores)) for cores in (options.cores, MANY_CORES)]
    factors = [amplification(one, pages) for pages in sizes]
    console.say(f"{_drive_text(one)}\n\n{_bandwidth_table(rows)}\n\n{_amplification_table(factors)}")
    console.document({"bandwidths": [_document(row) for row in rows], "amplification": [
        _document(row) | {"tolerance": row.tolerance} for row in factors
    ]})  # fmt: skip
    return int(not all(row.met for row in (*rows, *factors)))


def _bench_sheets(name: str, console: Console) -> int:
    met, documents = True, {}
    for sheet in [sheet_named(each) for each in (SHEETS if name == ALL else (name,))]:
        console.step(sheet.name)
        found = list(points(sheet))
        console.say(f"{_sheet_text(sheet)}\n\n{_points_table(found)}\n")
        documents[sheet.name] = [
            asdict(point) | {"residual": point.residual, "tolerance": point.tolerance, "met": point.met}
            for point in found
        ]
        met = met and all(point.met for point in found)
    console.document({"sheets": documents})
    return int(not met)


def _sheet_text(sheet: DataSheet) -> str:
    config = fitted(sheet)
    g, t = config.geometry, config.timing
    bound = PcieLink(sheet.link.generation, sheet.link.lanes).bytes_per_second / GB
    return (
        f"{sheet.model}, {sheet.link}: {bound:.2f} GB/s one way in packets of 256 bytes\n"
        f"fitted: {g.channels * g.dies} planes, tR {t.tr.ns / 1e3:.1f} us,"
        f" tPROG {t.tprog.ns / 1e3:.0f} us, {config.over_provisioning:.1%} over-provisioning"
    )


def _points_table(found: list[SheetPoint]) -> str:
    sources = list(dict.fromkeys(point.source for point in found))
    rows = table(
        ("point", "published", "model", "residual", "allowed", "source"),
        [
            (
                point.key, f"{point.published:,.7g}", f"{point.model:,.7g}",
                f"{point.residual:+.2%}" + ("" if point.met else ": too much"), f"{point.tolerance:.0%}",
                f"[{sources.index(point.source) + 1}]",
            )
            for point in found
        ],
    )  # fmt: skip
    return "\n".join([rows, *(f"[{number}] {source}" for number, source in enumerate(sources, 1))])


def _import(options: argparse.Namespace, console: Console) -> int:
    drive = import_drive(options.file)
    workload: Path | None = options.workload
    folder: Path | None = options.output
    scenarios = [] if workload is None else import_workload(workload)
    console.say(f"{_drive_text(drive.config)}\n\n{_rows_table(drive.rows)}")
    for scenario, jobs in enumerate(scenarios, 1):
        for job in jobs:
            given = " ".join(f"{name}={value}" for name, value in job.options.items())
            console.say(f"\nscenario {scenario}, {job.name}: {given}")
            if scenario == 1:
                console.say(_rows_table(job.rows))
    texts = {"drive.toml": drive_text(drive.config)}
    for scenario, jobs in enumerate(scenarios, 1):
        name = f"scenario{scenario}.fio" if len(scenarios) > 1 else "jobs.fio"
        texts[name] = job_text(jobs)
    files = [] if folder is None else [folder / name for name in texts]
    for file in files:
        write_text(file, texts[file.name])
        console.say(str(file))
    console.document({
        "drive": asdict(drive.config),
        "parameters": _row_documents(drive.rows),
        "scenarios": [
            [
                {"name": job.name, "options": dict(job.options), "parameters": _row_documents(job.rows)}
                for job in jobs
            ]
            for jobs in scenarios
        ],
        "files": [str(file) for file in files],
    })  # fmt: skip
    return 0


def _row_documents(rows: Sequence[Row]) -> list[dict[str, str]]:
    return [row._asdict() for row in rows]


def _rows_table(rows: Sequence[Row]) -> str:
    return table(("parameter of MQSim", "value", "here"), [tuple(row) for row in rows], left=3)


def _document(row: BandwidthRow | AmplificationRow) -> dict[str, Any]:
    return asdict(row) | {"met": row.met}


def _bandwidth_table(rows: list[BandwidthRow]) -> str:
    return table(
        ("GB/s", "drives", "cores", "measured", "bound", "share", "all bounds"),
        [
            (
                row.name, str(row.drives), str(row.cores), f"{row.value / GB:.3f}",
                f"{row.bound / GB:.3f} {row.part}",
                f"{row.value / row.bound:.1%}" + ("" if row.met else ": too much"),
                ", ".join(f"{name} {value / GB:.2f}" for name, value in row.limits.items()),
            )
            for row in rows
        ],
    )  # fmt: skip


def _amplification_table(rows: list[AmplificationRow]) -> str:
    return table(
        ("write amplification", "measured", "greedy", "error", "allowed", "LRU, bound", "greedy, nominal"),
        [
            (
                f"superblocks of {row.pages:,} pages", f"{row.value:.3f}", f"{row.greedy:.3f}",
                f"{row.value / row.greedy - 1:+.2%}" + ("" if row.met else ": too much"),
                f"{row.tolerance:.2%}", f"{row.lru:.3f}", f"{row.nominal:.3f}",
            )
            for row in rows
        ],
    )  # fmt: skip


COMMAND = Command(
    examples="""\
  flashtrain ssd bench
  flashtrain ssd bench --quick --cores 4 --json
  flashtrain ssd bench --sheet micron-9550
  flashtrain ssd replay mlp.log
  flashtrain ssd replay disk.txt --format blktrace --count 4 --fill all
  flashtrain ssd import ssdconfig.xml --workload workload.xml --output build/mqsim
  flashtrain ssd replay disk.txt --drive build/mqsim/drive.toml
  flashtrain ssd replay mlp.log --pack --depth 32 --preset small --over-provisioning 0.3
""",
    add_arguments=add_arguments,
    run=run,
)
