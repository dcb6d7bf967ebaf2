"""From power-on to a timing mode: reset, identity, parameter page, comparison, drive, features."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from flashtrain.host.link import Link
from flashtrain.spec import FmsConfig
from flashtrain.spec.chips import DRIVE_OHMS, Chips
from flashtrain.spec.nand import FEATURE_PARAMETERS, DieCommand, DieStatus, Feature
from flashtrain.spec.onfi import JEDEC_BYTES, IdAddress
from flashtrain.spec.onfi import ParameterPage as PageFields
from flashtrain.spec.registers import NandInterface, Register
from flashtrain.spec.timing import ns

from .command_port import ChipPins, CommandPort
from .errors import (
    BringUpError,
    CalibrationFailed,
    ChipMissing,
    DataLineDead,
    FeatureRefused,
    NotDeclared,
    ParameterPageDamaged,
    ReadyLineStuck,
    WrongChip,
)
from .parameter_page import PAGE_BYTES, SIGNATURE, ParameterPage, is_whole

POWER_ON_US = 10_000
"""From the supply to R/B# high: 5 ms of most parts, of which firmware has spent some already."""
FIRST_RESET_US = 10_000
"""The first reset after power-on may take as long (tPOR and tRST of parts: 1 to 5 ms)."""
PAGE_US = 1_000
"""READ PARAMETER PAGE takes tR at most; that of slow cells is some 100 µs."""
FEATURE_US = 10
"""tFEAT is 1 µs at most (ONFI 5.1, section 4.19)."""
CALIBRATION_US = 10
"""tZQCL is 1 µs at most, and tZQCS is shorter (ONFI 4.0)."""


@dataclass(frozen=True)
class Step:
    """A step that a chip has passed, and what it has found."""

    name: str
    outcome: str


@dataclass
class ChipReport:
    """The steps of one chip in their order; `error` is where it has ended, if it did not pass all."""

    channel: int
    die: int
    steps: list[Step] = field(default_factory=list)
    page: ParameterPage | None = None
    mode: int = 0
    error: BringUpError | None = None


def bring_up(
    link: Link,
    fastest: int = 5,
    on_step: Callable[[ChipReport, Step], None] = lambda report, step: None,
    compare: bool = True,
) -> list[ChipReport]:
    """Start every chip of a device, compare it with the configuration, and set the fastest common SDR mode.

    fastest: no faster timing mode is set. on_step: called after each step. compare: whether chips that differ
    from the configuration fail; `probed` makes one of what is there.

    With `chips.sdr` the engines then have SDR in that mode as their data interface.

    A failure of a chip ends its own steps, is in its report, and is no exception. Nothing is programmed and
    nothing erased. Every wait is bounded: a chip takes `FIRST_RESET_US` and some milliseconds at most, and as
    long as its cycles take on the Link. Raises :class:`PortMissing` for a device without a command port.
    """
    g = link.config.geometry
    reports = [
        ChipReport(channel, die) for channel in range(g.channels) for die in range(link.config.chip_enables)
    ]
    with CommandPort(link) as port:
        for report in reports:
            try:
                chip = port.chip(report.channel, report.die)
                for step in chain(
                    _identify(chip, link.config if compare else None, report),
                    _drive(chip, link.config.chips, report),
                ):
                    report.steps.append(step)
                    on_step(report, step)
            except BringUpError as error:
                report.error = error
        sound = [report for report in reports if report.error is None]
        mode = min((_fastest(report, fastest) for report in sound), default=0)
        for report in sound:
            try:
                step = _set_mode(port, report, mode)
                report.steps.append(step)
                on_step(report, step)
            except BringUpError as error:
                report.error = error
            finally:
                port.set_mode(0)
        if link.config.chips.sdr and sound:
            # The engines are paused: they reset the chips in mode 0, and set this one again.
            chosen = mode << NandInterface.mode.low | 1 << NandInterface.sdr.low
            link.write_register(Register.NAND_INTERFACE, chosen)
    return reports


