"""MQSim's files: a drive, jobs, and what has no counterpart; and drives in files of their own."""

from dataclasses import replace

import pytest

from flashtrain.cli.main import main
from flashtrain.io import load_jobs
from flashtrain.reading import InputError
from flashtrain.spec import preset
from flashtrain.ssd import SsdConfig
from flashtrain.ssd.drive_file import drive_text, load_drive
from flashtrain.ssd.mqsim import import_drive, import_workload, job_text

DEVICE = {
    "Seed": "321", "CMT_Capacity": "2097152", "Data_Cache_Capacity": "16777216",
    "Overprovisioning_Ratio": "0.2",
    "GC_Exec_Threshold": "0.05", "GC_Hard_Threshold": "0.005", "Flash_Channel_Count": "4",
    "Flash_Channel_Width": "1", "Channel_Transfer_Rate": "800", "Chip_No_Per_Channel": "2",
    "Future_Knob": "7",
}  # fmt: skip
FLASH = {
    "Flash_Technology": "TLC", "CMD_Suspension_Support": "ERASE", "Page_Read_Latency_LSB": "50000",
    "Page_Read_Latency_CSB": "60000", "Page_Read_Latency_MSB": "70000", "Page_Program_Latency_LSB": "300000",
    "Page_Program_Latency_CSB": "600000", "Page_Program_Latency_MSB": "900000",
    "Block_Erase_Latency": "3800000", "Die_No_Per_Chip": "2", "Plane_No_Per_Die": "2",
    "Block_No_Per_Plane": "100", "Page_No_Per_Block": "64", "Page_Capacity": "4096",
    "Page_Metadat_Capacity": "224",
}  # fmt: skip
FLOW = {
    "Priority_Class": "HIGH", "Channel_IDs": "0,1", "Working_Set_Percentage": "10", "Read_Percentage": "70",
    "Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": "20",
    "Request_Size_Distribution": "FIXED", "Average_Request_Size": "8", "Variance_Request_Size": "0",
    "Seed": "798", "Average_No_of_Reqs_in_Queue": "4", "Stop_Time": "0", "Total_Requests_To_Generate": "50",
}  # fmt: skip


def leaves(values):
    return "".join(f"<{name}> {value} </{name}>" for name, value in values.items())


@pytest.fixture
def drive_file(tmp_path):
    def write(**changes):
        device = {name: changes.get(name, value) for name, value in DEVICE.items()}
        flash = {name: changes.get(name, value) for name, value in FLASH.items()}
        path = tmp_path / "ssdconfig.xml"
        path.write_text(
            '<?xml version="1.0" encoding="us-ascii"?>\n<Execution_Parameter_Set><Host_Parameter_Set>'
            "<PCIe_Lane_Bandwidth>0.8</PCIe_Lane_Bandwidth><PCIe_Lane_Count>4</PCIe_Lane_Count></Host_Parameter_Set><Device_Parameter_Set>"
            f"{leaves(device)}<Flash_Parameter_Set>{leaves(flash)}</Flash_Parameter_Set>"
            "</Device_Parameter_Set></Execution_Parameter_Set>",
            encoding="utf-8",
        )
        return path

    return write


@pytest.fixture
def workload_file(tmp_path):
    def write(tag="IO_Flow_Parameter_Set_Synthetic", **changes):
        path = tmp_path / "workload.xml"
        flow = f"<{tag}>{leaves(FLOW | changes)}</{tag}>"
        path.write_text(
            f"<MQSim_IO_Scenarios><IO_Scenario>{flow}{flow}</IO_Scenario></MQSim_IO_Scenarios>",
            encoding="utf-8",
        )
        return path

    return write


def test_a_drive(drive_file):
    """By hand: means over the three pages of a word line, dies as a product, and shares of other bases."""
    imported = import_drive(drive_file())
    config, timing = imported.config, imported.config.timing
    g = config.geometry
    assert (g.channels, g.dies, g.planes, g.blocks, g.pages) == (4, 4, 2, 100, 64)
    assert (timing.clock_mhz, timing.tr.ns, timing.tprog.ns, timing.tbers.ns) == (400, 60e3, 600e3, 3.8e6)
    assert config.over_provisioning == pytest.approx(0.25)  # a fifth of all pages is a fourth of the others
    assert (config.gc_start, config.gc_critical, config.buffer_bytes) == (5, 1, 16 << 20)
    rows = {row.name: row.meaning for row in imported.rows}
    assert set(rows) == {*DEVICE, *FLASH, "PCIe_Lane_Bandwidth", "PCIe_Lane_Count"}
    assert config.link_ns == 1280 and rows["PCIe_Lane_Count"].startswith("link_ns = 1280")
    assert rows["CMT_Capacity"] == "no counterpart: the table of addresses is whole, in SRAM"
    assert rows["Future_Knob"] == "no counterpart: not known"
    assert rows["Overprovisioning_Ratio"] == "over_provisioning = 0.2500 of the logical pages"


