"""Every hardware unit is tested, by tests of its own or through the units that contain it."""

from dataclasses import replace

from tests.units import definitions, definitions_that_test, hardware


def test_every_unit_is_tested():
    every = definitions()
    assert len(hardware(every)) > 100
    untested = [unit.name for unit in hardware(every) if not definitions_that_test(unit, every)]
    assert not untested, f"no test, bench or theorem imports these, nor any user of them: {untested}"


def test_a_unit_without_tests_is_found():
    every = definitions()
    none = frozenset()
    every["Lonely"] = replace(every["Queue"], name="Lonely", users=none, tests=none)
    every["Inner"] = replace(every["Lonely"], name="Inner", users=frozenset({"Lonely"}))
    assert not definitions_that_test(every["Lonely"], every)
    assert not definitions_that_test(every["Inner"], every)
