"""A whole office on one machine, started by `make run`: emulator, worker with its clock, web server."""
