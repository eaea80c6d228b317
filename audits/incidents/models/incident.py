"""Incidents: the number, what happened, the people, the advice, and every step since."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from audits.findings.models.finding import Finding
from audits.incidents.models.log import LogEntry
from games.database.grants import WRITTEN_ONCE, Grants
from games.history.records import History
from games.models import Casino, Pit, RecordingConflict, Round, Staff, Table


class IncidentState(models.TextChoices):
    OPEN = "open"
    INVESTIGATION = "under-investigation", "Under investigation"
    AWAITING = "awaiting-ruling", "Awaiting ruling"
    RULED = "ruled"
    CLOSED = "closed"
    REOPENED = "reopened"


class Incident(models.Model):
    """The file of an incident: what happened, where and when, with the advice as it was given."""

    grants = Grants(
        update=(
            "pit", "table", "occurred_from", "occurred_to", "situation", "facts", "account", "rulebook", "state",
            "state_since",
        ),
    )  # fmt: skip
    casino_path, pit_path = "casino", "pit"

    casino = models.ForeignKey(Casino, on_delete=models.PROTECT, related_name="incidents")
    pit = models.ForeignKey(Pit, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    table = models.ForeignKey(
        Table, on_delete=models.PROTECT, null=True, blank=True, related_name="incidents", db_index=False
    )
    year = models.PositiveSmallIntegerField(editable=False)
    serial = models.PositiveIntegerField(editable=False)
    number = models.CharField(max_length=20, editable=False)
    occurred_from = models.DateTimeField()
    occurred_to = models.DateTimeField(null=True, blank=True)
    reported_at = models.DateTimeField(default=timezone.now, editable=False)
    reported_by = models.ForeignKey(
        Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+", editable=False
    )
    who = models.TextField("reported by", editable=False)
    department = models.CharField("department of the reporter", max_length=20, default="", blank=True, editable=False)
    situation = models.CharField(max_length=40)
    facts = models.JSONField(
        default=dict, blank=True, help_text="What the situation asks for, such as the dice that were known."
    )
    account = models.TextField("what happened")
    rulebook = models.CharField(
        max_length=64, blank=True, default="", help_text="In force at the table at that moment."
    )
    advice = models.JSONField(
        null=True, blank=True, help_text="As it was given when the file was opened.", editable=False
    )
    state = models.CharField(max_length=20, choices=IncidentState, default=IncidentState.OPEN)
    state_since = models.DateTimeField(default=timezone.now)
    entry = models.ForeignKey(
        LogEntry, on_delete=models.PROTECT, null=True, blank=True, related_name="incidents", editable=False
    )
    finding = models.ForeignKey(
        Finding, on_delete=models.PROTECT, null=True, blank=True, related_name="incidents", editable=False
    )
    conflict = models.ForeignKey(
        RecordingConflict, on_delete=models.PROTECT, null=True, blank=True, related_name="+", editable=False
    )
    search = models.GeneratedField(
        expression=SearchVector("number", "account", "situation", config="english"),
        output_field=SearchVectorField(), db_persist=True,
    )  # fmt: skip

    history = History(excluded_fields=("search", "advice"))  # the advice never changes, and may be long

    class Meta:
        ordering = ["-occurred_from", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["casino", "year", "serial"], name="incident_number_once"),
            models.CheckConstraint(condition=Q(serial__gt=0), name="incident_serial_from_one"),
            models.CheckConstraint(condition=Q(state__in=IncidentState.values), name="incident_state_known"),
            models.CheckConstraint(condition=~Q(account=""), name="incident_says_what_happened"),
            models.CheckConstraint(
                condition=Q(occurred_to__isnull=True) | Q(occurred_to__gte=F("occurred_from")),
                name="incident_ends_after_it_begins",
            ),
        ]
        indexes = [
            models.Index(fields=["casino", "-occurred_from", "-id"], name="incident_newest_first"),
            models.Index(fields=["casino", "state", "-occurred_from"], name="incident_by_state"),
            models.Index(fields=["table", "-occurred_from", "-id"], name="incident_by_table"),
            GinIndex(fields=["search"], name="incident_by_words"),
        ]

    def __str__(self) -> str:
        return self.number


class IncidentStep(models.Model):
    """A step from one state to another, with person, post, time and reason. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "incident__casino", "incident__pit"

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="steps")
    before = models.CharField(max_length=20, blank=True)
    after = models.CharField(max_length=20, choices=IncidentState)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    who = models.TextField()
    reason = models.TextField()

    class Meta:
        ordering = ["at", "id"]
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="incident_step_has_a_reason")]

    def __str__(self) -> str:
        return f"{self.incident}: {self.after}"


