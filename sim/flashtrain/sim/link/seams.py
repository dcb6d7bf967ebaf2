# amaranth: UnusedElaboratable=no
"""The seams of the controller that a recording observes: streams between its blocks, and to its channels.

Nothing is added to the hardware for it. The simulated system is cut at these seams anyway
(`flashtrain.sim.partition`), and the values there are those of the streams' own signals.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.lib import data

from flashtrain.rtl.channel.block_table import BlockEntry, BlockPlace
from flashtrain.rtl.layouts import (
    Answer,
    Entry,
    Opening,
    PageEvent,
    ReadHead,
    ReadPage,
    ReturnedPage,
    WritePage,
)
from flashtrain.sim.link.recording import SeamKind
from flashtrain.spec import FmsConfig, Submission
from flashtrain.spec.registers import PORTS

_POSTED = "completion", "written"
_PLACE = ("zone", "page", "die", "plane")


@dataclass(frozen=True)
class Seam:
    """A stream between two blocks, observed at `part` of the component's cut.

    fields: of the record, and the names of the payload's fields that they take.
    ready: the port that is the stream's ready; "": its own.
    """

    kind: SeamKind
    part: str
    stream: str
    payload: data.Layout
    fields: dict[str, str]
    ready: str = ""

    @property
    def ports(self) -> Iterator[tuple[str, str]]:
        yield self.part, f"{self.stream}__valid"
        yield self.part, self.ready or f"{self.stream}__ready"
        yield self.part, f"{self.stream}__payload"


def front_end_seams(config: FmsConfig) -> list[Seam]:
    tag = {"tag": "tag"}
    who = {"port": "port", "cid": "cid"}
    return [
        Seam(SeamKind.FETCHED, "fetch", "entries", Entry(), {"port": "port"}),
        Seam(SeamKind.OPENED, "tracker", "opening", Opening(config), {**who, **tag}, ready="advance"),
        Seam(SeamKind.ARRIVED, "tracker", "arrived", PageEvent(config), tag),
        Seam(SeamKind.DELIVERED, "tracker", "returned", ReturnedPage(config), tag),
        Seam(
            SeamKind.ANSWERED, "completion_merge", "output", Answer(config),
            {**who, "status": "status", "result": "result"},
        ),
    ]  # fmt: skip


def channel_seams(config: FmsConfig) -> list[Seam]:
    """Streams of the interface between front end and channel: these are ports of both."""
    place = {name: name for name in _PLACE}
    tag = {"tag": "tag"}
    block = {"buffer_block": "buffer_block"}
    return [
        Seam(
            SeamKind.PAGE_WRITTEN, "", "pages", WritePage(config),
            {**tag, **place, "source": "source", "flags": "kind"},
        ),
        Seam(SeamKind.PAGE_PROGRAMMED, "", "programmed", PageEvent(config), {**tag, "flags": "failed"}),
        Seam(
            SeamKind.PAGE_READ, "", "reads", ReadPage(config),
            {**tag, **place, **block, "flags": "statistics"},
        ),
        Seam(
            SeamKind.PAGE_OFFERED, "", "read_head", ReadHead(config),
            {**tag, **block, "flags": "from_array"},
        ),
    ]  # fmt: skip


def _replacement(config: FmsConfig) -> Seam | None:
    """Changes of a channel's block table, if it has spare blocks."""
    if not config.geometry.spare_blocks:
        return None
    # The table takes a change whenever it is ready for look-ups: one signal, with the name of the latter.
    return Seam(
        SeamKind.BLOCK_REPLACED, "engine_block_table", "change", BlockEntry(config), {"source": "block"},
        ready="ready",
    )  # fmt: skip


def observed_in_front_end(config: FmsConfig) -> tuple[tuple[str, str], ...]:
    """Ports of parts, as `Plan.observed` has them."""
    return (*(port for seam in front_end_seams(config) for port in seam.ports), _POSTED)


def observed_in_channel(config: FmsConfig) -> tuple[tuple[str, str], ...]:
    seam = _replacement(config)
    return () if seam is None else tuple(seam.ports)


def seam_functions(config: FmsConfig) -> Iterator[str]:
    """C++ functions that append a `Seam` for each that something crosses in this cycle."""
    yield "inline void seams_of_front_end(const FrontEnd& from, std::vector<flashtrain::Seam>& seams) {"
    for seam in front_end_seams(config):
        valid, ready, payload = (f"from.{observed_name(*port)}()" for port in seam.ports)
        yield from _record(config, seam, valid, ready, payload)
    for port in range(PORTS):
        yield f"    if (from.{observed_name(*_POSTED)}() >> {port} & 1) {{"
        yield f"        auto& seam = flashtrain::cross(seams, {SeamKind.POSTED:d}, 0);"
        yield f"        seam.port = {port};"
        yield "    }"
    yield "}"
    arguments = (
        "const FrontEnd& front_end, const Channel& engine, int i, std::vector<flashtrain::Seam>& seams"
    )
    numbers = range(config.geometry.channels)
    for number in numbers:
        yield f"inline void seams_of_channel_{number}({arguments}) {{"
        for seam in channel_seams(config):
            yield from _record(config, seam, *_channel_ports(seam, number), number)
        if (seam := _replacement(config)) is not None:
            valid, ready, payload = (f"engine.{observed_name(*port)}(i)" for port in seam.ports)
            yield from _record(config, seam, valid, ready, payload, number)
        yield "}"
    names = ", ".join(f"seams_of_channel_{number}" for number in numbers)
    yield f"constexpr decltype(&seams_of_channel_0) seams_of_channel[] = {{{names}}};"


def observed_name(part: str, port: str) -> str:
    """The C++ function of an observed port."""
    return f"observed_{part}_{port}"


def _channel_ports(seam: Seam, number: int) -> tuple[str, str, str]:
    """Valid, ready and payload; each of them an output of front end or engine."""
    of_front_end = [f"front_end.channels__{number}__{port}()" for _part, port in seam.ports]
    of_engine = [f"engine.{port}(i)" for _part, port in seam.ports]
    if seam.kind in (SeamKind.PAGE_WRITTEN, SeamKind.PAGE_READ):
        return of_front_end[0], of_engine[1], of_front_end[2]
    return of_engine[0], of_front_end[1], of_engine[2]


def _record(
    config: FmsConfig, seam: Seam, valid: str, ready: str, payload: str, channel: int = 0
) -> Iterator[str]:
    fields = {name: (seam.payload[of].offset, seam.payload[of].width) for name, of in seam.fields.items()}
    if seam.kind is SeamKind.FETCHED:
        cid = Submission.cid
        fields["cid"] = seam.payload["bytes"].offset + cid.low, cid.width
    if seam.kind is SeamKind.BLOCK_REPLACED:
        within, place = BlockPlace(config), seam.payload["place"]
        fields |= {
            name: (place.offset + within[name].offset, within[name].width)
            for name in ("zone", "die", "plane")
        }
    yield f"    if ({valid} && {ready}) {{"
    yield f"        auto& seam = flashtrain::cross(seams, {seam.kind:d}, {channel});"
    for name, (low, width) in fields.items():
        if width:
            yield f"        seam.{name} = flashtrain::field({payload}, {low}, {width});"
    yield "    }"
