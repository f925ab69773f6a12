"""Scope in the admin: every page of cards and money shows what belongs to the person's customers."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpRequest

from backoffice.pages.objects import the_person
from cards import scope


class Scoped:
    """Mixed into an admin: leaves out what belongs to customers that the person does not work for.

    `scope_path` says how a row leads to its customer; "pk" for the customer itself.
    """

    scope_path: ClassVar[str]

    def scoped(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        return scope.limit(rows, the_person(request), self.scope_path)
