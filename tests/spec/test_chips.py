"""What chips have, of data interfaces and optional commands, and what a configuration with them needs."""

from dataclasses import fields, replace

import pytest

from flashtrain.rtl.die import Die
from flashtrain.spec import Chips, ConfigError, config_text, load_config
from flashtrain.spec.nand import SEQUENCES, BusOp, chosen_by_status, sequences
from flashtrain.spec.presets import PRESETS, TINY
from flashtrain.spec.sdr import most_pad_ns, with_sdr_waits
from flashtrain.spec.timing import ns

ERASES = {"erase_suspend": 0x61, "erase_resume": 0xD2}
SDR_TINY = replace(
    TINY, name="sdr_tiny", timing=with_sdr_waits(TINY.timing), chips=Chips(ddr=False, sdr=True, sdr_mode=5)
)


def test_presets_have_all_commands_and_one_interface():
    with_sca = {name for name, config in PRESETS.items() if config.chips != Chips()}
    assert with_sca == {"g9_slc", "g9_drive"}
    assert all(PRESETS[name].chips == Chips(sca=True) for name in with_sca)
    assert all(config.engine_modes == {} for config in PRESETS.values())
    assert sequences(Chips()) == SEQUENCES


def test_plain_commands_take_the_place_of_others():
    changed = {
        op: sequence
        for op, sequence in sequences(Chips(cache_program=False, change_plane=False)).items()
        if sequence != SEQUENCES[op]
    }
    assert {
        op: [None if part is None else int(part) for part in sequence] for op, sequence in changed.items()
    } == {
        BusOp.PROGRAM_LAST: [None, 0, None, 1, 0x10],
        BusOp.SELECT: [0x00, 0, None, 0, None],
    }


def test_78h_comes_first_with_several_luns():
    """In front of 06h; where 00h takes its place it is part of the sequence."""
    luns = Chips(luns=2, suspended_read=False, update=False)
    plain = replace(luns, change_plane=False)
    assert (chosen_by_status(Chips()), chosen_by_status(luns)) == ((), (BusOp.SELECT,))
    assert sequences(luns)[BusOp.SELECT] == SEQUENCES[BusOp.SELECT]
    assert chosen_by_status(plain) == ()
    assert sequences(plain)[BusOp.SELECT][:3] == (0x78, 3, 0x00)


@pytest.mark.parametrize("row", [False, True])
def test_commands_of_a_maker(row):
    """They have the operations of suspended reads, and a row address if the chip takes one."""
    chips = Chips(
        suspended_read=False, cache_program=False, program_suspend=0x84, program_resume=0x13,
        suspend_row=row, **ERASES,
    )  # fmt: skip
    assert {op: tuple(sequences(chips)[op][:3]) for op in (14, 15, 16, 17)} == {
        op: (command, 3 * row, None) for op, command in ((14, 0x84), (15, 0x13), (16, 0x61), (17, 0xD2))
    }
    erases = Chips(suspended_read=False, **ERASES)
    assert sequences(erases)[BusOp.SUSPENDED_READ_MORE] == SEQUENCES[BusOp.SUSPENDED_READ_MORE]
    assert erases.suspends_erases and not erases.suspends_programs


def test_simulated_dies_have_commands_of_their_own():
    with pytest.raises(ConfigError, match=r"\(0, 97\); expected 0 for simulated dies"):
        Die(replace(TINY, chips=Chips(suspended_read=False, **ERASES)))


def test_a_mode_is_chosen_at_run_time_by_a_command_port():
    assert list(SDR_TINY.engine_modes) == [0, 5]
    assert list(replace(SDR_TINY, command_port=True).engine_modes) == [0, 1, 2, 3, 4, 5]


