"""Queues: wrapping, full ones, many commands in flight, and what completions say."""

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.host.queues.queue_pair import QueuePair
from flashtrain.spec import Completion, Opcode, Port, Status
from flashtrain.spec.registers import Register, cq_head_doorbell, sq_tail_doorbell


@pytest.mark.parametrize("entries", [2, 3, 5, 64])
def test_queues_wrap(link, entries):
    with open_device(link=link, queue_entries=entries) as device:
        stream = device.stream("activations")
        stored = [stream.append(np.full(3, i)) for i in range(3 * entries if entries < 64 else 70)]
        assert [one.lba for one in stored[:3]] == [0, 1, 2]
        pendings = [stream.read_async(one) for one in stored]
        for i, back in enumerate(device.wait(pendings)):
            assert (back == i).all()


def test_many_commands_in_flight_on_both_ports(device, seed):
    random = np.random.default_rng(seed)
    host, core = device.stream("inputs", Port.HOST), device.stream("activations")
    arrays = [random.standard_normal(random.integers(1, 200)) for _ in range(20)]
    pendings = [(core if i % 2 else host).append_async(array) for i, array in enumerate(arrays)]
    stored = device.wait(pendings)
    inputs = device.stream("inputs")
    reads = [(core if i % 2 else inputs).read_async(one) for i, one in enumerate(stored)]
    for back, array in zip(device.wait(reads), arrays, strict=True):
        assert np.array_equal(back, array)
    # An array over the end of a zone takes a command for each of its parts.
    assert device.counters()["COMMANDS"] == 2 * sum(len(one.extents) for one in stored)


def test_completions_name_their_command(device, raw):
    entries = [
        (port, raw.entry(Opcode.FLUSH, "trained", cid=0xABC0 + i)) for i, port in enumerate((0, 1, 1, 0))
    ]
    answers = device.submit_raw_batch(entries)
    assert {(a.port, a.cid) for a in answers} == {(p, 0xABC0 + i) for i, p in enumerate((0, 1, 1, 0))}
    assert {a.status for a in answers if a.port == Port.CORE} == {Status.SUCCESS}
    assert {a.status for a in answers if a.port == Port.HOST} == {Status.ACCESS_DENIED}
    assert all(a.result == 0 for a in answers)


def test_append_results_are_addresses_of_the_stream(device, raw, config):
    zone = config.geometry.zone_size
    assert [raw.answer(Opcode.ZONE_APPEND, nlb=1, slba=s).result for s in (zone, zone, 0)] == [
        zone,
        zone + 2,
        0,
    ]
    assert raw.answer(Opcode.WRITE, slba=2).result == 0


def test_a_full_completion_queue_waits_for_its_head(device, link, raw, parse):
    """Submit more than the completion queue holds without taking any: the rest come when there is room."""
    entries = 5
    size = QueuePair.size_bytes(entries)
    device.disable()
    with open_device(link=link, queue_entries=entries) as narrow:
        del narrow
        sq = link.memory[size : size + 64 * entries].reshape(entries, 64)
        cq = link.memory[size + 64 * entries :][: Completion.BYTES * entries].reshape(
            entries, Completion.BYTES
        )
        tail, taken, phase, head = 0, [], 1, 0

        def push(cid):
            nonlocal tail
            sq[tail] = np.frombuffer(raw.entry(0xEE, cid=cid), np.uint8)
            tail = (tail + 1) % entries
            link.write_register(sq_tail_doorbell(Port.CORE), tail)
            link.run(2000)

        def present():
            return [i for i in range(entries) if parse(cq[i].tobytes()).status == Status.INVALID_OPCODE]

        for cid in range(4):
            push(cid)
        assert present() == [0, 1, 2, 3]  # one place stays free
        push(4), push(5)
        assert cq[4].any() == 0
        for _ in range(6):
            link.run(2000)
            entry = cq[head]
            assert entry[14] & 1 == phase
            taken.append(parse(entry.tobytes()).cid)
            head += 1
            if head == entries:
                head, phase = 0, 0
            link.write_register(cq_head_doorbell(Port.CORE), head)
        assert taken == [0, 1, 2, 3, 4, 5]


def test_interrupts_can_be_masked(device, link):
    stream = device.stream("activations")
    stream.append(np.ones(1))
    link.write_register(Register.INTERRUPT, 3)
    assert link.read_register(Register.INTERRUPT) == 0
    link.write_register(Register.INTERRUPT_MASK, 0)
    pending = stream.append_async(np.ones(1))
    assert not link.wait()  # nothing left to do, and no interrupt
    assert link.read_register(Register.INTERRUPT) == 1 << Port.CORE
    link.write_register(Register.INTERRUPT_MASK, 3)
    assert link.wait()
    assert pending.done and pending.result().blocks == 1