class IncidentNote(models.Model):
    """A note on an incident; only surveillance, compliance and auditors see a confidential one. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "incident__casino", "incident__pit"
    confidential_path = "is_confidential"

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="notes")
    text = models.TextField()
    is_confidential = models.BooleanField("confidential", default=False)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField()
    search = models.GeneratedField(
        expression=SearchVector("text", config="english"), output_field=SearchVectorField(), db_persist=True
    )

    class Meta:
        ordering = ["at", "id"]
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="incident_note_says_something")]
        indexes = [GinIndex(fields=["search"], name="incident_note_by_words")]

    def __str__(self) -> str:
        return f"{self.incident}, note no. {self.pk}"


class IncidentPerson(models.Model):
    """A person who was present: staff by number, patrons by reference only. Written once."""

    class Part(models.TextChoices):
        DEALER = "dealer"
        SUPERVISOR = "supervisor"
        WITNESS = "witness"
        PATRON = "patron"
        OTHER = "other"

    PARTIES = (Part.DEALER, Part.SUPERVISOR)

    grants = WRITTEN_ONCE
    casino_path, pit_path = "incident__casino", "incident__pit"

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="people")
    part = models.CharField(max_length=12, choices=Part)
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    reference = models.CharField(max_length=200, help_text="A staff number, or the patron's reference; never a name.")
    by = models.ForeignKey(
        Staff, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False,
        help_text="Empty: named by a program, or before this was recorded.",
    )  # fmt: skip
    who = models.TextField("added by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "people"
        constraints = [
            models.UniqueConstraint(fields=["incident", "part", "reference"], name="incident_person_once"),
            models.CheckConstraint(condition=~Q(reference=""), name="incident_person_has_a_reference"),
        ]

    def __str__(self) -> str:
        return f"{self.part} {self.reference}"

    @property
    def is_party(self) -> bool:
        """Return whether the part bars this person from ruling, once it is confirmed."""
        return self.part in self.PARTIES

    @property
    def is_confirmed(self) -> bool:
        return hasattr(self, "confirmation")


class PartyConfirmation(models.Model):
    """The confirmation by surveillance or compliance that a named dealer or supervisor had that part. Written once.

    The person who named them cannot confirm it. Only a confirmed person is barred from ruling.
    """

    grants = WRITTEN_ONCE
    casino_path, pit_path = "person__incident__casino", "person__incident__pit"

    person = models.OneToOneField(IncidentPerson, on_delete=models.PROTECT, related_name="confirmation")
    reason = models.TextField()
    by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    who = models.TextField("confirmed by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="party_confirmation_has_a_reason")]

    def __str__(self) -> str:
        return f"{self.person}, confirmed"


class IncidentRound(models.Model):
    """A round that an incident is about. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "incident__casino", "incident__pit"

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="rounds")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="incidents")
    who = models.TextField("added by")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["round__started_at", "id"]
        constraints = [models.UniqueConstraint(fields=["incident", "round"], name="incident_round_once")]

    def __str__(self) -> str:
        return f"{self.incident}: {self.round}"


class IncidentLink(models.Model):
    """Two related incidents; the link shows on both. Written once."""

    grants = WRITTEN_ONCE
    casino_path, pit_path = "one__casino", "one__pit"

    one = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="+")
    other = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    who = models.TextField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["one", "other"], name="incident_link_once"),
            models.CheckConstraint(condition=Q(one__lt=F("other")), name="incident_link_one_way_round"),
        ]

    def __str__(self) -> str:
        return f"{self.one} and {self.other}"
