"""The way of one command, taken from the event trace."""

from flashtrain.perf.latency import Milestone, Passing
from flashtrain.sim.trace.trace import AxiChannel, Kind
from flashtrain.sim.trace.window import TraceWindow
from flashtrain.spec import Port
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


class TraceRecorder(TraceWindow):
    """A `flashtrain.perf.latency.Recorder` on the RTL Link."""

    def stop(self) -> list[Passing]:
        """The milestones since :meth:`start`."""
        passings = []
        for _start, end, kind, _channel, _die, detail in self.records().tolist():
            if kind == Kind.REGISTER_WRITTEN and detail in _DOORBELLS:
                passings.append(Passing(Milestone.DOORBELL, end))
            elif kind == Kind.INTERRUPT_RAISED:
                passings.append(Passing(Milestone.INTERRUPT, end))
            elif (kind, detail) in _BURSTS:
                passings.append(Passing(_BURSTS[Kind(kind), AxiChannel(detail)], end))
        return passings
