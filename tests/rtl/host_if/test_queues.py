"""Submission fetch and completion writer together, between a host with two queue pairs and answers."""

from dataclasses import replace
from pathlib import Path

import pytest
from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.host_if.completion import CompletionWriter
from flashtrain.rtl.host_if.fetch import QueueSettings, SubmissionFetch
from flashtrain.rtl.layouts import Answer, Entry
from flashtrain.rtl.lib.axi import Axi4Signature
from flashtrain.rtl.lib.axi_guard import AxiGuard
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.registers import PORTS

SOURCES = 2
COMMANDS = 256


class Queues(wiring.Component):
    """Everything of the queue AXI port but reports; entries and answers are the bench's.

    Members
    -------
    enable : In(1), queues : In(QueueSettings).array(PORTS)   as of `RegisterFile`
    pins : Out(Axi4Signature)
    entries : Out(stream(Entry))
    answers : In(stream(Answer)).array(SOURCES)
    written, failed, fault, fetched, idle : Out
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "enable": In(1),
            "queues": In(QueueSettings(config)).array(PORTS),
            "pins": Out(Axi4Signature(address_bits=config.address_bits, data_bits=64)),
            "entries": Out(stream.Signature(Entry())),
            "answers": In(stream.Signature(Answer(config))).array(SOURCES),
            "written": Out(PORTS),
            "failed": Out(1),
            "fault": Out(1),
            "fetched": Out(1),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.fetch = fetch = SubmissionFetch(self.config)
        m.submodules.completion = completion = CompletionWriter(self.config, SOURCES)
        m.submodules.guard = guard = AxiGuard(address_bits=self.config.address_bits, data_bits=64)
        connect(m, fetch.axi, guard.read)
        connect(m, completion.axi, guard.write)
        connect(m, guard.pins, flipped(self.pins))
        connect(m, fetch.entries, flipped(self.entries))
        for number, answers in enumerate(self.answers):
            connect(m, flipped(answers), completion.answers[number])
        for port in range(PORTS):
            connect(m, flipped(self.queues[port]), fetch.queues[port])
            connect(m, flipped(self.queues[port]), completion.queues[port])
            m.d.comb += completion.sq_head[port].eq(fetch.head[port])
        m.d.comb += [
            fetch.enable.eq(self.enable),
            fetch.answered.eq(completion.written),
            self.written.eq(completion.written),
            self.failed.eq(completion.failed),
            self.fault.eq(completion.fault),
            self.fetched.eq(fetch.fetched),
            self.idle.eq(fetch.idle),
        ]
        return m


@pytest.mark.one_simulator
def test_queues(simulator, seed):
    bench = Path(__file__).with_name("queues_bench.py")
    # More commands in flight than any of the bench's tests but one submits.
    config = replace(preset("tiny"), commands=COMMANDS)
    run_bench(Queues(config), "queues", bench, simulator=simulator, seed=seed)
