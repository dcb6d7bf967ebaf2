"""The way of one command, taken from the event trace."""

from flashtrain.host import Link
from flashtrain.perf.latency import Milestone, Passing
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.sim.trace import AxiChannel, Kind
from flashtrain.spec import FlashtrainError, Port
from flashtrain.spec.registers import sq_tail_doorbell

_BURSTS = {
    (Kind.BURST, AxiChannel.QUEUE_READ): Milestone.FETCH_BEGINS,
    (Kind.BURST_END, AxiChannel.QUEUE_READ): Milestone.FETCH_ENDS,
    (Kind.BURST, AxiChannel.DATA_READ): Milestone.DATA_BEGINS,
    (Kind.BURST_END, AxiChannel.DATA_READ): Milestone.DATA_ENDS,
    (Kind.BURST, AxiChannel.QUEUE_WRITE): Milestone.ANSWER_BEGINS,
    (Kind.BURST_END, AxiChannel.QUEUE_WRITE): Milestone.ANSWER_ENDS,
}
_DOORBELLS = [sq_tail_doorbell(port) for port in Port]


class NoTrace(FlashtrainError):
    """The Link records no events."""


class TraceRecorder:
    """A `flashtrain.perf.latency.Recorder` on the RTL Link."""

    def __init__(self, link: Link) -> None:
        if not isinstance(link, RtlLink):
            raise NoTrace(f"a {type(link).__name__} records no events; expected an RtlLink")
        self._link = link

    def start(self) -> None:
        self._link.take_trace()
        self._link.set_tracing(True)

    def stop(self) -> list[Passing]:
        """The milestones since :meth:`start`."""
        self._link.set_tracing(False)
        passings = []
        for _start, end, kind, _channel, _die, detail in self._link.take_trace().tolist():
            if kind == Kind.REGISTER_WRITTEN and detail in _DOORBELLS:
                passings.append(Passing(Milestone.DOORBELL, end))
            elif kind == Kind.INTERRUPT_RAISED:
                passings.append(Passing(Milestone.INTERRUPT, end))
            elif (kind, detail) in _BURSTS:
                passings.append(Passing(_BURSTS[Kind(kind), AxiChannel(detail)], end))
        return passings
