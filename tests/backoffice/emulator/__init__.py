"""An Endl of our own, tried from outside."""
