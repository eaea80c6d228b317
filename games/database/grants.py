"""What the database role `app` may do with the rows of a model. Each model declares it as `grants`.

After every `migrate` the grants and triggers of the database are made from these declarations
(games.database.role_grants). A model without one is an error of `manage.py check`.
"""

from dataclasses import dataclass

from django.db import models


@dataclass(frozen=True)
class Grants:
    """Rows may always be read. All else is refused unless it is named here."""

    insert: bool = True
    #: Names of the fields that the product changes after the insert. What a row is about is not one of them.
    update: tuple[str, ...] = ()
    delete: bool = False
    #: Triggers refuse a change and a removal to every role, the owner of the tables too.
    by_trigger: bool = False


#: Facts: no row is changed or removed.
WRITTEN_ONCE = Grants(by_trigger=True)
READ_ONLY = Grants(insert=False)


def field_columns(model: type[models.Model], names: tuple[str, ...]) -> set[str]:
    """Return the columns of some fields; raise FieldDoesNotExist where the model has no such field."""
    return {str(model._meta.get_field(name).column) for name in names}  # type: ignore[union-attr]
