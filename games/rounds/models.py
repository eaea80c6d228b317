"""Rounds as they were played: one row a round, its bets as parallel arrays. Written once.

A later change is a correction beside the round. `RoundBet` is a view with one row a bet.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils import timezone

from games.access.models.staff import Staff
from games.database.grants import READ_ONLY, WRITTEN_ONCE, Grants
from games.floor.models.casino import Casino
from games.floor.models.dice import DiceSet
from games.floor.models.table import Table, TableAssignment
from games.limits.models.limits import LimitSet
from games.terminals.models import Terminal, is_reserved


class ImportedFile(models.Model):
    """A file of rounds that was imported whole."""

    grants = WRITTEN_ONCE

    name = models.TextField()
    size = models.BigIntegerField(help_text="In bytes, as it was read.")
    sha256 = models.BinaryField(max_length=32)
    at = models.DateTimeField(default=timezone.now)
    who = models.TextField("imported by")
    rounds = models.PositiveIntegerField()
    new = models.PositiveIntegerField()
    repeated = models.PositiveIntegerField()

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(rounds=models.F("new") + models.F("repeated")), name="import_adds_up")
        ]
        indexes = [models.Index(fields=["sha256"], name="imported_file_by_digest")]

    def __str__(self) -> str:
        return self.name


class Round(models.Model):
    class Status(models.TextChoices):
        SETTLED = "settled"
        VOID = "void"
        UNFINISHED = "unfinished"

    class Channel(models.TextChoices):
        API = "api", "API"
        FILE = "file", "File"
        HAND = "hand", "Entered by hand"

    grants = WRITTEN_ONCE
    table_path = "table"

    source = models.CharField(max_length=200)
    ref = models.CharField(max_length=200)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="rounds", db_index=False)
    casino = models.ForeignKey(
        Casino, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False, editable=False,
        help_text="Of the table, by a foreign key over both: a round's name is unique within its casino.",
    )  # fmt: skip
    gaming_day = models.DateField()
    # The terms known when it was recorded.
    assignment = models.ForeignKey(TableAssignment, on_delete=models.PROTECT, related_name="+", db_index=False)
    rulebook = models.CharField(max_length=64)
    layout = models.CharField(max_length=8)
    limit_set = models.ForeignKey(LimitSet, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    dice_set = models.ForeignKey(DiceSet, on_delete=models.PROTECT, null=True, related_name="+")
    dealer = models.CharField(max_length=200, null=True)  # noqa: DJ001  kept as sent; nothing was sent
    supervisor = models.CharField(max_length=200, null=True)  # noqa: DJ001
    dealer_staff = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    supervisor_staff = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    started_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, help_text="No more bets.")
    ended_at = models.DateTimeField(help_text="Settled, else called off; else its last event.")
    status = models.CharField(max_length=10, choices=Status)
    dice = ArrayField(models.SmallIntegerField(), null=True)
    events = models.JSONField()
    players = ArrayField(models.TextField())
    boxes = ArrayField(models.SmallIntegerField(), help_text="By the numbers of games.engine.box_numbers.")
    stakes = ArrayField(models.BigIntegerField())
    nets = ArrayField(models.BigIntegerField(), help_text="0 where none was given.")
    nets_given = ArrayField(models.BooleanField(), null=True)
    placed_at = ArrayField(models.DateTimeField(null=True), null=True)
    late = ArrayField(models.BooleanField(), null=True)
    refused = ArrayField(models.BooleanField(), null=True)
    house_placed = ArrayField(models.BooleanField(), null=True)
    call = ArrayField(models.BooleanField(), null=True, help_text="Placed by the house on a patron's oral call.")
    withdrawn_at = ArrayField(models.DateTimeField(null=True), null=True)
    withdrawn = ArrayField(models.BooleanField(), null=True, help_text="In time: such a bet counts for nothing.")
    fingerprint = models.BinaryField(max_length=32)
    channel = models.CharField(max_length=10, choices=Channel)
    terminal = models.ForeignKey(
        Terminal, on_delete=models.PROTECT, null=True, related_name="+", db_index=False,
        help_text="The key that sent it, where one did.",
    )  # fmt: skip
    imported = models.ForeignKey(ImportedFile, on_delete=models.PROTECT, null=True, related_name="recorded")
    after_close = models.BooleanField(default=False, help_text="Came when its gaming day was closed.")
    recorded_at = models.DateTimeField(default=timezone.now)
    who = models.TextField("recorded by")
    note = models.TextField(default="", help_text="Why it was entered by hand.")

    class Meta:
        ordering = ["-started_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "source", "ref"], name="round_once_a_casino"),
            models.CheckConstraint(
                condition=Q(terminal__isnull=True) | ~is_reserved("source"), name="round_source_not_reserved"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["settled", "void", "unfinished"]), name="round_status_known"
            ),
            models.CheckConstraint(condition=Q(channel__in=["api", "file", "hand"]), name="round_channel_known"),
        ]
        indexes = [
            models.Index(fields=["table", "-started_at", "-id"], name="round_by_table"),
            models.Index(fields=["gaming_day", "table", "started_at"], name="round_by_day"),
            models.Index(fields=["-started_at", "-id"], name="round_newest_first"),
            models.Index(fields=["dealer", "-started_at"], name="round_by_dealer"),
            GinIndex(fields=["players"], name="round_by_player"),
        ]

    def __str__(self) -> str:
        return self.ref


class RecordingConflict(models.Model):
    """The same name sent with different content: refused, and kept as it was sent. One row for each content."""

    grants = WRITTEN_ONCE
    table_path = "table"

    source = models.CharField(max_length=200)
    ref = models.CharField(max_length=200)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="recording_conflicts")
    recorded = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="conflicts")
    content = models.JSONField(help_text="The round as it was sent the second time.")
    fingerprint = models.BinaryField(max_length=32)
    channel = models.CharField(max_length=10, choices=Round.Channel)
    at = models.DateTimeField(default=timezone.now)
    who = models.TextField("sent by")

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [models.UniqueConstraint(fields=["source", "ref", "fingerprint"], name="conflict_once_a_content")]

    def __str__(self) -> str:
        return f"{self.source} {self.ref}"


class ImportJob(models.Model):
    """A file that a person uploaded: its progress and its outcome."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        REFUSED = "refused"

    grants = Grants(update=("state", "read", "rounds", "new", "faults", "finished_at"))
    casino_path, pit_path = "casino", None

    casino = models.ForeignKey("Casino", on_delete=models.PROTECT, null=True, related_name="+")
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    stored = models.CharField(max_length=200, help_text="The name of the file in the uploads folder.")
    size = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    read = models.BigIntegerField(default=0, help_text="Bytes of it that were read so far.")
    rounds = models.PositiveIntegerField(default=0)
    new = models.PositiveIntegerField(default=0)
    faults = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def percent(self) -> int:
        return min(100, self.read * 100 // max(self.size, 1))

    @property
    def is_over(self) -> bool:
        return self.state in (self.State.DONE, self.State.REFUSED)


class Outbox(models.Model):
    """Rounds to be reconciled: written with the round, deleted once reconciled."""

    grants = Grants(delete=True)

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="outbox")
    at = models.DateTimeField(default=timezone.now)
    again = models.BooleanField(
        default=False, db_default=False, help_text="It was reconciled before; what it is settled by has changed."
    )

    class Meta:
        verbose_name_plural = "outbox"

    def __str__(self) -> str:
        return str(self.round_id)


