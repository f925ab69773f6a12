"""What the database refuses of deposits that people ask for."""

from backoffice.delivery.triggers import request_triggers

TRIGGERS = request_triggers("funding_depositrequest", "wallet_id", "amount", "currency", "chain", "note")
