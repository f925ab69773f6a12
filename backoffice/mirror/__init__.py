"""How a table of ours follows a list of Endl's."""
