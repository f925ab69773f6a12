"""The trail: who did what, to what, why, from where, and with which result."""
