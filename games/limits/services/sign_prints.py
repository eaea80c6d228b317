"""Print signs: every print is recorded, and the second print of the same sign says so."""

from django.core.exceptions import ValidationError
from django.db import transaction

from games.access.gate import actor_name, authorize
from games.models import LimitSet, SignPrint, Staff, Table, TableAssignment


@transaction.atomic
def sign_print(*, actor: Staff, table: Table, limit_set: LimitSet, assignment: TableAssignment, form: str) -> SignPrint:
    Table.objects.select_for_update().get(pk=table.pk)  # one print at a time, so that numbers are consecutive
    authorize(actor, "table.print", table)
    if limit_set.table_id != table.pk or assignment.table_id != table.pk:
        raise ValidationError(f"{table} has no such sign. Choose one of its own signs.")
    number = SignPrint.objects.filter(limit_set=limit_set, assignment=assignment).count() + 1
    return SignPrint.objects.create(
        table=table, limit_set=limit_set, assignment=assignment, number=number, form=form, by=actor,
        who=actor_name(actor),
    )  # fmt: skip
