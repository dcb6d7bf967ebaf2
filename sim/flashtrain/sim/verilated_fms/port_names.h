// Verilator spells the two underscores in the name of a port in this way.

#pragma once

#define PIN(bus, name) bus##___05F##name
