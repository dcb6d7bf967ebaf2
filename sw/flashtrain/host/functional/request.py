"""The fields of a submission entry."""

from typing import NamedTuple

from flashtrain.spec import Opcode, Submission


class Request(NamedTuple):
    """An entry taken apart, unchecked. Numbers of blocks and bytes are true ones, not less one."""

    opcode: int
    fuse: int
    psdt: int
    cid: int
    nsid: int
    address: int
    length: int
    sgl_type: int
    slba: int
    blocks: int
    report_bytes: int
    action: int
    select_all: bool
    report_options: int
    partial: bool

    @property
    def moves_blocks(self) -> bool:
        return self.opcode in (Opcode.READ, Opcode.WRITE, Opcode.ZONE_APPEND)

    @property
    def has_data(self) -> bool:
        return self.moves_blocks or self.opcode == Opcode.ZONE_MANAGEMENT_RECEIVE

    @property
    def manages_zone(self) -> bool:
        """It is zone management that names one zone."""
        if self.opcode == Opcode.ZONE_MANAGEMENT_SEND:
            return not self.select_all
        return self.opcode in (Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.ZONE_RETIRE)


def parse(raw: bytes) -> Request:
    """The fields of a 64-byte entry."""
    s = Submission
    entry = int.from_bytes(raw, "little")
    return Request(
        opcode=s.opcode.get(entry),
        fuse=s.fuse.get(entry),
        psdt=s.psdt.get(entry),
        cid=s.cid.get(entry),
        nsid=s.nsid.get(entry),
        address=s.address.get(entry),
        length=s.length.get(entry),
        sgl_type=s.sgl_type.get(entry),
        slba=s.slba.get(entry),
        blocks=s.nlb.get(entry) + 1,
        report_bytes=4 * (s.dwords.get(entry) + 1),
        action=s.action.get(entry),
        select_all=bool(s.select_all.get(entry)),
        report_options=s.report_options.get(entry),
        partial=bool(s.partial.get(entry)),
    )
