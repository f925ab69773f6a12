"""Maker-checker, once, for everything that needs a second pair of eyes."""