def test_flows_are_jobs(workload_file, tmp_path):
    ((first, second),) = import_workload(workload_file())
    path = tmp_path / "jobs.fio"
    path.write_text(job_text([first, second]), encoding="utf-8")
    job, _ = load_jobs(path, {})
    assert (job.rw.name, job.rwmixread, job.bs.most, job.iodepth) == ("randrw", 70, 4096, 4)
    assert (job.number_ios, job.randseed, job.random_distribution.value) == (50, 798, 0.2)
    assert {row.name: row.meaning for row in first.rows}["Priority_Class"].startswith("no counterpart")
    timed = {"Stop_Time": "1000000", "Synthetic_Generator_Type": "BANDWIDTH", "Intensity": "32768"}
    ((job, _),) = import_workload(workload_file(**timed))
    assert (job.options["runtime"], job.options["rate"]) == ("1000000ns", "32768")
    assert job.options["rate_process"] == "poisson"


def test_the_command(drive_file, workload_file, tmp_path, capsys):
    """What it writes runs, with as many commands as the workload has."""
    files = ["ssd", "import", str(drive_file()), "--workload", str(workload_file())]
    assert main([*files, "--output", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "Future_Knob" in text and "scenario 1, flow1: rw=randrw rwmixread=70 random_distr" in text
    drive, jobs = (str(tmp_path / "out" / name) for name in ("drive.toml", "jobs.fio"))
    assert load_drive(tmp_path / "out" / "drive.toml") == replace(
        import_drive(drive_file()).config, name="ssdconfig"
    )
    assert main(["io", jobs, "--drive", drive, "--count", "1"]) == 0
    assert capsys.readouterr().out.count("io=") == 2
    (tmp_path / "a.txt").write_text("0 0 0 8 1\n", encoding="utf-8")
    assert main(["ssd", "replay", str(tmp_path / "a.txt"), "--drive", drive]) == 0
    assert "1 commands on 1 of ssdconfig: 0.7 GB, 4 channels x 4 dies, 25% over" in capsys.readouterr().out


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"Flash_Channel_Count": "6"},
            "cannot be simulated: geometry.channels is 6; expected a power of two",
        ),
        ({"Flash_Technology": "QLC"}, "Flash_Technology is 'QLC'; expected one of SLC, MLC, TLC"),
        ({"Page_Capacity": "1e99"}, "Page_Capacity is '1e99'; expected a number of at least 0"),
        ({"Overprovisioning_Ratio": "0.9"}, "Overprovisioning_Ratio is '0.9'; expected a share above 0"),
    ],
)
def test_a_drive_that_cannot_be(drive_file, changes, message):
    with pytest.raises(InputError, match=message):
        import_drive(drive_file(**changes))


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"tag": "IO_Flow_Parameter_Set_Trace_Based", "File_Path": "a.trace"},
            "by flashtrain ssd replay a.trace",
        ),
        ({"Read_Percentage": "101"}, "Read_Percentage is '101'; expected a percentage"),
        ({"Variance_Request_Size": "3"}, "Variance_Request_Size is '3'; expected 0: sizes of a Gaussian are"),
        ({"Address_Distribution": "X"}, "Address_Distribution is 'X'; expected one of STREAMING, RANDOM"),
    ],
)
def test_a_workload_that_cannot_be(workload_file, changes, message):
    with pytest.raises(InputError, match=message):
        import_workload(workload_file(**changes))


@pytest.mark.parametrize(
    "text, message",
    [
        ("<a>", "is no XML: "),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "has a document type; expected elements only"),
        ("<a/>", "<a>; expected <"),
    ],
)
def test_other_documents(tmp_path, text, message):
    path = tmp_path / "a.xml"
    path.write_text(text, encoding="utf-8")
    for read in (import_drive, import_workload):
        with pytest.raises(InputError, match=message):
            read(path)


def test_drives_in_files(tmp_path):
    path = tmp_path / "mine.toml"
    config = SsdConfig.of(preset("behemoth"), 1, read_ns=500)
    for name in ('a "b\\c"', "é 😀", config.name):
        config = replace(config, name=name)
        path.write_text(drive_text(config), encoding="utf-8")
        assert load_drive(path) == config
    for name in ("5", '""', '"\\t"'):
        _, rest = drive_text(config).split("\n", 1)
        path.write_text(f"name = {name}\n{rest}", encoding="utf-8")
        with pytest.raises(InputError, match=r"mine.toml: ssd.name is .*; expected a text of printable"):
            load_drive(path)
    path.write_text(drive_text(config).replace("read_ns = 500", "reed_ns = 500"), encoding="utf-8")
    with pytest.raises(InputError, match=r"mine.toml: unknown key reed_ns; expected one of name, "):
        load_drive(path)
    path.write_text(drive_text(config).replace("tprog = 100000", "tprog = -1"), encoding="utf-8")
    with pytest.raises(InputError, match=r"mine.toml: timing.tprog.ns is -1; expected a number from 0"):
        load_drive(path)
