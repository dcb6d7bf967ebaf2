"""The target: connections, controllers, admin commands, and I/O commands on a device."""
