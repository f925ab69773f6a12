"""The leak scan: `make leaks` plants card numbers, uses the office, and looks for them wherever it writes.

Not collected by `make test`; tests/test_leaks.py runs its short form.
"""
