"""The control page: plain HTML, nothing fetched from anywhere else, no card details."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape

from backoffice.emulator.switches import CHOICES
from backoffice.emulator.wire import Doc

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h2{margin-top:2rem;border-bottom:1px solid #ccc}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #eee}
label{display:block;margin:.4rem 0}input,select,textarea{font:inherit;width:100%;max-width:34rem}
textarea{height:5rem;font-family:monospace}button{font:inherit;padding:.2rem .8rem;margin:.3rem 0}
form.inline{display:inline-block;margin-right:.6rem}
"""
_FAULT_EXAMPLE = '{"operation": "start_deposit", "when": "after", "kind": "drop", "times": 1}'
_SEED_EXAMPLE = '{"customers": [{"customerId": "cus_new", "name": "New", "type": "business"}]}'


def control_page(state: Doc, traffic: Doc, deliveries: list[Doc]) -> str:
    """The whole page."""
    sections = (
        _section("What is there", _pairs(state["counts"]) + _key_line(state) + _deeds()),
        _section(
            "Faults to come", _table(state["faults"]) + _json_form("faults", "Plan a fault", _FAULT_EXAMPLE)
        ),
        _section("Switches", _switches_form(state["settings"])),
        _section("Put something in", _json_form("seed", "Create or update", _SEED_EXAMPLE)),
        _section("Last requests", _table(traffic["last"])),
        _section("Webhooks", _table(deliveries[:20])),
    )
    head = f'<head><meta charset="utf-8"><title>Endl emulator</title><style>{_STYLE}</style></head>'
    intro = "<h1>Endl emulator</h1><p>An Endl for practice. No real money or card is behind it.</p>"
    return f'<!doctype html><html lang="en">{head}<body>{intro}{"".join(sections)}</body></html>'


def _section(title: str, content: str) -> str:
    return f"<h2>{escape(title)}</h2>{content}"


def _key_line(state: Doc) -> str:
    known = state["keyId"]
    return f"<p>Partner's public key: {escape(known) if known else 'none registered'}.</p>"


def _deeds() -> str:
    return (
        _button("sample", "Create the sample world")
        + _button("settle", "Settle all pending deposits")
        + _button("faults/clear", "Clear the faults")
        + _button("keys/clear", "Forget the public key")
        + _button("reset", "Empty the world")
    )


def _button(action: str, label: str) -> str:
    button = f"<button>{escape(label)}</button>"
    return f'<form class="inline" method="post" action="/_control/{action}">{button}</form>'


def _json_form(action: str, label: str, example: str) -> str:
    area = f'<label>JSON<textarea name="json">{escape(example)}</textarea></label>'
    return f'<form method="post" action="/_control/{action}">{area}<button>{escape(label)}</button></form>'


def _switches_form(settings: Doc) -> str:
    fields = "".join(_field(name, value) for name, value in settings.items())
    return f'<form method="post" action="/_control/settings">{fields}<button>Set the switches</button></form>'


def _field(name: str, value: object) -> str:
    if name in CHOICES:
        control = _select(name, value, CHOICES[name])
    else:
        control = f'<input name="{name}" value="{escape(json.dumps(value))}">'
    return f"<label>{name}{control}</label>"


def _select(name: str, value: object, choices: Iterable[object]) -> str:
    options = "".join(
        f'<option value="{escape(json.dumps(choice))}"{" selected" if choice == value else ""}>'
        f"{escape(str(choice))}</option>"
        for choice in choices
    )
    return f'<select name="{name}">{options}</select>'


def _pairs(counts: Doc) -> str:
    return "<p>" + ", ".join(f"{count} {escape(name)}" for name, count in counts.items()) + "</p>"


def _table(rows: list[Doc]) -> str:
    if not rows:
        return "<p>None.</p>"
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{_cells(row, names)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cells(row: Doc, names: list[str]) -> str:
    return "".join(f"<td>{escape(str(row.get(name, '')))}</td>" for name in names)
