"""The update unit of a die: optimizer steps on a few shared float units.

unit.py          the unit
tasks.py         micro-programs of the contract as tasks of hardware units
schedule.py      which unit does what, and when; what follows for operands and registers
search.py        finds a cheap schedule
estimate.py      what a schedule costs, quickly
choice.py, delay.py, conversions.py, statistics.py   parts
"""

from .unit import UpdateUnit

__all__ = ["UpdateUnit"]
