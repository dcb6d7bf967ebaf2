"""MQSim's files: its configuration of a device, and the flows of its workloads.

The names are those of MQSim's `ssdconfig.xml` and `workload.xml`, which its README lists.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from flashtrain.reading import InputError, read_xml
from flashtrain.spec import ConfigError, Geometry, NandTiming
from flashtrain.spec.timing import ns

from .config import FIRMWARE_PAGE_BYTES, SsdConfig

SECTOR_BYTES = 512
_LEVELS = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}
_SUSPENSIONS = {"NONE": False, "ERASE": True, "PROGRAM": True, "PROGRAM_ERASE": True}
_NO_COUNTERPART = {
    "the host link has bytes, and neither queues nor delays":
        "SATA_Processing_Delay  HostInterface_Type IO_Queue_Depth Queue_Fetch_Size",
    "the drive's DRAM: the buffer is SRAM":
        "Caching_Mechanism Data_Cache_Sharing_Mode  Data_Cache_DRAM_Row_Size Data_Cache_DRAM_Data_Rate "
        "Data_Cache_DRAM_Data_Busrt_Size Data_Cache_DRAM_tRCD Data_Cache_DRAM_tCL  Data_Cache_DRAM_tRP",
    "the table of addresses is whole, in SRAM":
        "Address_Mapping Ideal_Mapping_Table CMT_Capacity  CMT_Sharing_Mode",
    "pages are placed over channels, then planes, dies and rows": "Plane_Allocation_Scheme",
    "the schedule is the model's":
        "Transaction_Scheduling_Policy Preferred_suspend_erase_time_for_read "
        "Preferred_suspend_erase_time_for_write Preferred_suspend_write_time_for_read "
        "Flash_Comm_Protocol",
    "collection is greedy, by superblocks, and yields to the host":
        "GC_Block_Selection_Policy  Use_Copyback_for_GC Preemptible_GC_Enabled",
    "the model has no wear":
        "Dynamic_Wearleveling_Enabled Static_Wearleveling_Enabled  Static_Wearleveling_Threshold "
        "Block_PE_Cycles_Limit",
    "of the run, and not of the drive":
        "Seed Enabled_Preconditioning Enable_ResponseTime_Logging  ResponseTime_Logging_Period_Length",
}  # fmt: skip
_REASONS = {name: reason for reason, names in _NO_COUNTERPART.items() for name in names.split()}


class Row(NamedTuple):
    """A parameter of MQSim, its value, and what became of it."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class ImportedDrive:
    """A drive, and a row for each parameter of the file it is made of."""

    config: SsdConfig
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class ImportedJob:
    """A flow of a workload as a job of `flashtrain io`, and its parameters without a counterpart."""

    name: str
    options: Mapping[str, str]
    rows: tuple[Row, ...]


class _Parameters:
    """The leaves of an element by their names; :class:`InputError` names the file and the parameter."""

    def __init__(self, path: Path, root: Element) -> None:
        self._path = path
        self._texts = {each.tag: (each.text or "").strip() for each in root.iter() if not len(each)}
        self.rows: list[Row] = []

    def error(self, name: str, expected: str) -> InputError:
        return InputError(self._path, f"{name} is {self._texts.get(name, '')!r}; expected {expected}")

    def text(self, name: str, known: Mapping[str, object], default: str) -> str:
        """One of the `known` texts."""
        if (text := self._texts.get(name, default).upper()) not in known:
            raise self.error(name, f"one of {', '.join(known)}")
        return text

    def number(self, name: str, default: float | None = None) -> float:
        """A number of at least 0; :class:`InputError` without one and without a default."""
        if name not in self._texts and default is not None:
            return default
        try:
            number = float(self._texts.get(name, ""))
        except ValueError:
            number = -1.0
        if not 0 <= number < 1e15:
            raise self.error(name, "a number of at least 0")
        return number

    def whole(self, name: str) -> int:
        return int(self.number(name))

    def used(self, meaning: str, *names: str) -> None:
        """Note what became of parameters."""
        self.rows += [Row(name, self._texts[name], meaning) for name in names if name in self._texts]

    def all_rows(self) -> tuple[Row, ...]:
        """A row for each parameter, in the order of the file."""
        meanings = {row.name: row for row in self.rows}
        return tuple(
            meanings.get(name, Row(name, text, f"no counterpart: {_REASONS.get(name, 'not known')}"))
            for name, text in self._texts.items()
        )


