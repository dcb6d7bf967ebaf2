"""Times of ONFI's asynchronous interface, typed from the standard for the tests alone.

ONFI 5.1, section 4.19, tables of the SDR timing modes 0 to 5; nanoseconds. `LONGEST` has the maxima.
"""

_ROWS = {
    # mode    0    1    2    3    4    5
    "tADL": (400, 400, 400, 400, 400, 400),
    "tALH": (20, 10, 10, 5, 5, 5),
    "tALS": (50, 25, 15, 10, 10, 10),
    "tAR": (25, 10, 10, 10, 10, 10),
    "tCCS": (500, 500, 500, 500, 500, 500),
    "tCEH": (20, 20, 20, 20, 20, 20),
    "tCH": (20, 10, 10, 5, 5, 5),
    "tCLH": (20, 10, 10, 5, 5, 5),
    "tCLR": (20, 10, 10, 10, 10, 10),
    "tCLS": (50, 25, 15, 10, 10, 10),
    "tCS": (70, 35, 25, 25, 20, 15),
    "tDH": (20, 10, 5, 5, 5, 5),
    "tDS": (40, 20, 15, 10, 10, 7),
    "tRC": (100, 50, 35, 30, 25, 20),
    "tREH": (30, 15, 15, 10, 10, 7),
    "tRHW": (200, 100, 100, 100, 100, 100),
    "tRP": (50, 25, 17, 15, 12, 10),
    "tRR": (40, 20, 20, 20, 20, 20),
    "tWC": (100, 45, 35, 30, 25, 20),
    "tWH": (30, 15, 15, 10, 10, 7),
    "tWHR": (120, 80, 80, 80, 80, 80),
    "tWP": (50, 25, 17, 15, 12, 10),
    "tRHOH": (0, 15, 15, 15, 15, 15),
    "tRLOH": (0, 0, 0, 0, 5, 5),
}
_LONGEST_ROWS = {
    "tCEA": (100, 45, 30, 25, 25, 25),
    "tCHZ": (100, 50, 50, 50, 30, 30),
    "tREA": (40, 30, 25, 20, 20, 16),
    "tRHZ": (200, 100, 100, 100, 100, 100),
    "tWB": (200, 100, 100, 100, 100, 100),
}
MODES = tuple({name: values[mode] for name, values in _ROWS.items()} for mode in range(6))
LONGEST = tuple({name: values[mode] for name, values in _LONGEST_ROWS.items()} for mode in range(6))