def test_the_bound_is_that_of_the_interface():
    """A byte in 12 cycles of 600 MHz, on two channels."""
    assert SDR_TINY.channel_bytes_per_second == pytest.approx(2 * 50e6)
    both = replace(SDR_TINY, command_port=True, chips=Chips(sdr=True))
    assert both.channel_bytes_per_second == TINY.channel_bytes_per_second


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ddr": False}, r"chips\.sdr is False; expected true without chips\.ddr"),
        ({"sdr_mode": 6}, r"chips\.sdr_mode is 6; expected an integer from 0 to 5"),
        ({"cache_read": False}, r"chips\.random_cache_read is True; expected false without"),
        ({"sca": True, "sdr": True}, r"chips\.sca is True; expected false without chips\.ddr, or with"),
        ({"luns": 2}, r"chips\.suspended_read is True; expected false with 2 LUNs"),
        ({"luns": 2, "suspended_read": False}, r"chips\.update is True; expected false with 2 LUNs"),
        ({"luns": 2, "suspended_read": False, "update": False, "sca": True},
         r"chips\.sca is True; expected false with 2 LUNs"),
        ({"luns": 9}, r"chips\.luns is 9; expected an integer from 1 to 8"),
        ({"update": 1}, r"chips\.update is 1; expected true or false"),
        ({"program_suspend": 0x84}, r"chips\.program_resume is 0; expected another command than"),
        ({"erase_resume": 0xD2}, r"chips\.erase_resume is 210; expected another command than"),
        ({"erase_suspend": 0x61, "erase_resume": 0x61}, r"chips\.erase_resume is 97; expected another"),
        (ERASES, r"chips\.suspended_read is True; expected false with suspend commands"),
        ({"suspended_read": False, "program_suspend": 0x84, "program_resume": 0x13},
         r"chips\.cache_program is True; expected false with chips\.program_suspend"),
        ({"program_suspend": 256}, r"chips\.program_suspend is 256; expected an integer from 0 to 255"),
        ({"drive_ohms": 37}, r"chips\.drive_ohms is 37; expected 0 or one of 18, 25, 35, 50"),
    ],
)  # fmt: skip
def test_chips_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        Chips(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chips": Chips(sdr=True)}, r"timing\.tadl is 150 ns; expected at least 400 ns with chips\.sdr"),
        ({"chips": Chips(multi_plane=False)}, r"geometry\.planes is 2; expected 1 without chips\."),
        ({"chips": Chips(change_plane=False)},
         r"chips\.multi_plane_read is True; expected false without chips\.change_plane"),
        ({"chips": Chips(sdr=True), "timing": with_sdr_waits(TINY.timing)},
         r"config\.command_port is False; expected true with chips\.ddr and chips\.sdr"),
        ({"chips": Chips(drive_ohms=35)},
         r"config\.command_port is False; expected true with chips\.drive_ohms"),
        ({"chips": Chips(zq_calibration=True)}, r"config\.command_port is False; expected true"),
        ({"chips": Chips(sca=True), "command_port": True},
         r"config\.command_port is True; expected false with chips\.sca"),
        ({"chips": Chips(sca=True), "timing": replace(TINY.timing, tca=ns(8))},
         r"timing\.tca is 8 ns; expected at least 10\.0 ns, 6 cycles of 600 MHz with chips\.sca"),
        ({"chips": None}, r"chips is None; expected Chips"),
    ],
)  # fmt: skip
def test_configurations_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        replace(TINY, **changes)


def test_a_gap_takes_the_selection_of_a_die_or_the_turn_of_the_bus():
    """30 ns of a packet and 30 to the first byte, at 600 MHz; or tCHZ."""
    assert TINY.timing.burst_gap == 36
    assert replace(TINY.timing, tchz=ns(100)).burst_gap == 60


def test_the_selection_of_a_die_passes_within_tccs():
    """With SCA a page is asked for so early that it begins when tCCS is over."""
    assert TINY.column_change_cycles == 180
    with_sca = replace(TINY, chips=Chips(sca=True))
    assert with_sca.column_change_cycles == 180 - 36
    assert replace(with_sca, timing=replace(TINY.timing, tccs=ns(40))).column_change_cycles == 1


def test_pads_that_take_too_long_are_refused():
    """At 600 MHz in mode 5: RE_n may fall again, with the byte there for 5 ns more, from 16 ns on."""
    most = most_pad_ns(5, 600)
    assert replace(SDR_TINY, pad_ns=most).channel_bytes_per_second == SDR_TINY.channel_bytes_per_second
    message = rf"config\.pad_ns is {most + 1}; expected at most {most} ns in SDR mode 5 at 600 MHz"
    with pytest.raises(ConfigError, match=message):
        replace(SDR_TINY, pad_ns=most + 1)


def test_retries_need_nv_ddr3():
    levels = replace(SDR_TINY, code_strength=9)
    with pytest.raises(ConfigError, match=r"config\.read_levels is 3; expected 0 with chips\.sdr"):
        replace(levels, read_levels=3)


def test_waits_are_those_of_mode_0_or_longer():
    timing = with_sdr_waits(replace(TINY.timing, tccs=ns(800), trr=ns(20, cycles=6)))
    assert (timing.tccs.ns, timing.tadl.ns, timing.trr) == (800, 400, ns(40, cycles=6))


def test_a_file_keeps_them(tmp_path):
    path = tmp_path / "sdr_tiny.toml"
    path.write_text(config_text(SDR_TINY), encoding="utf-8")
    assert load_config(path) == SDR_TINY
    path.write_text('base = "tiny"\n[chips]\ncache_program = false\n', encoding="utf-8")
    assert load_config(path).chips == Chips(cache_program=False)
    assert {field.name for field in fields(Chips)} <= set(config_text(TINY).replace("=", " ").split())
