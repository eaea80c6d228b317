"""The one gate: who may do what, for page, admin, API and command alike. Every denial goes on record."""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from games.access.models.acting_appointment import acting_limits_of
from games.access.roles import CONFIDENTIAL, Role, access_policy, is_above, is_of_posts, rank, role_of, role_of_post
from games.access.services.denials import denial_record
from games.models import Duty, Staff, Table, Terminal, TerminalTable

M = TypeVar("M", bound=Model)

#: How the caller came in: "GET /admin/…", "command duty".
entry_point: ContextVar[str] = ContextVar("door", default="")
#: Asks a person at a page or with the API to confirm that it is them, where an action needs it (services.freshness).
freshness: ContextVar[Callable[[str], None] | None] = ContextVar("freshness", default=None)


class Denied(PermissionDenied):
    """The gate said no, and that is on record."""


@dataclass(frozen=True)
class Operator:
    """Whoever runs a command on the machine itself, without saying as whom."""

    pk = None
    casino_id = None

    def __str__(self) -> str:
        return access_policy().roles["operator"].name


Actor = Staff | Operator | Terminal


@dataclass(frozen=True)
class Capacity:
    """What an actor is at this moment, and where: in a permanent post or department, or acting by a duty."""

    role: Role
    casino_id: int | None
    pit_id: int | None = None
    duty: Duty | None = None
    table_ids: frozenset[int] | None = None  # a terminal's own

    def __str__(self) -> str:
        return f"acting {self.role.name.lower()}" if self.duty else self.role.name.lower()

    def covers(self, action: str, thing: Model | None) -> bool:
        """The thing lies within reach. What belongs to the whole casino may be seen, but not changed, from one pit."""
        if thing is not None and not self.sees_confidential and is_confidential(thing):
            return False
        if self.table_ids is not None:
            return thing is None or table_id_of(thing) in self.table_ids
        if thing is None or not has_place(type(thing)):  # what lies nowhere in particular
            return True
        casino_id, pit_id = place_of(thing)
        if self.casino_id not in (None, casino_id):
            return False
        return self.pit_id in (None, pit_id) or (pit_id is None and action.endswith(".view"))

    @property
    def sees_confidential(self) -> bool:
        return CONFIDENTIAL in self.role.may

    def within(self, model: type[Model]) -> Q:
        """The same for a query: what this standing sees of a model."""
        query = Q()
        if not self.sees_confidential and (path := getattr(model, "confidential_path", None)):
            query &= Q(**{path: False})
        if path := getattr(model, "table_path", None):
            return query if self.casino_id is None else query & Q(**{f"{path}__in": self.tables().values("pk")})
        if self.table_ids is not None:
            return Q(pk__in=[])
        if self.casino_id is not None and (path := getattr(model, "casino_path", None)):
            query &= Q(**{path: self.casino_id})
        if self.pit_id is not None and (path := getattr(model, "pit_path", None)):
            query &= Q(**{path: self.pit_id}) | Q(**{f"{path}__isnull": True})
        return query

    def tables(self) -> QuerySet[Table]:
        """The tables within reach: all of the casino, those that stand in the pit now, or a terminal's own."""
        tables = Table.objects.filter(casino=self.casino_id)
        if self.table_ids is not None:
            return tables.filter(pk__in=self.table_ids)
        return tables if self.pit_id is None else tables.standing_in(self.pit_id)


def is_confidential(thing: Any) -> bool:
    """Marked as confidential, as a model with a `confidential_path` can be."""
    path = getattr(thing, "confidential_path", None)
    for step in path.split("__") if path else ():
        thing = getattr(thing, step)
    return bool(path and thing)


def has_place(model: type[Model]) -> bool:
    return hasattr(model, "casino_path") or hasattr(model, "table_path")


def table_id_of(thing: Any) -> int | None:
    """The table that a record is, or lies at."""
    path = getattr(thing, "table_path", None)
    found: int | None = getattr(thing, "pk" if path == "pk" else f"{path}_id") if path else None
    return found


def place_of(thing: Any) -> tuple[int | None, int | None]:
    """The casino and the pit that a record belongs to, by the paths its model names; at a table, where that stands."""
    if path := getattr(thing, "table_path", None):
        table: Table = thing if path == "pk" else getattr(thing, path)
        pit = table.pit
        return table.casino_id, pit.pk if pit else None

    def value(path: str | None) -> int | None:
        if not path:
            return None
        *steps, last = path.split("__")
        holder = thing
        for step in steps:
            holder = getattr(holder, step)
        found: int | None = getattr(holder, "pk" if last == "pk" else f"{last}_id")
        return found

    return value(getattr(thing, "casino_path", None)), value(getattr(thing, "pit_path", None))


