"""The ledger: a hash chain per table (and per casino), with one leaf for each record. Leaves are written once.

A leaf's hash covers the previous hash and the canonical bytes of its record, so that a record that is changed, added
or removed later no longer fits.
"""

from django.db import models
from django.utils import timezone

from games.database.grants import WRITTEN_ONCE, Grants


class LedgerChain(models.Model):
    """The end of a chain: its length and last hash, where the next leaf continues. Proof are the leaves themselves."""

    grants = Grants(update=("length", "head"))

    name = models.CharField(max_length=60, unique=True)
    length = models.BigIntegerField(default=0)
    head = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return self.name


class LedgerLeaf(models.Model):
    grants = WRITTEN_ONCE

    chain = models.ForeignKey(LedgerChain, on_delete=models.PROTECT, related_name="leaves", db_index=False)
    position = models.BigIntegerField(help_text="From 1, without a gap.")
    kind = models.CharField(max_length=20)
    subject = models.BigIntegerField(help_text="The id of the record.")
    content = models.BinaryField(help_text="The canonical bytes of the record, beginning with their format.")
    previous = models.BinaryField(max_length=32)
    hash = models.BinaryField(max_length=32)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["chain", "position"]
        constraints = [
            models.UniqueConstraint(fields=["chain", "position"], name="ledger_leaf_once"),
            models.CheckConstraint(condition=models.Q(position__gt=0), name="ledger_position_from_one"),
        ]
        indexes = [models.Index(fields=["kind", "subject"], name="ledger_leaf_by_subject")]

    def __str__(self) -> str:
        return f"{self.chain_id}/{self.position}"
