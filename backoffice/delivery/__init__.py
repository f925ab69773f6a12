"""How a request reaches Endl once: claim, attempt, unknown, pause, sweep."""
