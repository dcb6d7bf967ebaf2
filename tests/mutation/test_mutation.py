"""Faults planted in the RTL, each of which the ordinary tests must find."""

import pytest

from tests.mutation.catalogue import FAULTS
from tests.mutation.fault import ROOT, Fault
from tests.mutation.trial import ROW, Outcome, try_fault, try_nothing

PLANTED = [
    pytest.param(fault, id=fault.name, marks=() if fault.quick else pytest.mark.long) for fault in FAULTS
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_it_can_be_planted(fault: Fault):
    compile(fault.planted(), str(fault.path), "exec")
    assert fault.wrong != fault.right
    assert (ROOT / "tests" / fault.tests.partition("::")[0]).is_file()


def test_names_are_different():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("fault", PLANTED)
def test_it_is_caught(fault: Fault, seed, record_property):
    verdict = try_fault(fault, seed)
    record_property(ROW, f"| {fault.name} | {verdict.outcome.value} | {verdict.by} | {verdict.seconds:.0f} |")
    assert verdict.outcome is Outcome.CAUGHT, (
        f"{fault.path}: {fault.what}. The ordinary tests do not notice: {verdict.outcome.value}, {verdict.by}"
    )


@pytest.mark.long
@pytest.mark.parametrize("tests", sorted({fault.tests for fault in FAULTS}))
def test_nothing_is_caught_where_nothing_is_planted(tests: str, seed):
    verdict = try_nothing(tests, seed)
    assert verdict.outcome is Outcome.SURVIVED, verdict.by
