"""The RTL Link: the controller and its dies in Verilator, called in-process."""