def capacities(actor: Any) -> list[Capacity]:
    """All that an actor is now, the highest post first.

    A duty counts from its first moment and not a moment past its last. The duties are read once for each time the
    person is loaded (a request), the clock is read at each question. Somebody of another department who acts in a post
    of the pit is nothing else meanwhile: the rights of the own department rest, so that nobody reviews their own acts.
    """
    if isinstance(actor, Operator):
        return [Capacity(access_policy().roles["operator"], None)]
    if isinstance(actor, Terminal):
        return _bound(actor)
    if not isinstance(actor, Staff) or not actor.is_active:
        return []
    role = role_of(actor.department, actor.post)
    own = Capacity(role, actor.casino_id, actor.pit_id if role.reach == "pit" else None)
    now = timezone.now()
    acting = [
        _acting(duty) for duty in _duties(actor) if duty.starts_at <= now < duty.ends_at and gives_rights(duty, actor)
    ]
    if acting and not is_of_posts(actor.department):
        return sorted(acting, key=_rank_of, reverse=True)
    return sorted([own, *acting], key=_rank_of, reverse=True) if acting else [own]


def _bound(terminal: Terminal) -> list[Capacity]:
    """Read anew at each question: neither a key that was revoked nor one that is bound to no table is anything."""
    role = access_policy().roles["terminal"]
    bindings = TerminalTable.objects.filter(terminal=terminal.pk, terminal__revoked_at=None)
    table_ids = frozenset(bindings.values_list("table", flat=True))
    return [Capacity(role, terminal.casino_id, table_ids=table_ids)] if table_ids else []


def gives_rights(duty: Duty, staff: Staff) -> bool:
    """Return whether an appointment gives rights: to a higher post, granted in this department, and allowed there now.

    One from before the bounds on its length and steps counts to its recorded end: it was lawful when it was granted.
    """
    if not is_above(duty.post, staff.post):
        return False
    if is_of_posts(staff.department):
        return duty.department in ("", staff.department)
    return duty.department == staff.department and acting_limits_of(duty.casino).other_departments


def _duties(staff: Staff) -> list[Duty]:
    known: list[Duty] | None = staff.__dict__.get("known_duties")
    if known is None:
        known = list(staff.duties.filter(ends_at__gt=timezone.now()).select_related("casino", "pit"))
        staff.__dict__["known_duties"] = known
    return known


def _acting(duty: Duty) -> Capacity:
    return Capacity(role_of_post(duty.post), duty.casino_id, duty.pit_id, duty)


def _rank_of(standing: Capacity) -> int:
    return rank(standing.role.post or "")


def capacity_for(actor: Any, action: str, thing: Model | None = None) -> Capacity | None:
    """The standing by which an actor may do this, the highest if there are several."""
    return next(
        (capacity for capacity in capacities(actor) if action in capacity.role.may and capacity.covers(action, thing)),
        None,
    )


def can(actor: Any, action: str, thing: Model | None = None) -> bool:
    return capacity_for(actor, action, thing) is not None


def authorize(actor: Any, action: str, thing: Model | None = None) -> Capacity:
    """Pass the gate, or be turned away on record. What comes back says in which post it was done."""
    if isinstance(actor, Staff):
        actor.__dict__.pop("known_duties", None)  # before anything is written, the duties are read anew
    standing = capacity_for(actor, action, thing)
    if standing is None:
        raise deny(actor, action, thing)
    if isinstance(actor, Staff) and (ask := freshness.get()):
        ask(action)
    return standing


def deny(actor: Any, action: str, thing: object = None) -> Denied:
    """Put a refusal on record; the caller raises what comes back."""
    who = actor_name(actor)
    label = label_of(thing)
    denial_record(actor=actor, who=who, action=action, thing=label, door=entry_point.get())
    return Denied(f"{who} may not do this ({action}{f', {label}' if label else ''}). The attempt is on record.")


def label_of(thing: object) -> str:
    """What a refusal says of a thing; of what is confidential, nothing."""
    if not isinstance(thing, Model):
        return str(thing or "")
    return "" if is_confidential(thing) else f"{thing._meta.verbose_name} {thing}"


def can_be_confidential(model: type[Model]) -> bool:
    return hasattr(model, "confidential_path")


def visible_or_none(actor: Any, model: type[M], thing: M | None) -> M | None:
    """Of a model that can be confidential: the record, or None alike where there is none and where it may not be seen.

    Both leave the same denial on record, so that neither the answer nor the record says which it was.
    """
    action = f"{model._meta.model_name}.view"
    authorize(actor, action)
    if thing is not None and can(actor, action, thing):
        return thing
    deny(actor, action)
    return None


def visible(actor: Any, queryset: QuerySet[M]) -> QuerySet[M]:
    """What an actor may see of a list."""
    return within_reach(actor, f"{queryset.model._meta.model_name}.view", queryset)


def within_reach(actor: Any, action: str, queryset: QuerySet[M]) -> QuerySet[M]:
    """What of a list lies where an actor may do this."""
    return queryset.filter(
        any_of(capacity.within(queryset.model) for capacity in capacities(actor) if action in capacity.role.may)
    )


def any_of(queries: Iterable[Q]) -> Q:
    """One of these; nothing at all where there are none."""
    result = Q(pk__in=[])
    for query in queries:
        if not query:
            return query
        result |= query
    return result


def actor_name(actor: Any) -> str:
    """An actor in words, with the highest post held at this moment."""
    if isinstance(actor, Staff):
        return f"{actor}, {next(map(str, capacities(actor)), 'no longer active')}"
    if isinstance(actor, Terminal):
        return f"Terminal {actor}"
    return "Somebody not logged in" if getattr(actor, "is_anonymous", False) else str(actor)
