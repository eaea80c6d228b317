"""Terminals: the programs at the tables that send rounds. Only the hash of a key is stored."""

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper

from games.database.grants import Grants
from games.floor.models.casino import Casino
from games.floor.models.table import Table
from games.history.records import History

#: Sources used by the product itself, for rounds entered by people and for practice. No key may send them.
RESERVED_SOURCES = ("hand", "practice")


def is_reserved(field: str) -> Q:
    """Match a reserved source in any case."""
    return Q(**{f"{field}__iregex": f"^({'|'.join(RESERVED_SOURCES)})$"})


def validate_plain_name(name: str) -> None:
    """Refuse line breaks and outer spaces: the name appears in records as it is."""
    if not name.isprintable() or name != name.strip():
        raise ValidationError("Use a plain name: no line breaks, no spaces before or after it.")


class Terminal(models.Model):
    """A key and the tables it is valid for. It is revoked for good, and its name is never used again."""

    grants = Grants(update=("table_codes", "revoked_at", "last_used_at"))
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="terminals")
    name = models.CharField(max_length=60, validators=[validate_plain_name])
    tables = models.ManyToManyField(Table, through="TerminalTable", related_name="terminals")
    # repeated as text: the history compares fields of the record itself, and so shows old and new tables
    table_codes = models.TextField("tables", help_text="Whose rounds the key is good for.")
    source = models.CharField(
        max_length=200, blank=True, default="", db_default="", validators=[validate_plain_name],
        help_text="The source of its rounds. It then belongs to the keys that name it, and these send no other. "
        "Leave empty for any source that is not reserved and belongs to no other key of the casino.",
    )  # fmt: skip
    key_hash = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256 of the key.")
    key_hint = models.CharField("key", max_length=10, help_text="How the key begins, to tell keys apart.")
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField("last used", null=True, blank=True, help_text="To the minute.")

    history = History(excluded_fields=("key_hash", "last_used_at"))

    # What Django and its REST framework expect of a user.
    is_authenticated = True
    is_anonymous = False

    class Meta:
        ordering = ["casino__code", "name"]
        constraints = [
            models.UniqueConstraint(
                "casino", Upper("name"), name="terminal_name_once_a_casino",
                violation_error_message="There is, or was, a terminal of this name; every key has a name of its own.",
            ),
            models.UniqueConstraint(fields=["id", "casino"], name="terminal_of_casino"),
            models.CheckConstraint(condition=~Q(name=""), name="terminal_has_a_name"),
            models.CheckConstraint(
                condition=~is_reserved("source"), name="terminal_source_not_reserved",
                violation_error_message="This source is reserved for rounds entered by people and for practice; "
                "choose another name.",
            ),
            models.CheckConstraint(condition=Q(key_hash__regex=r"^[0-9a-f]{64}$"), name="terminal_key_is_a_hash"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.name

    @property
    def is_active(self) -> bool:
        return self.revoked_at is None


class TerminalTable(models.Model):
    """The binding of a terminal to a table of its casino (foreign keys over both: migration 0005)."""

    grants = Grants(delete=True)

    terminal = models.ForeignKey(Terminal, on_delete=models.PROTECT, related_name="bindings")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")
    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["terminal", "table"], name="terminal_bound_once_to_a_table")]

    def __str__(self) -> str:
        return f"{self.terminal} at {self.table}"


class TerminalUse(models.Model):
    """How often a terminal has called in the current minute. Earlier minutes are not kept."""

    grants = Grants(update=("count",), delete=True)

    terminal = models.ForeignKey(Terminal, on_delete=models.PROTECT, related_name="uses")
    minute = models.DateTimeField()
    count = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["terminal", "minute"], name="terminal_use_once_a_minute")]

    def __str__(self) -> str:
        return f"{self.terminal}: {self.count} calls"
