"""People who work in the casino: the users of the product, and the dealers who appear on its rounds."""

from typing import Any

from django.contrib.auth import get_backends
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper

from games.access.roles import access_policy, post_name
from games.database.grants import Grants
from games.floor.models.casino import Casino, Pit, code_validator
from games.history.records import History

POLICY = access_policy()
DEPARTMENTS = tuple(POLICY.departments)
FLOOR = POLICY.department_of_posts
#: The question whether a person may do anything at all, and so log in (games.accounts.backend answers it).
ANYTHING = "anything"


class StaffManager(BaseUserManager["Staff"]):
    def get_by_natural_key(self, username: str | None) -> "Staff":
        return self.get(number__iexact=username)


class Staff(AbstractBaseUser):
    """A person by staff number. What the person may do follows from department and post (games/access/roles.toml)."""

    grants = Grants(
        update=(
            "password", "last_login", "number", "name", "casino", "pit", "department", "post", "email", "leaves_on",
            "is_active", "must_change_password",
        ),
    )  # fmt: skip
    casino_path, pit_path = "casino", "pit"

    number = models.CharField("staff number", max_length=32, unique=True, validators=[code_validator])
    name = models.CharField(max_length=200)
    casino = models.ForeignKey(
        Casino, on_delete=models.PROTECT, null=True, blank=True, related_name="staff",
        help_text="Empty for people who look after every casino.",
    )  # fmt: skip
    pit = models.ForeignKey(
        Pit, on_delete=models.PROTECT, null=True, blank=True, related_name="staff",
        help_text="Empty for people who work in every pit of the casino.",
    )  # fmt: skip
    department = models.CharField(max_length=20, choices=list(POLICY.departments.items()))
    post = models.CharField(
        max_length=20, blank=True, choices=[(post, post_name(post)) for post in POLICY.posts],
        help_text="Only in the pit. Another post for a time is an acting appointment.",
    )  # fmt: skip
    email = models.EmailField("e-mail", blank=True, help_text="Where notices go; empty: only shown here.")
    leaves_on = models.DateField(
        "last day", null=True, blank=True,
        help_text="The last day of work, where it is known. The access review names accounts that are active after it.",
    )  # fmt: skip
    is_active = models.BooleanField(
        "active",
        default=True,
        help_text="Switch off when a person leaves: sessions, sign-in links and acting appointments end.",
    )
    must_change_password = models.BooleanField(
        default=False, help_text="Asked for a password of their own at the next login."
    )

    history = History(excluded_fields=("password", "last_login"))

    objects = StaffManager()

    USERNAME_FIELD = "number"
    REQUIRED_FIELDS = []
    is_superuser = False  # nobody is above the table of roles

    class Meta:
        ordering = ["number"]
        verbose_name = verbose_name_plural = "staff"
        constraints = [
            models.UniqueConstraint(
                Upper("number"),
                name="staff_number_once_in_any_case",
                violation_error_message="There is somebody with this staff number already.",
            ),
            models.CheckConstraint(condition=Q(department__in=DEPARTMENTS), name="staff_department_known"),
            models.CheckConstraint(condition=Q(post="") | Q(post__in=POLICY.posts), name="staff_post_known"),
            models.CheckConstraint(
                condition=(
                    Q(department=FLOOR, casino__isnull=False) & ~Q(post="")
                    | Q(department=FLOOR, post=POLICY.group_post, casino__isnull=True, pit__isnull=True)
                    | ~Q(department=FLOOR) & Q(post="", pit__isnull=True)
                ),
                name="staff_post_only_in_the_pit",
                violation_error_message=(
                    "People of the pit have a casino and a post (only a casino manager of the group belongs to no "
                    "single casino); people of other departments have no post and no pit."
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.name}"

    def get_full_name(self) -> str:
        return self.name

    def check_password(self, raw_password: str | None) -> bool:
        """A hash of older strength is renewed in passing; that is no change that a person made, so no history."""

        def renew(password: str) -> None:
            type(self).objects.filter(pk=self.pk).update(password=make_password(password))

        return check_password(raw_password, self.password, renew)

    @property
    def is_privileged(self) -> bool:
        """Return whether the permanent role rules, approves, sees what is confidential or lets people in."""
        held = (self.department, self.post)
        return any(
            role.is_privileged and held == (role.department, role.post or "") for role in access_policy().roles.values()
        )

    # What Django asks of a user: passed on to the authentication backend, which asks the gate.

    @property
    def is_staff(self) -> bool:
        """May log in: holds a post or works in a department that may do anything at all."""
        return self.has_perm(ANYTHING)

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        return any(backend.has_perm(self, perm, obj) for backend in get_backends())

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_staff
