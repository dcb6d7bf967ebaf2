"""Wrong rules planted in the functional model: the oracle finds each of them."""

from collections.abc import Callable

import numpy as np
import pytest

from flashtrain.host.functional import executor
from flashtrain.host.functional.checks import Checker
from flashtrain.host.functional.content import StreamContent
from flashtrain.host.functional.executor import Executor
from flashtrain.host.functional.link import FunctionalLink
from flashtrain.host.functional.queues import PortQueues
from flashtrain.host.functional.storage import Storage
from flashtrain.host.functional.submission_entry import SubmissionEntry
from flashtrain.host.functional.zones import StreamZones
from flashtrain.numerics.codec import decode_page
from flashtrain.numerics.codec.elements import stored_slices
from flashtrain.spec import Port, Status, ZoneState
from flashtrain.spec.codec import CHECK_BYTES, Refusal, page_check, slice_user_bytes
from flashtrain.spec.registers import DOORBELL_BASE, MAX_STREAMS, sq_tail_doorbell
from flashtrain.spec.streams import Codec
from flashtrain.stress.fuzz import Disagreement

COMMANDS = 10_000
IN_A_SHARED_BATCH = "no order between the ports explains"


def fields_before_permission(patch):
    """Check 5 before check 4."""
    right, allowed = Checker.status, Checker._allowed

    def status(self, port, request):
        found = right(self, port, request)
        if found is Status.ACCESS_DENIED and allowed(self, port, request) is False:
            return found if self._fields.valid(request) else Status.INVALID_FIELD
        return found

    patch.setattr(Checker, "status", status)


def no_permission_check(patch):
    patch.setattr(Checker, "_allowed", lambda self, port, request: True)


def host_rights_for_the_core(patch):
    right = Checker._allowed
    patch.setattr(Checker, "_allowed", lambda self, port, request: right(self, 0 * port, request))


def one_more_open_zone(patch):
    right = StreamZones._resources_to_open

    def resources(self, zone):
        found = right(self, zone)
        open_zones = [z for z in self.zones if "OPEN" in z.state.name]
        if found is Status.TOO_MANY_OPEN_ZONES and len(open_zones) == self._config.max_open:
            return Status.SUCCESS
        return found

    patch.setattr(StreamZones, "_resources_to_open", resources)


def write_pointer_off_by_one(patch):
    """A block too far, where the zone has room for it."""
    right = StreamZones._take

    def take(self, zone, blocks):
        right(self, zone, blocks)
        zone.written += zone.state is not ZoneState.FULL

    patch.setattr(StreamZones, "_take", take)


def read_past_its_buffer(patch):
    right = Executor._read

    def read(self, request, content, index, offset):
        status = right(self, request, content, index, offset)
        end = request.address + request.length
        if status is Status.SUCCESS and end < len(self._memory):
            self._memory[end] ^= 1
        return status

    patch.setattr(Executor, "_read", read)


def end_of_memory_off_by_one(patch):
    """An append may read the byte behind the tensor buffer."""
    right = Checker._data_pointer

    def data_pointer(self, request):
        outside = right(self, request) is Status.DATA_TRANSFER_ERROR
        end = request.address + request.length
        return Status.SUCCESS if outside and end < self.memory_bytes + 512 else right(self, request)

    patch.setattr(Checker, "_data_pointer", data_pointer)


def append_while_pinned(patch):
    right = StreamContent.condition

    def condition(self, request, source):
        found = right(self, request, source)
        return Status.SUCCESS if found is Status.NAMESPACE_WRITE_PROTECTED else found

    patch.setattr(StreamContent, "condition", condition)


def page_of_a_neighbour(patch):
    """The first page of a longer read comes twice."""
    right = Storage.read

    def read(self, zone, offset, out):
        lost = right(self, zone, offset, out)
        if len(out) > 2:
            out[1] = out[0]
        return lost

    patch.setattr(Storage, "read", read)


def completion_twice(patch):
    right, posts = PortQueues.post, []

    def post(self, cid, status, result):
        right(self, cid, status, result)
        posts.append(cid)
        if len(posts) % 300 == 0 and self.room:
            right(self, cid, status, result)

    patch.setattr(PortQueues, "post", post)


def completion_lost(patch):
    right, posts = PortQueues.post, []

    def post(self, cid, status, result):
        posts.append(cid)
        if len(posts) % 300:
            right(self, cid, status, result)

    patch.setattr(PortQueues, "post", post)


def doorbell_past_the_queue(patch):
    """It is taken modulo the queue, and not noted."""
    right = FunctionalLink.write_register

    def write_register(self, address, value):
        tail = {sq_tail_doorbell(port): port for port in Port}.get(address)
        if tail is not None and self._queues:
            value %= self._queues[tail].sq_size
        right(self, address, value)

    patch.setattr(FunctionalLink, "write_register", write_register)


def data_never_expire(patch):
    patch.setattr(StreamZones, "expired", lambda self, index: False)


