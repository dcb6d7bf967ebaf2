"""What the standards demand of a controller over TCP with zoned namespaces, and of a discovery controller.

It was written from the standards, without the target. Figures are those of NVM Express Base 2.1 where no
other standard is named. A part that Base 2.0 does not know is no row, because the target's version is 2.0.
"""

from enum import Enum
from typing import NamedTuple

from .rules import ANY, ASCII, NAME, NOT_ZERO, RESERVED, Rule, all_of, equal, least, one_of


class Kind(Enum):
    """The controllers."""

    IO = "I/O controller"
    DISCOVERY = "discovery controller"


class Part(Enum):
    """What a row is about, and the place in which its bytes are."""

    PROPERTY = "property"
    ADMIN = "admin command"
    FABRICS = "fabrics command"
    COMMAND = "I/O command"
    STRUCTURE = "Identify structure"
    CONTROLLER = "Identify Controller"
    NAMESPACE = "Identify Namespace"
    INDEPENDENT = "Identify Namespace, independent of the command set"
    ZONED = "Identify Namespace, zoned"
    LOG_PAGE = "log page"
    HEALTH = "SMART / health log"
    FIRMWARE = "firmware slot log"
    DISCOVERED = "discovery log"
    FEATURE = "feature"


class Row(NamedTuple):
    """A mandatory part.

    - code: an offset of a property, an opcode, CNS, a log page or a feature, or the first byte of a field.
    - last: the last byte of a field, or of the data that must come.
    """

    name: str
    code: int
    last: int = 0
    rule: Rule = ANY


class Table(NamedTuple):
    """Rows of one kind. prohibited: the rows are those that a controller must not have."""

    kind: Kind
    part: Part
    source: str
    rows: tuple[Row, ...]
    prohibited: bool = False


_KEEP_ALIVE_NOTE = "Figure 28; TCP Transport 1.0, section 3.4"

_IO_CONTROLLER = (
    Row("VID", 0, 1, NOT_ZERO), Row("SSVID", 2, 3, NOT_ZERO), Row("SN", 4, 23, ASCII),
    Row("MN", 24, 63, ASCII), Row("FR", 64, 71, ASCII), Row("RAB", 72, 72), Row("IEEE", 73, 75, NOT_ZERO),
    Row("MDTS", 77, 77), Row("CNTLID", 78, 79), Row("VER", 80, 83, NOT_ZERO), Row("RTD3R", 84, 87),
    Row("RTD3E", 88, 91), Row("OAES", 92, 95), Row("CTRATT", 96, 99, all_of(1)),
    Row("CNTRLTYPE", 111, 111, equal(1)), Row("OACS", 256, 257), Row("ACL", 258, 258),
    Row("AERL", 259, 259), Row("FRMW", 260, 260, one_of(0b1110)), Row("LPA", 261, 261, all_of(0b10_0110)),
    Row("ELPE", 262, 262), Row("NPSS", 263, 263), Row("AVSCC", 264, 264),
    Row("WCTEMP", 266, 267, NOT_ZERO), Row("CCTEMP", 268, 269, NOT_ZERO), Row("FWUG", 319, 319),
    Row("KAS", 320, 321, NOT_ZERO), Row("SQES", 512, 512, equal(0x66)), Row("CQES", 513, 513, equal(0x44)),
    Row("MAXCMD", 514, 515, NOT_ZERO), Row("NN", 516, 519, NOT_ZERO), Row("ONCS", 520, 521),
    Row("FUSES", 522, 523), Row("FNA", 524, 524), Row("VWC", 525, 525, one_of(0b110)),
    Row("AWUN", 526, 527), Row("AWUPF", 528, 529), Row("ICSVSCC", 530, 530), Row("NWPC", 531, 531),
    Row("SGLS", 536, 539, one_of(0b11)), Row("SUBNQN", 768, 1023, NAME), Row("IOCCSZ", 1792, 1795, least(4)),
    Row("IORCSZ", 1796, 1799, least(1)), Row("ICDOFF", 1800, 1801), Row("FCATT", 1802, 1802),
    Row("MSDBD", 1803, 1803), Row("OFCS", 1804, 1805), Row("PSD0", 2048, 2079),
)  # fmt: skip

_DISCOVERY_CONTROLLER = (
    Row("FR", 64, 71, ASCII), Row("MDTS", 77, 77), Row("CNTLID", 78, 79), Row("VER", 80, 83, NOT_ZERO),
    Row("OAES", 92, 95), Row("CTRATT", 96, 99), Row("CNTRLTYPE", 111, 111, equal(2)), Row("AERL", 259, 259),
    Row("LPA", 261, 261, all_of(0b10_0110)), Row("ELPE", 262, 262), Row("KAS", 320, 321, NOT_ZERO),
    Row("MAXCMD", 514, 515, NOT_ZERO), Row("SGLS", 536, 539, one_of(0b11)), Row("SUBNQN", 768, 1023, NAME),
)  # fmt: skip