def import_drive(path: Path) -> ImportedDrive:
    """The drive that a configuration of MQSim describes; :class:`InputError` for what cannot be."""
    root = read_xml(path)
    device = root.find("Device_Parameter_Set") if root.tag == "Execution_Parameter_Set" else None
    if device is None:
        raise InputError(
            path, f"<{root.tag}>; expected <Execution_Parameter_Set> with <Device_Parameter_Set>"
        )
    p = _Parameters(path, root)
    geometry = dict(
        channels=p.whole("Flash_Channel_Count"),
        dies=p.whole("Chip_No_Per_Channel") * p.whole("Die_No_Per_Chip"),
        planes=p.whole("Plane_No_Per_Die"),
        blocks=p.whole("Block_No_Per_Plane"),
        pages=p.whole("Page_No_Per_Block"),
        page_bytes=p.whole("Page_Capacity"),
        spare_bytes=p.whole("Page_Metadat_Capacity"),
    )
    clock = round(p.number("Channel_Transfer_Rate") * p.number("Flash_Channel_Width", 1) / 2)
    levels = _LEVELS[p.text("Flash_Technology", _LEVELS, "MLC")]
    reads, programs = ([f"Page_{kind}_Latency_{level}" for level in levels] for kind in ("Read", "Program"))
    sense, program = (sum(map(p.number, names)) / len(names) for names in (reads, programs))
    reserve = p.number("Overprovisioning_Ratio")
    if not 0 < reserve < 0.5:
        raise p.error("Overprovisioning_Ratio", "a share above 0 and below 0.5")
    starts, critical = (
        round(p.number(f"GC_{name}_Threshold", 0) * geometry["blocks"]) for name in ("Exec", "Hard")
    )
    # GB/s of a lane, times lanes. Without them the drive has no link.
    link_gb = p.number("PCIe_Lane_Bandwidth", 0) * p.number("PCIe_Lane_Count", 0)
    link = round(FIRMWARE_PAGE_BYTES / link_gb) if link_gb else 0
    suspends = p.text("CMD_Suspension_Support", _SUSPENSIONS, "NONE")
    try:
        config = SsdConfig(
            name=path.stem,
            geometry=Geometry(**geometry),
            timing=NandTiming(
                clock_mhz=clock, tr=ns(sense), tprog=ns(program), tbers=ns(p.number("Block_Erase_Latency"))
            ),
            bus_page_bytes=geometry["page_bytes"] + geometry["spare_bytes"],
            over_provisioning=reserve / (1 - reserve),
            write_ns=0,
            move_ns=0,
            read_ns=0,
            link_ns=link,
            buffer_bytes=p.whole("Data_Cache_Capacity"),
            gc_start=max(2, starts),
            gc_critical=max(1, critical),
            suspended_reads=_SUSPENSIONS[suspends],
        )
    except ConfigError as error:
        raise InputError(path, f"is a drive that cannot be simulated: {error}") from error
    p.used("geometry.channels", "Flash_Channel_Count")
    p.used("geometry.dies, the product", "Chip_No_Per_Channel", "Die_No_Per_Chip")
    for field, name in (
        ("planes", "Plane_No_Per_Die"), ("blocks", "Block_No_Per_Plane"), ("pages", "Page_No_Per_Block"),
        ("page_bytes", "Page_Capacity"), ("spare_bytes", "Page_Metadat_Capacity"),
    ):  # fmt: skip
        p.used(f"geometry.{field}", name)
    p.used(f"timing.clock_mhz = {clock}", "Channel_Transfer_Rate", "Flash_Channel_Width")
    p.used(f"tr = {sense:g} ns, the mean over the pages of a word line", *reads)
    p.used(f"tprog = {program:g} ns, the same", *programs)
    others = {f"Page_{kind}_Latency_{level}" for kind in ("Read", "Program") for level in _LEVELS["TLC"]}
    p.used("no counterpart: no such page in this technology", *sorted(others - {*reads, *programs}))
    p.used("the pages that the means are taken over", "Flash_Technology")
    p.used("tbers", "Block_Erase_Latency")
    p.used(
        f"over_provisioning = {reserve / (1 - reserve):.4f} of the logical pages", "Overprovisioning_Ratio"
    )
    p.used(f"gc_start = {config.gc_start} superblocks", "GC_Exec_Threshold")
    p.used(f"gc_critical = {config.gc_critical} superblocks", "GC_Hard_Threshold")
    p.used(f"link_ns = {link}, of both together", "PCIe_Lane_Bandwidth", "PCIe_Lane_Count")
    p.used("buffer_bytes", "Data_Cache_Capacity")
    p.used("suspended_reads, of programs and erases alike", "CMD_Suspension_Support")
    p.used(f"no counterpart: tsusp and tres are {config.timing.tsusp.ns:g} ns", "Suspend_Erase_Time",
           "Suspend_Program_Time")  # fmt: skip
    p.used("the only kind that there is", "Memory_Type")
    return ImportedDrive(config, p.all_rows())


def import_workload(path: Path) -> list[list[ImportedJob]]:
    """The scenarios of a workload of MQSim, each with the jobs of its flows; :class:`InputError`."""
    root = read_xml(path)
    if root.tag != "MQSim_IO_Scenarios":
        raise InputError(path, f"<{root.tag}>; expected <MQSim_IO_Scenarios>")
    scenarios = [
        [_job(path, flow, number) for number, flow in enumerate(scenario)]
        for scenario in root.iter("IO_Scenario")
    ]
    if not any(scenarios):
        raise InputError(path, "has no flow; expected <IO_Flow_Parameter_Set_Synthetic> in <IO_Scenario>")
    return scenarios