def _identify(chip: ChipPins, config: FmsConfig | None, report: ChipReport) -> Iterator[Step]:
    """The steps in timing mode 0; without a configuration that is compared, if there is none."""
    chip.becomes_ready(POWER_ON_US)  # a chip whose line is stuck answers behind its reset
    is_wired = chip.port.link.config.chips.ready_busy
    if is_wired:
        _ = chip.was_busy  # before the reset
    chip.command(DieCommand.RESET)
    chip.wait_ready(FIRST_RESET_US, "its first reset")
    was_busy = not is_wired or chip.was_busy
    if not was_busy:  # the line has not waited for the chip
        chip.pass_time(FIRST_RESET_US)
    yield Step("reset", "ready")

    identity, signature = read_id(chip, IdAddress.JEDEC, JEDEC_BYTES), read_id(chip, IdAddress.ONFI, 4)
    for level in (0xFF, 0x00):
        if set(identity + signature) == {level}:
            raise ChipMissing(f"{chip} does not answer: READ ID gives {level:02X}h alone")
    _check_lines(chip, signature)
    if signature != SIGNATURE:
        raise WrongChip(
            f"{chip} is no ONFI chip: READ ID 20h gives {signature.hex(' ').upper()}; expected 4F 4E 46 49"
        )
    if not was_busy:
        raise ReadyLineStuck(f"{chip}: R/B# stays high during a reset; is the line wired?")
    yield Step("identity", identity.hex(" ").upper())

    copies = read_parameter_pages(chip)
    page = ParameterPage.find(copies)
    if page is None:
        raise ParameterPageDamaged(
            f"{chip}: no copy of the parameter page has a right CRC, and neither has their majority"
            f"{_still_lines(copies)}"
        )
    report.page = page
    yield Step("parameter page", f"{page.maker} {page.model}, {page.source}")

    if config is None:
        return
    differences = list(_differences(page, config))
    if differences:
        raise WrongChip(f"{chip} ({page.maker} {page.model}) has {', '.join(differences)}")
    yield Step("configuration", f"that of {config.name}")


def _drive(chip: ChipPins, chips: Chips, report: ChipReport) -> Iterator[Step]:
    """Drive strength and its calibration, where the configuration asks for them."""
    page = report.page
    assert page is not None
    if ohms := chips.drive_ohms:
        if ohms not in page.drive_ohms:
            declared = ", ".join(f"{each} ohm" for each in page.drive_ohms) or "none"
            raise NotDeclared(f"{chip} declares no drive strength of {ohms} ohm; it declares {declared}")
        _set_kept(chip, Feature.DRIVE_STRENGTH, DRIVE_OHMS.index(ohms))
        yield Step("drive strength", f"{ohms} ohm")
    if chips.zq_calibration:
        if not page.has_zq_calibration:
            raise NotDeclared(f"{chip} declares no ZQ calibration (bit 13 of its optional commands)")
        for lun in range(chips.luns):
            calibrate(chip, lun)
        yield Step("ZQ calibration", "passed")


def calibrate(chip: ChipPins, lun: int = 0, *, short: bool = False) -> None:
    """ZQ CALIBRATION LONG, or SHORT after a change of temperature or voltage; :class:`CalibrationFailed`."""
    name = "ZQ CALIBRATION " + ("SHORT" if short else "LONG")
    if chip.port.link.config.chips.luns > 1:
        name += f" of LUN {lun}"
    chip.command(DieCommand.ZQ_CALIBRATION_SHORT if short else DieCommand.ZQ_CALIBRATION_LONG)
    chip.address(lun)
    chip.wait_ready(CALIBRATION_US, name)
    status = chip.status(lun)
    if status & DieStatus.FAIL:
        raise CalibrationFailed(f"{chip}: {name} has failed with status {status:02X}h; is ZQ wired?")


def probed(config: FmsConfig, reports: Sequence[ChipReport]) -> FmsConfig:
    """`config` with the die that all chips state: its geometry, and the longest times of its array.

    Channels, chip enables of a channel, buffers and timing of the bus stay as they are. With several LUNs
    each is a die, and what they exclude is off. :class:`WrongChip` for chips that differ; `ConfigError` for a
    die that no controller can have. If a chip has an error, it is raised.
    """
    for report in reports:
        if report.error is not None:
            raise report.error
    pages = [report.page for report in reports if report.page is not None]
    facts = {replace(page, source="") for page in pages}
    if len(facts) > 1:
        models = ", ".join(sorted(f"{page.maker} {page.model}" for page in facts))
        raise WrongChip(f"the chips state different parameter pages ({models}); expected equal chips")
    page = pages[0]
    if page.luns not in (1, 2, 4, 8):
        raise WrongChip(
            f"{page.maker} {page.model} has {page.luns} LUNs behind a CE_n; expected 1, 2, 4 or 8"
        )
    geometry = replace(
        config.geometry, page_bytes=page.page_bytes, spare_bytes=page.spare_bytes, pages=page.pages,
        planes=page.planes, blocks=page.blocks // page.planes, dies=config.chip_enables * page.luns,
    )  # fmt: skip
    chips = replace(config.chips, luns=1)
    if page.luns > 1:
        chips = replace(config.chips, luns=page.luns, suspended_read=False, update=False)
    times = {"tr": page.sense_us, "tprog": page.program_us, "tbers": page.erase_us}
    timing = replace(config.timing, **{name: ns(1000 * us) for name, us in times.items()})
    return replace(config, geometry=geometry, timing=timing, chips=chips)


