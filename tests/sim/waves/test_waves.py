"""Waves agree with the trace: pins of a bus in the cycles of its events; registers are there besides."""

import re
from bisect import bisect_right
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from vcd.reader import ScalarChange, TokenKind, VectorChange, tokenize

from flashtrain.host import open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.trace import Kind
from flashtrain.sim.trace.window import NoTrace
from flashtrain.sim.verilator.cxx import WaveFormat
from flashtrain.sim.waves.wave_link import WaveError, WaveLink
from flashtrain.spec import FmsConfig, preset
from flashtrain.writing import OutputError

CONFIG = preset("tiny")


def open_waves(config: FmsConfig, memory_bytes: int) -> WaveLink:
    return WaveLink(config, memory_bytes, WaveFormat.VCD)


def in_ps(cycle: int) -> int:
    """The moment at which the values of a cycle are in the file; its edge is half a cycle later."""
    return 2 * cycle * 500_000 // CONFIG.timing.clock_mhz


class Waves:
    """A VCD file: signals by their paths, and the values of some of them over time."""

    def __init__(self, path: Path, wanted: str) -> None:
        self.names: dict[str, str] = {}
        scopes: list[str] = []
        shown: dict[str, list[str]] = defaultdict(list)
        self.changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.times: list[int] = []
        with path.open("rb") as file:
            for token in tokenize(file):
                match token.kind:
                    case TokenKind.SCOPE:
                        scopes.append(token.scope.ident)
                    case TokenKind.UPSCOPE:
                        scopes.pop()
                    case TokenKind.VAR:
                        name = ".".join([*scopes, token.var.reference])
                        self.names[name] = token.var.id_code
                        if re.search(wanted, name):
                            shown[token.var.id_code].append(name)
                    case TokenKind.CHANGE_TIME:
                        self.times.append(token.time_change)
                    case TokenKind.CHANGE_SCALAR:
                        self._note(shown, token.scalar_change)
                    case TokenKind.CHANGE_VECTOR:
                        self._note(shown, token.vector_change)
                    case _:
                        pass

    def _note(self, shown: dict[str, list[str]], change: ScalarChange | VectorChange) -> None:
        for name in shown.get(change.id_code, ()):
            self.changes[name].append((self.times[-1], int(change.value)))

    def at(self, name: str, cycle: int) -> int:
        """The value of a signal in a cycle, before its edge."""
        changes = self.changes[name]
        return changes[bisect_right(changes, in_ps(cycle), key=lambda change: change[0]) - 1][1]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The waves of an append on one Link, and the events of the same append on another."""
    path = tmp_path_factory.mktemp("waves") / "append.vcd"
    data = np.arange(700, dtype=np.float32)
    events, window = [], (0, 0)
    for factory in (open_waves, RtlLink):
        with open_device(CONFIG, factory) as device:
            link = device.link
            assert isinstance(link, RtlLink)
            begin = device.cycles
            link.set_tracing(True)
            if isinstance(link, WaveLink):
                link.wave(path, begin + 40, begin + 4000)
            stream = device.stream("activations")
            stream.append(data)
            stream.flush()
            events.append(link.take_trace())
            window = begin + 40, min(begin + 4000, device.cycles)
            if isinstance(link, WaveLink):
                assert link.end_waves() == window[1] - window[0]
    assert np.array_equal(events[0], events[1])
    waves = Waves(path, r"TOP\.(whole\.)?(channel_0_\w+|clk|cycle)$|checker\.(count|violations)$")
    return waves, events[0], window


def test_the_window_is_whole(run):
    waves, _events, (begin, end) = run
    assert waves.times[0] == in_ps(begin)
    assert in_ps(end - 1) < waves.times[-1] < in_ps(end)
    (cycle,) = {name for name in waves.changes if name.endswith("TOP.cycle")}
    assert [waves.at(cycle, number) for number in range(begin, begin + 20)] == [*range(begin, begin + 20)]


def test_pins_move_in_the_cycles_of_the_events(run):
    """A page to a die: CE_n is low and the strobe is high in each cycle of the event, and not around it."""
    waves, events, (begin, end) = run
    inside = events[(events["channel"] == 0) & (events["start"] > begin) & (events["end"] + 2 < end)]
    pages = inside[inside["kind"] == Kind.DATA_IN].tolist()
    assert pages
    for start, stop, _kind, _channel, die, _plane in pages:
        for cycle in (start, (start + stop) // 2, stop):
            assert waves.at("TOP.channel_0_dqs_o", cycle) == 1
            assert not waves.at("TOP.channel_0_ce_n", cycle) >> die & 1
        assert waves.at("TOP.channel_0_dqs_o", start - 1) == waves.at("TOP.channel_0_dqs_o", stop + 1) == 0
    programs = inside[inside["kind"] == Kind.PROGRAM].tolist()
    for start, stop, _kind, _channel, die, _planes in programs:
        ready = [waves.at("TOP.channel_0_rb_n", cycle) >> die & 1 for cycle in (start + 2, stop - 1)]
        assert ready == [0, 0]
    commands = inside[inside["kind"] == Kind.COMMAND].tolist()
    assert commands
    for start, stop, _kind, _channel, _die, code in commands:
        cycles = range(start, stop + 1)
        latched = [cycle for cycle in cycles if waves.at("TOP.channel_0_cle", cycle)]
        assert code in {waves.at("TOP.channel_0_dq_o", cycle) & 0xFF for cycle in latched}


def test_registers_of_all_parts_are_there(run):
    names = run[0].names
    for part in ("fetch", "tracker", "write_buffer", "read_buffer", "die0", "checker"):
        assert any(f".{part}" in name for name in names), part
    assert len(names) > 3000


def test_a_file_that_cannot_be_written(tmp_path):
    with open_device(CONFIG, open_waves) as device:
        link = device.link
        assert isinstance(link, WaveLink)
        with pytest.raises(OutputError, match="is a folder; expected a file to write"):
            link.wave(tmp_path)
        link.wave(tmp_path / "a.vcd", begin=device.cycles + 10_000_000)
        with pytest.raises(NoTrace, match=r"a\.vcd is empty: the run has ended at cycle"):
            link.end_waves()
        with pytest.raises(WaveError, match=r"expected one file of waves"):
            link.wave(tmp_path / "b.vcd")