class RoundBetManager(models.Manager["RoundBet"]):
    def of_player(self, player: str) -> "models.QuerySet[RoundBet]":
        """Select a player's bets: the index on players finds the rounds first."""
        return self.filter(players__contains=[player], player=player)


class RoundBet(models.Model):
    """One row a bet: a read-only view over the rounds."""

    grants = READ_ONLY
    table_path = "table"

    round = models.ForeignKey(Round, on_delete=models.DO_NOTHING, related_name="bets", db_constraint=False)
    position = models.IntegerField(help_text="From 1, in the order in which the bets were sent.")
    table = models.ForeignKey(Table, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False)
    gaming_day = models.DateField()
    started_at = models.DateTimeField()
    players = ArrayField(models.TextField())
    player = models.TextField()
    box = models.TextField()
    stake = models.BigIntegerField()
    net = models.BigIntegerField(null=True)
    placed_at = models.DateTimeField(null=True)
    late = models.BooleanField()
    refused = models.BooleanField()
    house_placed = models.BooleanField()
    call = models.BooleanField()
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn = models.BooleanField()

    objects = RoundBetManager()

    class Meta:
        managed = False
        db_table = "games_roundbet"
        ordering = ["round", "position"]

    def __str__(self) -> str:
        return f"{self.round_id}/{self.position}"
