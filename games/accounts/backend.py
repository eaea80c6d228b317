"""Log in by staff number and password, and answer Django's permission checks from the gate."""

from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest

from games.access.gate import can, capacities
from games.access.models.staff import ANYTHING
from games.models import Staff


class StaffBackend(BaseBackend):
    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> Staff | None:
        try:
            staff = Staff.objects.get_by_natural_key(username)
        except Staff.DoesNotExist:
            make_password(password)  # takes as long as a wrong password, so that staff numbers cannot be guessed
            return None
        return staff if staff.check_password(password) and staff.is_active else None

    def get_user(self, user_id: Any) -> Staff | None:
        return Staff.objects.select_related("casino", "pit").filter(pk=user_id, is_active=True).first()

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        """Answer from the gate: Django's `games.view_pit` is our action `pit.view`."""
        if perm == ANYTHING:
            return any(capacity.role.may for capacity in capacities(user_obj))
        verb, _, thing = perm.rpartition(".")[2].partition("_")
        return can(user_obj, f"{thing}.{verb}", obj)
