"""The subsystem behind every transport: namespaces, controllers, admin commands, I/O commands on a device."""