def _job(path: Path, flow: Element, number: int) -> ImportedJob:
    if flow.tag == "IO_Flow_Parameter_Set_Trace_Based":
        file = flow.findtext("File_Path", "").strip()
        raise InputError(
            path, f"flow {number} is the trace {file!r}; play it by flashtrain ssd replay {file}"
        )
    if flow.tag != "IO_Flow_Parameter_Set_Synthetic":
        raise InputError(path, f"<{flow.tag}>; expected <IO_Flow_Parameter_Set_Synthetic>")
    p = _Parameters(path, flow)
    return ImportedJob(f"flow{number}", dict(_options(p)), p.all_rows())


_RANDOM = {
    "STREAMING": False, "RANDOM_UNIFORM": True, "UNIFORM_RANDOM": True, "RANDOM_HOTCOLD": True,
    "HOTCOLD": True,
}  # fmt: skip
_PATTERNS = {(0, False): "write", (100, False): "read", (0, True): "randwrite", (100, True): "randread"}


def _options(p: _Parameters) -> Iterator[tuple[str, str]]:
    reads = p.whole("Read_Percentage")
    if reads > 100:
        raise p.error("Read_Percentage", "a percentage")
    distribution = p.text("Address_Distribution", _RANDOM, "RANDOM_UNIFORM")
    is_random = _RANDOM[distribution]
    yield "rw", _PATTERNS.get((reads, is_random), "randrw" if is_random else "rw")
    yield "rwmixread", str(reads)
    p.used("rw, rwmixread", "Read_Percentage", "Address_Distribution")
    if is_random and distribution.endswith("HOTCOLD"):
        hot = p.number("Percentage_of_Hot_Region")
        if not 0 < hot < 50:
            raise p.error("Percentage_of_Hot_Region", "a percentage above 0 and below 50")
        # A share h of the range gets 1 - h of the commands, in both.
        yield "random_distribution", f"pareto:{hot / 100:g}"
        p.used("random_distribution", "Percentage_of_Hot_Region")
    else:
        p.used("no counterpart: addresses are uniform", "Percentage_of_Hot_Region")
    yield "bs", str(p.whole("Average_Request_Size") * SECTOR_BYTES)
    p.used("bs", "Average_Request_Size", "Address_Alignment_Unit", "Generated_Aligned_Addresses")
    if p.number("Variance_Request_Size", 0):
        raise p.error("Variance_Request_Size", "0: sizes of a Gaussian are not supported, bssplit= is")
    p.used("bs: one size", "Request_Size_Distribution", "Variance_Request_Size")
    yield "size", f"{p.number('Working_Set_Percentage', 100):g}%"
    p.used("size", "Working_Set_Percentage")
    if p.text("Synthetic_Generator_Type", {"QUEUE_DEPTH": 0, "BANDWIDTH": 0}, "QUEUE_DEPTH") == "BANDWIDTH":
        rate, size = p.whole("Intensity"), p.whole("Average_Request_Size") * SECTOR_BYTES
        yield "rate", str(rate)
        yield "rate_process", "poisson"
        yield "iodepth", "1024"
        p.used(f"rate, {rate / max(1, size):g} commands a second", "Intensity", "Synthetic_Generator_Type")
        p.used("no counterpart: the rate counts", "Average_No_of_Reqs_in_Queue")
    else:
        yield "iodepth", str(p.whole("Average_No_of_Reqs_in_Queue"))
        p.used("iodepth", "Average_No_of_Reqs_in_Queue", "Synthetic_Generator_Type")
        p.used("no counterpart: the depth counts", "Intensity")
    if stop := p.whole("Stop_Time"):
        yield "runtime", f"{stop}ns"
        yield "time_based", "1"
        p.used("runtime", "Stop_Time")
        p.used("no counterpart: the time counts", "Total_Requests_To_Generate")
    else:
        yield "number_ios", str(p.whole("Total_Requests_To_Generate"))
        yield "loops", "1000000"
        p.used("number_ios", "Stop_Time", "Total_Requests_To_Generate")
    yield "randseed", str(p.whole("Seed"))
    yield "norandommap", "1"
    p.used("randseed", "Seed")
    parts = "Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs"
    p.used("no counterpart: a flow has no parts of the drive", *parts)
    p.used("no counterpart: one class of commands", "Priority_Class", "Device_Level_Data_Caching_Mode")
    p.used("no counterpart: pages that a job reads are written before", "Initial_Occupancy_Percentage")


def job_text(jobs: list[ImportedJob]) -> str:
    """The jobs of a scenario as a file for `flashtrain io`."""
    lines = ["; a scenario of a workload of MQSim"]
    for job in jobs:
        lines += ["", f"[{job.name}]", *(f"{name}={value}" for name, value in job.options.items())]
    return "\n".join(lines) + "\n"
