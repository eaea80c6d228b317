"""What the database role `app` may do with the rows of a model. Each model declares it as `grants`.

After every `migrate` the database's grants and triggers are made from these declarations
(games.database.role_grants). A model without a declaration is an error of `manage.py check`.
"""

from dataclasses import dataclass

from django.db import models


@dataclass(frozen=True)
class Grants:
    """The rights on a model's rows. Reading is always allowed; all else is refused unless named here."""

    insert: bool = True
    #: Fields that the product changes after the insert. Fields that say what a row is about are never among them.
    update: tuple[str, ...] = ()
    delete: bool = False
    #: Triggers refuse changes and deletions for every role, including the owner of the tables.
    by_trigger: bool = False


#: Facts: no row is changed or deleted.
WRITTEN_ONCE = Grants(by_trigger=True)
READ_ONLY = Grants(insert=False)


def field_columns(model: type[models.Model], names: tuple[str, ...]) -> set[str]:
    """Return the columns of some fields; raise FieldDoesNotExist if the model has no such field."""
    return {str(model._meta.get_field(name).column) for name in names}  # type: ignore[union-attr]