_RESERVED_OF_DISCOVERY = (
    Row("VID", 0, 1, RESERVED), Row("SSVID", 2, 3, RESERVED), Row("RAB", 72, 72, RESERVED),
    Row("IEEE", 73, 75, RESERVED), Row("CMIC", 76, 76, RESERVED), Row("SQES", 512, 512, RESERVED),
    Row("CQES", 513, 513, RESERVED), Row("ONCS", 520, 521, RESERVED), Row("NWPC", 531, 531, RESERVED),
    Row("PSD0", 2048, 2079, RESERVED),
)  # fmt: skip

TABLES = (
    Table(Kind.IO, Part.PROPERTY, "Figure 33", (
        Row("CAP", 0x00, 7, all_of(1 << 16)), Row("VS", 0x08, 3, NOT_ZERO), Row("CC", 0x14, 3),
        Row("CSTS", 0x1C, 3), Row("CRTO", 0x68, 3, NOT_ZERO),
    )),
    Table(Kind.IO, Part.ADMIN, _KEEP_ALIVE_NOTE, (
        Row("Get Log Page", 0x02), Row("Identify", 0x06), Row("Abort", 0x08), Row("Set Features", 0x09),
        Row("Get Features", 0x0A), Row("Asynchronous Event Request", 0x0C), Row("Keep Alive", 0x18),
    )),
    Table(Kind.IO, Part.FABRICS, "Figure 29", (
        Row("Property Set", 0x00), Row("Connect", 0x01), Row("Property Get", 0x04),
    )),
    Table(Kind.IO, Part.COMMAND, "Figure 30; NVM Command Set 1.0, Figure 12; ZNS 1.1, Figure 9", (
        Row("Flush", 0x00), Row("Write", 0x01), Row("Read", 0x02), Row("Zone Management Send", 0x79),
        Row("Zone Management Receive", 0x7A),
    )),
    Table(Kind.IO, Part.STRUCTURE, "Figure 310", (
        Row("namespace", 0x00, 4095), Row("controller", 0x01, 4095), Row("active namespaces", 0x02, 4095),
        Row("namespace descriptors", 0x03, 4095), Row("namespace of a command set", 0x05, 4095),
        Row("controller of a command set", 0x06, 4095),
        Row("active namespaces of a command set", 0x07, 4095),
        Row("namespace, independent of the command set", 0x08, 4095), Row("command sets", 0x1C, 4095),
    )),
    Table(Kind.IO, Part.CONTROLLER, "Figure 312", _IO_CONTROLLER),
    Table(Kind.IO, Part.NAMESPACE, "NVM Command Set 1.0, Figure 97", (
        Row("NSZE", 0, 7, NOT_ZERO), Row("NCAP", 8, 15, NOT_ZERO), Row("NUSE", 16, 23), Row("NSFEAT", 24, 24),
        Row("NLBAF", 25, 25), Row("FLBAS", 26, 26), Row("MC", 27, 27), Row("DPC", 28, 28),
        Row("DPS", 29, 29), Row("LBAF0", 128, 131, NOT_ZERO),
    )),
    Table(Kind.IO, Part.INDEPENDENT, "Figure 310, CNS 08h", (Row("NSFEAT", 0, 0), Row("NSTAT", 14, 14))),
    Table(Kind.IO, Part.ZONED, "ZNS 1.1, section 4.1.5.1", (
        Row("ZOC", 0, 1), Row("OZCS", 2, 3), Row("MAR", 4, 7), Row("MOR", 8, 11),
        Row("LBAFE0", 2816, 2831, NOT_ZERO),
    )),
    Table(Kind.IO, Part.LOG_PAGE, "Figure 31", (
        Row("Supported Log Pages", 0x00, 1023), Row("Error Information", 0x01, 63),
        Row("SMART / Health Information", 0x02, 511), Row("Firmware Slot Information", 0x03, 511),
        Row("Commands Supported and Effects", 0x05, 4095),
        Row("Feature Identifiers Supported and Effects", 0x12, 1023),
    )),
    Table(Kind.IO, Part.HEALTH, "section 5.1.12.1.3", (
        Row("critical warning", 0, 0), Row("composite temperature", 1, 2, NOT_ZERO),
        Row("available spare", 3, 3, NOT_ZERO), Row("available spare threshold", 4, 4),
        Row("percentage used", 5, 5), Row("data units read", 32, 47), Row("data units written", 48, 63),
        Row("read commands", 64, 79), Row("write commands", 80, 95), Row("controller busy time", 96, 111),
        Row("power cycles", 112, 127), Row("power-on hours", 128, 143), Row("unsafe shutdowns", 144, 159),
        Row("media errors", 160, 175), Row("entries of the error log", 176, 191, NOT_ZERO),
    )),
    Table(Kind.IO, Part.FIRMWARE, "section 5.1.12.1.4", (
        Row("AFI", 0, 0, one_of(0b111)), Row("FRS1", 8, 15, ASCII),
    )),
    Table(Kind.IO, Part.FEATURE, "Figure 32; NVM Command Set 1.0, section 2.2", (
        Row("Arbitration", 0x01), Row("Power Management", 0x02), Row("Temperature Threshold", 0x04),
        Row("Error Recovery", 0x05), Row("Number of Queues", 0x07), Row("Write Atomicity Normal", 0x0A),
        Row("Asynchronous Event Configuration", 0x0B), Row("Keep Alive Timer", 0x0F),
    )),
    Table(Kind.DISCOVERY, Part.PROPERTY, "Figure 33", (
        Row("CAP", 0x00, 7), Row("VS", 0x08, 3, NOT_ZERO), Row("CC", 0x14, 3), Row("CSTS", 0x1C, 3),
    )),
    Table(Kind.DISCOVERY, Part.ADMIN, "Figure 28, with persistent connections", (
        Row("Get Log Page", 0x02), Row("Identify", 0x06), Row("Set Features", 0x09),
        Row("Get Features", 0x0A), Row("Asynchronous Event Request", 0x0C), Row("Keep Alive", 0x18),
    )),
    Table(Kind.DISCOVERY, Part.ADMIN, "Figure 28", (
        Row("Namespace Management", 0x0D), Row("Firmware Commit", 0x10), Row("Device Self-test", 0x14),
        Row("Format NVM", 0x80), Row("Security Send", 0x81), Row("Sanitize", 0x84),
    ), prohibited=True),
    Table(Kind.DISCOVERY, Part.FABRICS, "Figure 29", (
        Row("Property Set", 0x00), Row("Connect", 0x01), Row("Property Get", 0x04),
    )),
    Table(Kind.DISCOVERY, Part.STRUCTURE, "Figure 310", (Row("controller", 0x01, 4095),)),
    Table(Kind.DISCOVERY, Part.CONTROLLER, "Figure 312", _DISCOVERY_CONTROLLER),
    Table(Kind.DISCOVERY, Part.CONTROLLER, "Figure 312, reserved fields", _RESERVED_OF_DISCOVERY),
    Table(Kind.DISCOVERY, Part.LOG_PAGE, "Figure 31", (
        Row("Supported Log Pages", 0x00, 1023), Row("Commands Supported and Effects", 0x05, 4095),
        Row("Feature Identifiers Supported and Effects", 0x12, 1023), Row("Discovery", 0x70, 2047),
    )),
    Table(Kind.DISCOVERY, Part.LOG_PAGE, "Figure 31", (
        Row("SMART / Health Information", 0x02, 511), Row("Firmware Slot Information", 0x03, 511),
        Row("Changed Attached Namespace List", 0x04, 4095), Row("Device Self-test", 0x06, 563),
    ), prohibited=True),
    Table(Kind.DISCOVERY, Part.DISCOVERED, "section 5.1.12.3.1", (
        Row("GENCTR", 0, 7), Row("NUMREC", 8, 15, NOT_ZERO), Row("RECFMT", 16, 17, equal(0)),
        Row("TRTYPE", 1024, 1024, equal(3)), Row("ADRFAM", 1025, 1025, NOT_ZERO),
        Row("SUBTYPE", 1026, 1026, NOT_ZERO), Row("TREQ", 1027, 1027), Row("CNTLID", 1030, 1031),
        Row("ASQSZ", 1032, 1033, least(32)), Row("SUBNQN", 1280, 1535, NAME),
        Row("TRADDR", 1536, 1791, ASCII),
    )),
    Table(Kind.DISCOVERY, Part.FEATURE, "Figure 32, with persistent connections", (
        Row("Asynchronous Event Configuration", 0x0B), Row("Keep Alive Timer", 0x0F),
    )),
    Table(Kind.DISCOVERY, Part.FEATURE, "Figure 32", (
        Row("Arbitration", 0x01), Row("Power Management", 0x02), Row("Temperature Threshold", 0x04),
        Row("Volatile Write Cache", 0x06), Row("Number of Queues", 0x07),
        Row("I/O Command Set Profile", 0x19), Row("Host Identifier", 0x81),
    ), prohibited=True),
)  # fmt: skip
