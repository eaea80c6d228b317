"""Printing signs: each print is on record, and the second one of the same sign says so."""

from django.core.exceptions import ValidationError
from django.db import transaction

from games.access.gate import actor_name, authorize
from games.models import LimitSet, SignPrint, Staff, Table, TableAssignment


@transaction.atomic
def sign_print(*, actor: Staff, table: Table, limit_set: LimitSet, assignment: TableAssignment, form: str) -> SignPrint:
    Table.objects.select_for_update().get(pk=table.pk)  # prints are numbered one by one
    authorize(actor, "table.print", table)
    if limit_set.table_id != table.pk or assignment.table_id != table.pk:
        raise ValidationError(f"These are not limits and a game of {table}; choose one of its own signs.")
    number = SignPrint.objects.filter(limit_set=limit_set, assignment=assignment).count() + 1
    return SignPrint.objects.create(
        table=table, limit_set=limit_set, assignment=assignment, number=number, form=form, by=actor,
        who=actor_name(actor),
    )  # fmt: skip
