"""Loading a floor file: all of it or nothing of it; what is on record already changes nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction

from games.access.gate import Actor
from games.access.roles import is_of_posts
from games.access.services.people import staff_create, staff_update
from games.engine.errors import InputError
from games.floor.floor_file import CasinoEntry, Floor, LimitsEntry, PitEntry, StaffEntry, StateEntry, TableEntry
from games.floor.services.casinos import casino_create, casino_update, pit_create, pit_update
from games.floor.services.table_states import table_state_load
from games.floor.services.tables import assignment_record, table_create
from games.limits.services.limits_fit import misfits_of
from games.limits.services.proposals import limit_set_load
from games.models import Casino, Pit, Staff, Table

ADVISORY_LOCK = 7_241_501  # any number that nobody else uses
KEYS = {"starts_at": "from", "__all__": ""}


@transaction.atomic
def floor_load(*, actor: Actor, floor: Floor, source: str) -> int:
    """How many entries were new or changed something."""
    with connection.cursor() as cursor:  # two loads at once would both find a table missing
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ADVISORY_LOCK])
    loading = Loading(actor, source)
    for casino in floor.casinos:
        loading.casino(casino)
    for pit in floor.pits:
        loading.pit(pit)
    for table in floor.tables:
        loading.table(table)
    for limits in floor.limits:
        loading.limits(limits)
    for staff in floor.staff:
        loading.staff(staff)
    for state in sorted(floor.states, key=lambda entry: entry.starts_at):
        loading.state(state)
    loading.finish()
    return loading.changed


class Loading:
    """One file on its way into the books: what changed so far, and every fault with its entry."""

    def __init__(self, actor: Actor, source: str) -> None:
        self.actor = actor
        self.reason = f"Loaded from {source}"
        self.source = source
        self.changed = 0
        self.faults: list[str] = []
        self.touched: dict[str, Table] = {}
        self.faulty: set[str] = set()
        self.broken_off: set[str] = set()  # tables with a state that was refused

    @contextmanager
    def told(self, where: str, *tables: str) -> Iterator[None]:
        """What a service refuses is told with the entry; the rest of the file is still looked at."""
        try:
            with transaction.atomic():
                yield
        except ValidationError as error:
            self.faulty.update(code.upper() for code in tables)
            for key, messages in _by_key(error):
                self.faults.extend(f"{where}: {f'{key}: ' if key else ''}{message}" for message in messages)

    def casino(self, entry: CasinoEntry) -> None:
        with self.told(entry.where):
            casino = Casino.objects.filter(code=entry.values["code"]).first()
            if casino is None:
                casino_create(actor=self.actor, reason=self.reason, **entry.values)
                self.changed += 1
            elif any(getattr(casino, name) != value for name, value in entry.values.items()):
                self.changed += casino_update(actor=self.actor, casino=casino, changes=entry.values, reason=self.reason)

    def pit(self, entry: PitEntry) -> None:
        with self.told(entry.where):
            pit = self._pit(self._casino(entry.casino), entry.code)
            if pit.name != entry.name:
                self.changed += pit_update(actor=self.actor, pit=pit, changes={"name": entry.name}, reason=self.reason)

    def table(self, entry: TableEntry) -> None:
        with self.told(entry.where, entry.code):
            casino = self._casino(entry.casino)
            pit = self._pit(casino, entry.pit)
            game: Any = {
                "pit": pit, "rulebook": entry.rulebook, "layout": entry.layout, "chip_unit": entry.chip_unit,
                "starts_at": entry.starts_at, "reason": self.reason,
            }  # fmt: skip
            table = Table.objects.select_for_update().filter(code__iexact=entry.code).first()
            if table is None:
                table = table_create(actor=self.actor, casino=casino, code=entry.code, **game)
                self.changed += 1
            elif table.casino != casino:
                raise ValidationError(
                    {"casino": f"{table} is a table of {table.casino.code}, where it stays; choose another code."}
                )
            else:
                self.changed += assignment_record(actor=self.actor, table=table, **game)
            self.touched[table.code] = table

    def limits(self, entry: LimitsEntry) -> None:
        sheet = None
        for code in entry.tables:
            if code.upper() in self.faulty:
                continue
            with self.told(entry.where, code):
                table = Table.objects.select_for_update().filter(code__iexact=code).first()
                if table is None:
                    raise ValidationError(
                        {"tables": f"there is no table {code}; add it as [[table]], or check its code."}
                    )
                loaded = limit_set_load(
                    actor=self.actor, table=table, limits=entry.limits, sheet=sheet, starts_at=entry.starts_at,
                    source=self.source,
                )  # fmt: skip
                self.changed += loaded is not None
                sheet = loaded or sheet
                self.touched[table.code] = table

    def staff(self, entry: StaffEntry) -> None:
        with self.told(entry.where):
            casino = self._casino(entry.casino) if entry.casino else None
            pit = self._pit(casino, entry.pit) if casino and entry.pit else None
            values: Any = {"name": entry.name, "department": entry.department, "post": entry.post, "casino": casino}
            person = Staff.objects.filter(number__iexact=entry.number).first()
            if person is None:
                staff_create(actor=self.actor, number=entry.number, pit=pit, reason=self.reason, **values)
                self.changed += 1
                return
            if entry.pit or not is_of_posts(entry.department) or person.casino != casino:
                values["pit"] = pit  # a pit that the entry leaves out stays, where it can
            if any(getattr(person, name) != value for name, value in values.items()):
                self.changed += bool(staff_update(actor=self.actor, staff=person, changes=values, reason=self.reason))

    def state(self, entry: StateEntry) -> None:
        """After a faulty entry of a table its later states are left out: they build on it."""
        code = entry.table.upper()
        if code in self.faulty or code in self.broken_off:
            return
        before = len(self.faults)
        with self.told(entry.where):
            table = Table.objects.filter(code__iexact=entry.table).first()
            if table is None:
                fault = f"there is no table {entry.table}; add it as [[table]], or check its code."
                raise ValidationError({"table": fault})
            self.changed += table_state_load(
                actor=self.actor, table=table, entry=entry, source=self.source, reason=self.reason
            )
        if len(self.faults) > before:
            self.broken_off.add(code)

    def finish(self) -> None:
        """When all is written: do the limits fit? Any fault takes everything back."""
        for code, table in self.touched.items():
            if code.upper() not in self.faulty:
                self.faults.extend(misfits_of(table))
        if self.faults:
            raise InputError(*dict.fromkeys(self.faults))

    def _casino(self, code: str) -> Casino:
        casino = Casino.objects.filter(code=code).first()
        if casino is None:
            raise ValidationError({"casino": f"there is no casino {code}; add it as [[casino]], or check its code."})
        return casino

    def _pit(self, casino: Casino, code: str) -> Pit:
        """A pit is made when the first entry names it."""
        pit = Pit.objects.filter(casino=casino, code__iexact=code).first()
        if pit is None:
            pit = pit_create(actor=self.actor, casino=casino, code=code, name="", reason=self.reason)
            self.changed += 1
        return pit


def _by_key(error: ValidationError) -> Iterator[tuple[str, list[str]]]:
    if hasattr(error, "error_dict"):
        for name, messages in error.message_dict.items():
            yield KEYS.get(name, name), messages
    else:
        yield "", error.messages
