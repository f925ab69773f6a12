"""The proof: real processes, real faults, and Endl's ledger as the only judge. `make faults`."""