def read_id(chip: ChipPins, address: int, count: int) -> bytes:
    chip.command(DieCommand.READ_ID)
    chip.address(address)
    return chip.read(count)


def read_parameter_pages(chip: ChipPins) -> list[bytes]:
    """Copies up to the first whole one, three at most; ONFI promises as many at least."""
    chip.command(DieCommand.READ_PARAMETER_PAGE)
    chip.address(0x00)
    chip.wait_ready(PAGE_US, "its parameter page")
    copies: list[bytes] = []
    while len(copies) < PageFields.COPIES and not (copies and is_whole(copies[-1])):
        copies.append(chip.read(PAGE_BYTES))
    return copies


def set_feature(chip: ChipPins, address: int, parameters: bytes) -> None:
    """SET FEATURES: four parameters."""
    chip.command(DieCommand.SET_FEATURES)
    chip.address(address)
    chip.write(parameters)
    chip.wait_ready(FEATURE_US, f"feature {address:02X}h")


def get_feature(chip: ChipPins, address: int) -> bytes:
    """GET FEATURES: four parameters."""
    chip.command(DieCommand.GET_FEATURES)
    chip.address(address)
    chip.wait_ready(FEATURE_US, f"feature {address:02X}h")
    return chip.read(FEATURE_PARAMETERS)


def _set_kept(chip: ChipPins, feature: Feature, value: int, then: Callable[[], None] = lambda: None) -> None:
    """Set a feature, do `then`, and read it back; :class:`FeatureRefused`."""
    wanted = bytes([value, 0, 0, 0])
    set_feature(chip, feature, wanted)
    then()
    kept = get_feature(chip, feature)
    if kept != wanted:
        raise FeatureRefused(
            f"{chip}: feature {feature:02X}h is {kept.hex(' ').upper()} after it was set to"
            f" {wanted.hex(' ').upper()}"
        )


def _check_lines(chip: ChipPins, signature: bytes) -> None:
    """A line that alone spoils the signature, with one level, is dead."""
    wrong = [got ^ right for got, right in zip(signature, SIGNATURE, strict=True)]
    lines = [line for line in range(8) if any(one >> line & 1 for one in wrong)]
    if len(lines) == 1:
        levels = {one >> lines[0] & 1 for one in signature}
        if len(levels) == 1:
            raise DataLineDead(f"{chip}: data line DQ{lines[0]} is always {levels.pop()}")


def _still_lines(copies: list[bytes]) -> str:
    """Data lines that never change in all copies, as a hint."""
    content = b"".join(copies)
    still = [line for line in range(8) if len({byte >> line & 1 for byte in content}) == 1]
    names = ", ".join(f"DQ{line} is always {content[0] >> line & 1}" for line in still)
    return f"; {names}" if names else ""


def _differences(page: ParameterPage, config: FmsConfig) -> Iterator[str]:
    g = config.geometry
    for name, actual, expected in (
        ("page_bytes", page.page_bytes, g.page_bytes),
        ("pages", page.pages, g.pages),
        ("planes", page.planes, g.planes),
        ("blocks of a plane", page.blocks // page.planes, g.blocks),
        ("LUNs", page.luns, config.chips.luns),
    ):
        if actual != expected:
            yield f"{name} {actual:,}; expected {expected:,}"
    if page.spare_bytes < g.spare_bytes:
        yield f"spare_bytes {page.spare_bytes:,}; expected {g.spare_bytes:,} at least"
    if not page.sdr_modes:
        yield "no SDR timing mode; expected mode 0 at least"


def _fastest(report: ChipReport, fastest: int) -> int:
    assert report.page is not None
    return max((mode for mode in report.page.sdr_modes if mode <= fastest), default=0)


def _set_mode(port: CommandPort, report: ChipReport, mode: int) -> Step:
    """The chip first, then the port; the identity must come as before."""
    chip = port.chip(report.channel, report.die)
    _set_kept(chip, Feature.TIMING_MODE, mode, lambda: port.set_mode(mode))
    signature = read_id(chip, IdAddress.ONFI, 4)
    if signature != SIGNATURE:
        raise FeatureRefused(
            f"{chip} answers READ ID 20h with {signature.hex(' ').upper()} in timing mode {mode}"
        )
    report.mode = mode
    return Step("timing mode", f"SDR mode {mode}")