PLANTED: dict[Callable, str] = {
    fields_before_permission: "rule 4: ",
    no_permission_check: "rule 4: ",
    host_rights_for_the_core: "rule 4: |answered ACCESS_DENIED",
    one_more_open_zone: "rule 9: an open resource",
    write_pointer_off_by_one: "expected SUCCESS|of what this command writes",
    read_past_its_buffer: "a forbidden access|of what this command writes",
    end_of_memory_off_by_one: "rule 6: address range inside",
    append_while_pinned: "rule 8: not pinned",
    page_of_a_neighbour: "of what this command writes",
    completion_twice: "which is not in flight|writes each completion once",
    completion_lost: "not answered",
    data_never_expire: "rule 9: the zone is not expired|rule 9: the source's zone is not",
    doorbell_past_the_queue: "BAD_DOORBELL set|not in flight|past what was submitted",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant, attack, monkeypatch):
    plant(monkeypatch)
    with pytest.raises(Disagreement, match=f"{PLANTED[plant]}|{IN_A_SHARED_BATCH}"):
        attack(COMMANDS)


def bound_not_reserved(patch):
    """The zone has room for what an append takes, not for what it may take."""
    right = StreamZones.append_encoded
    patch.setattr(
        StreamZones, "append_encoded", lambda self, index, blocks, bound: right(self, index, blocks, blocks)
    )


def full_by_an_encoded_append(patch):
    right = StreamZones._take
    patch.setattr(StreamZones, "_take", lambda self, zone, blocks, fills=True: right(self, zone, blocks))


def write_to_a_stream_with_a_codec(patch):
    patch.setattr(Checker, "_needs_raw", lambda self, entry: False)


def exact_ignored(patch):
    patch.setattr(SubmissionEntry, "codec", lambda self, of_stream: of_stream)


def pages_of_two_appends(patch):
    """A read of the last pages of one append and the first ones of the next."""

    def decode(pages, codec, out):
        end, slice_bytes = stored_slices(out.nbytes, codec), slice_user_bytes(codec)
        decoded = [decode_page(page, codec, end) for page in pages]
        parts = [part for part in decoded if not isinstance(part, Refusal)]
        for header, part in parts:
            out[slice_bytes * header.first :][: len(part)] = np.frombuffer(part, np.uint8)
        return len(parts) == len(pages)

    patch.setattr(executor, "decode", decode)


def damaged_page_taken(patch):
    """The check of a page is always right."""

    def decode(pages, codec, out):
        for page in pages:
            check = page_check(page[:-CHECK_BYTES].tobytes()).to_bytes(CHECK_BYTES, "little")
            page[-CHECK_BYTES:] = np.frombuffer(check, np.uint8)
        return right(pages, codec, out)

    right = executor.decode
    patch.setattr(executor, "decode", decode)


def a_refused_read_past_its_buffer(patch):
    right = Executor._read_encoded

    def read(self, request, content, index, offset):
        status = right(self, request, content, index, offset)
        end = request.address + request.length
        if status is Status.CODED_PAGE_ERROR and end < len(self._memory):
            self._memory[end] ^= 1
        return status

    patch.setattr(Executor, "_read_encoded", read)


def rounding_down(patch):
    """FP32 to BF16 without its lower half."""

    def encode(data, codec, page_bytes):
        if codec is Codec.ROUND16:
            data = (data.view(np.uint32) & 0xFFFF_0000).view(np.uint8)
        return right(data, codec, page_bytes)

    right = executor.encode
    patch.setattr(executor, "encode", encode)


PLANTED_IN_CODED: dict[Callable, str] = {
    bound_not_reserved: "rule 9: blocks fit below the capacity",
    full_by_an_encoded_append: "answered ZONE_IS_FULL|of what this command writes",
    write_to_a_stream_with_a_codec: "rule 4: a write or update is of no|rule 4: the source of an update has",
    exact_ignored: "rule 5: the bound|expected SUCCESS|of what this command writes|rule a coded page",
    pages_of_two_appends: "rule a coded page",
    damaged_page_taken: "rule a coded page",
    a_refused_read_past_its_buffer: "a forbidden access|of what this command writes",
    # It also takes fewer blocks, where rounding up leaves the window.
    rounding_down: "of what this command writes|rule all checks pass",
}


@pytest.mark.parametrize("plant", PLANTED_IN_CODED, ids=lambda plant: plant.__name__)
def test_a_fault_planted_in_coded_streams_is_found(plant, attack, monkeypatch):
    plant(monkeypatch)
    with pytest.raises(Disagreement, match=f"{PLANTED_IN_CODED[plant]}|{IN_A_SHARED_BATCH}"):
        attack(COMMANDS, name="tiny_codec")


class Scribbler(FunctionalLink):
    """Writes to the last byte of the tensor buffer, which the host has not told it of, at each doorbell."""

    def write_register(self, address: int, value: int) -> None:
        super().write_register(address, value)
        if address >= DOORBELL_BASE:
            self.memory[-1] ^= 1


def test_of_two_devices_the_wrong_one_is_named(attack):
    with pytest.raises(Disagreement, match=r"scribbler: byte 0x3ffff .* a forbidden access"):
        attack(COMMANDS, {"functional": FunctionalLink, "scribbler": Scribbler})


def test_what_was_found_is_made_small(attack, monkeypatch):
    """A denied command that is carried out needs itself and an enable; what ends a shared batch stays."""
    no_permission_check(monkeypatch)
    with pytest.raises(Disagreement) as found:
        attack(COMMANDS, minimising_seconds=60.0)
    listed = str(found.value).split("It takes no more than:")[1].split("to see:")[0]
    assert 1 <= listed.count(" of port ") <= 1 + 2 * MAX_STREAMS and listed.count("Enable(") == 1
