"""The emulator against the project's copy of the API's description."""

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error

from backoffice.emulator import Emulator
from tests.backoffice.emulator.client import COMPANY, HOLDER, Api

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "endl-openapi.yaml"
SCHEMA: Any = schemathesis.openapi.from_path(DOCUMENT)
CARDHOLDERS = "/api/v0/customer/{customerId}/card-users"
CARDS = "/api/v0/cards/{customerId}"
FORMS = ["array", "object", "paged"]
ENVELOPES = ["hybrid", "jwe", "direct", "direct-object", "direct-data"]


def fits(path: str, method: str, answer: Any, status: int) -> None:
    assert answer.status_code == status
    SCHEMA[path][method].validate_response(answer)


@pytest.mark.parametrize("form", FORMS)
def test_lists_fit(api: Api, form: str) -> None:
    api.emulator.settings(list_form=form)
    api.issue()
    api.deposit()
    api.emulator.seed(withdrawals=[{"customerId": COMPANY}])
    fits(CARDHOLDERS, "GET", api.get(f"/customer/{COMPANY}/card-users"), 200)
    fits(f"{CARDS}/deposits", "GET", api.get(f"/cards/{COMPANY}/deposits"), 200)
    fits(f"{CARDS}/withdrawals", "GET", api.get(f"/cards/{COMPANY}/withdrawals"), 200)


@pytest.mark.parametrize("form", ENVELOPES)
def test_issued_cards_fit(api: Api, form: str) -> None:
    api.emulator.settings(envelope_form=form)
    fits(CARDHOLDERS + "/{cardholderId}/cards/scoped", "POST", api.issue(), 201)


def test_what_is_created_fits(api: Api) -> None:
    fits(CARDHOLDERS, "POST", api.register(), 201)
    fits(f"{CARDS}/deposits", "POST", api.deposit(), 201)
    api.emulator.settings(success_status=200)
    fits(f"{CARDS}/deposits", "POST", api.deposit(key="second"), 200)


@pytest.mark.parametrize("reason", ["text", {"code": "object"}])
def test_what_has_failed_fits(api: Api, reason: object) -> None:
    api.emulator.settings(failure_reason=reason, failing_amounts=["10.00"])
    identity = api.deposit().json()["depositId"]
    api.emulator.settle()
    answer = api.get(f"/cards/{COMPANY}/deposits/{identity}")
    fits(f"{CARDS}/deposits/{{depositId}}", "GET", answer, 200)
    seed = {"withdrawalId": "cwd_x", "customerId": COMPANY, "status": "failed", "failureReason": reason}
    api.emulator.seed(withdrawals=[seed])
    answer = api.get(f"/cards/{COMPANY}/withdrawals/cwd_x")
    fits(f"{CARDS}/withdrawals/{{withdrawalId}}", "GET", answer, 200)


@pytest.mark.parametrize("uncoded", ["empty", "generic"])
def test_refusals_fit(api: Api, uncoded: str) -> None:
    api.emulator.settings(uncoded=uncoded)
    fits(f"{CARDS}/deposits", "POST", api.deposit("500.00"), 409)
    fits(f"{CARDS}/deposits", "POST", api.deposit("bad"), 400)
    fits(CARDHOLDERS, "GET", api.get("/customer/cus_nobody/card-users"), 404)
    fits(CARDHOLDERS, "GET", api.get(f"/customer/{COMPANY}/card-users", headers={"Api-Key": "no"}), 401)


@pytest.fixture(scope="module")
def generated_for(key_pair: tuple[Path, str]) -> Any:
    with Emulator(settle_seconds=3600) as emulator:
        emulator.register_key(key_pair[1])
        emulator.seed(
            customers=[{"customerId": COMPANY}],
            cardholders=[{"cardholderId": HOLDER, "customerId": COMPANY}],
        )
        yield emulator


@pytest.mark.parametrize(
    "operation", [one.ok() for one in SCHEMA.get_all_operations()], ids=lambda one: one.label
)
def test_generated_calls_get_answers_that_fit(operation: Any, generated_for: Emulator) -> None:
    @settings(
        max_examples=15,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def fitting(case: Any) -> None:
        case.path_parameters["customerId"] = COMPANY
        if "cardholderId" in case.path_parameters:
            case.path_parameters["cardholderId"] = HOLDER
        case.headers["Api-Key"] = generated_for.api_key
        case.headers["Api-Version"] = "2026-09.1"
        answer = case.call(base_url=generated_for.base_url)
        case.validate_response(answer, additional_checks=[not_a_server_error], excluded_checks=EXCLUDED)

    fitting()


# What the description leaves open, the emulator may refuse: a wallet that is nobody's fits any schema.
EXCLUDED = [schemathesis.checks.CHECKS.get_one("positive_data_acceptance")]


@pytest.mark.parametrize("form", ["uuid", "number"])
def test_ids_of_another_form_fit(api: Api, form: str) -> None:
    api.emulator.settings(id_form=form)
    identity = api.register().json()["cardholderId"]
    assert not identity.startswith("chd_")
    fits(CARDHOLDERS + "/{cardholderId}/cards/scoped", "POST", api.issue(), 201)
    assert not api.deposit().json()["depositId"].startswith("cdp_")
