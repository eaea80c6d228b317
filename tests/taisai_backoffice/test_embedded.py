"""The servers that the project brings along: made once, shared by whoever needs them, gone with the last one out."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from taisai_backoffice.embedded.account import FALLBACK_ROOT
from taisai_backoffice.embedded.errors import EmbeddedServerError
from taisai_backoffice.embedded.home import PROJECT, Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.postgres import Postgres
from taisai_backoffice.embedded.valkey import Valkey
from tests.homes import bare_environment, processes_of, throwaway_home, verify_nothing_left
from tests.patience import wait_for

Server = Postgres | Valkey

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL under another account")

#: A command that says which start of the server it works with, and stays until it is told to go.
HOLD = """
import sys
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT pg_postmaster_start_time()")
    print(cursor.fetchone()[0].isoformat(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home() -> Iterator[Home]:
    with throwaway_home() as home:
        yield home


@pytest.fixture(params=[Postgres, Valkey])
def server(request: pytest.FixtureRequest, home: Home) -> Server:
    made: Server = request.param(home)
    return made


@pytest.fixture(scope="module")
def first_commands() -> Iterator[tuple[Home, list[str]]]:
    """A new home on which two commands began at once, and which start of the server each of them worked with."""
    with throwaway_home() as home:
        commands = [shell(home, HOLD) for _ in range(2)]
        starts = [first_line(command) for command in commands]
        for command in commands:
            finished(command)
        verify_nothing_left(home)
        yield home, starts


@pytest.fixture
def made_home(first_commands: tuple[Home, list[str]]) -> Home:
    """A home on which commands have been at work before."""
    return first_commands[0]


def python(code: str, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=PROJECT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def manage(home: Home, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, PROJECT / "manage.py", *arguments], env=bare_environment(home), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def shell(home: Home, code: str) -> "subprocess.Popen[str]":
    return manage(home, "shell", "--no-imports", "-c", code)


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert line, finished(process)
    return line


def finished(process: "subprocess.Popen[str]") -> str:
    """Let a command end; what it printed."""
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


# --- Secrets ---------------------------------------------------------------------------------------


def test_a_secret_is_made_once_for_its_owner_only(home: Home) -> None:
    secret = home.secret("key")
    assert len(secret) >= 48
    assert Home(home.path).secret("key") == secret
    assert home.secret("other") != secret
    assert stat.S_IMODE((home.path / "secrets" / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE((home.path / "secrets").stat().st_mode) == 0o700


def test_two_processes_at_once_have_the_same_secrets(home: Home) -> None:
    code = """
import sys
from pathlib import Path
from taisai_backoffice.embedded.home import Home
print("ready", flush=True)
sys.stdin.readline()
print([Home(Path(sys.argv[1])).secret(str(number)) for number in range(300)])
"""
    racers = [python(code, home.path) for _ in range(2)]
    for racer in racers:
        assert first_line(racer) == "ready"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    first, second = map(finished, racers)
    assert first == second
    assert len(list((home.path / "secrets").iterdir())) == 300, "drafts were left behind"


def test_a_home_that_cannot_be_is_a_sentence_and_no_traceback() -> None:
    command = manage(Home(Path("/dev/null/home")), "check")
    _, errors = command.communicate(timeout=60)
    assert command.returncode == 1
    assert (
        errors.strip() == "The home folder /dev/null/home cannot be written; set TAISAI_HOME to a folder of your own."
    )


@pytest.mark.parametrize(
    ("theirs", "message"),
    [("home", "home cannot be written; set TAISAI_HOME"), ("home/secrets", "home/secrets belongs to another account")],
)
def test_a_home_of_another_account_is_refused_with_the_way_out(home: Home, theirs: str, message: str) -> None:
    code = """
import os, sys
from pathlib import Path
from taisai_backoffice.embedded.home import EmbeddedServerError, Home
if os.geteuid() == 0:
    os.setuid(65534)
try:
    Home(Path(sys.argv[1])).secret("key")
except EmbeddedServerError as error:
    print(error)
"""
    home.path.chmod(0o777)
    folder = home.path.parent / theirs
    folder.mkdir(exist_ok=True)
    folder.chmod(0o500)
    assert message in finished(python(code, home.path))


# --- Leases ----------------------------------------------------------------------------------------

HOLD_A_LEASE = """
import sys
from pathlib import Path
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.{module} import {name}
lease = Lease.take({name}(Home(Path(sys.argv[1]))))
print("ready", flush=True)
sys.stdin.read()
"""


def holder(server: Server) -> "subprocess.Popen[str]":
    """Another process that holds a lease on this server."""
    kind = type(server)
    process = python(
        HOLD_A_LEASE.format(module=kind.__module__.rpartition(".")[2], name=kind.__name__), server.home.path
    )
    assert first_line(process) == "ready"
    return process


def test_leases_share_one_server_and_the_last_one_out_stops_it(server: Server) -> None:
    first = Lease.take(server)
    pid = server.pid()
    second = Lease.take(type(server)(server.home))
    assert server.pid() == pid
    first.give_back()
    assert server.pid() == pid
    assert processes_of(server.home)
    second.give_back()
    verify_nothing_left(server.home)


def test_a_killed_holder_has_no_lease_and_the_next_one_out_stops_the_server_it_left_behind(server: Server) -> None:
    killed = holder(server)
    pid = server.pid()
    killed.kill()
    killed.communicate()
    assert server.pid() == pid
    lease = Lease.take(server)
    assert server.pid() == pid
    lease.give_back()
    verify_nothing_left(server.home)


def test_who_is_alive_keeps_the_server_when_another_holder_is_killed(server: Server) -> None:
    lease = Lease.take(server)
    pid = server.pid()
    killed = holder(server)
    killed.kill()
    killed.communicate()
    assert server.pid() == pid
    lease.give_back()
    verify_nothing_left(server.home)


def test_a_forked_child_has_no_say_in_its_parents_lease(home: Home) -> None:
    code = """
import os, sys
from pathlib import Path
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.lease import Lease
from taisai_backoffice.embedded.valkey import Valkey
server = Valkey(Home(Path(sys.argv[1])))
lease = Lease.take(server)
if (child := os.fork()) == 0:
    lease.give_back()
    os._exit(0)
os.waitpid(child, 0)
print(server.is_running())
lease.give_back()
print(server.is_running())
"""
    assert finished(python(code, home.path)).split() == ["True", "False"]


def test_a_server_that_could_not_be_prepared_is_stopped_again(home: Home) -> None:
    def fail() -> None:
        raise EmbeddedServerError("The tables could not be made.")

    with pytest.raises(EmbeddedServerError, match="could not be made"):
        Lease.take(Valkey(home), prepare=fail)
    verify_nothing_left(home)


# --- Commands --------------------------------------------------------------------------------------


def test_two_commands_at_once_on_a_new_home_share_one_server_migrated_once(
    first_commands: tuple[Home, list[str]],
) -> None:
    home, (first, second) = first_commands
    assert first == second
    postgres = Postgres(home)
    lease = Lease.take(postgres)
    with psycopg.connect(postgres.url("app")) as connection:
        applied = connection.execute("SELECT app, name FROM django_migrations").fetchall()
    lease.give_back()
    assert applied
    assert len(applied) == len(set(applied))


def test_a_second_start_finds_the_same_data_and_migrates_no_more(made_home: Home) -> None:
    mark = made_home.path / "migrated"
    before = mark.stat().st_mtime_ns
    insert = "INSERT INTO games_denial (at, who, action, thing, door) VALUES (now(), 'somebody', 'kept', '', '')"
    finished(shell(made_home, f'from django.db import connection; connection.cursor().execute("{insert}")'))
    verify_nothing_left(made_home)
    count = "from games.models import Denial; print(Denial.objects.filter(action='kept').count())"
    assert finished(shell(made_home, count)).strip() == "1"
    assert mark.stat().st_mtime_ns == before


@pytest.mark.parametrize("command", ["help", "check"])
def test_a_command_that_needs_no_database_starts_no_server(home: Home, command: str) -> None:
    finished(manage(home, command))
    assert not Postgres(home).link.exists()
    assert processes_of(home) == []


def test_a_command_that_is_told_to_end_stops_the_server_it_started(made_home: Home) -> None:
    command = shell(made_home, HOLD)
    first_line(command)
    assert Postgres(made_home).is_running()
    command.terminate()
    command.communicate(timeout=60)
    assert command.returncode == 128 + signal.SIGTERM
    verify_nothing_left(made_home)


def test_a_command_that_is_told_to_end_while_it_makes_the_home_stops_the_server(home: Home) -> None:
    command = manage(home, "showmigrations")
    wait_for(Postgres(home).is_running, lambda: "there is no server")
    command.terminate()
    command.communicate(timeout=60)
    assert not Postgres(home).is_running()


def test_the_command_after_a_killed_one_works_on_and_stops_the_server(made_home: Home) -> None:
    killed = shell(made_home, HOLD)
    start = first_line(killed)
    killed.kill()
    killed.communicate()
    command = shell(made_home, HOLD)
    assert first_line(command) == start
    finished(command)
    verify_nothing_left(made_home)


# --- Making the data folder ------------------------------------------------------------------------

SET_UP = """
import sys
from pathlib import Path
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.postgres import Postgres
Postgres(Home(Path(sys.argv[1]))).start()
print("done")
"""


def kill_a_set_up(home: Home) -> bool:
    """Whether it was half way: it may have been quicker than the kill."""
    process = python(SET_UP, home.path)
    wait_for(lambda: list(home.path.glob("postgres*/PG_VERSION")), lambda: "there is no draft")
    os.killpg(process.pid, signal.SIGKILL)
    return "done" not in process.communicate()[0]


def test_a_set_up_that_was_killed_half_way_does_not_matter(home: Home) -> None:
    while not kill_a_set_up(home):
        Postgres(home).remove()
        home.prepare()
    postgres = Postgres(home)
    lease = Lease.take(postgres)
    with psycopg.connect(postgres.url("owner")) as connection:
        connection.execute("CREATE TABLE works (id int)")
    lease.give_back()
    verify_nothing_left(home)


def test_a_server_whose_starter_was_killed_before_it_had_its_roles_is_made_ready(home: Home) -> None:
    postgres = Postgres(home)
    postgres._initialise()
    assert postgres._try_to_start() is None
    lease = Lease.take(Postgres(home))
    try:
        psycopg.connect(postgres.url("owner")).close()
    finally:
        lease.give_back()


@pytest.mark.root
@needs_root
def test_who_deletes_a_home_below_a_private_folder_can_begin_anew() -> None:
    with throwaway_home(mode=0o700) as home:
        Lease.take(Postgres(home)).give_back()
        old = Postgres(home).data
        shutil.rmtree(home.path)
        Lease.take(Postgres(home)).give_back()
        assert Postgres(home).data != old
        assert old.exists(), "data that nobody asked to delete is gone"


@pytest.mark.root
@needs_root
def test_a_home_below_a_private_folder_keeps_its_data_where_the_server_reaches_it() -> None:
    with throwaway_home(mode=0o700) as home:
        postgres = Postgres(home)
        first = Lease.take(postgres)
        with psycopg.connect(postgres.url("owner")) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS row")
        first.give_back()
        assert postgres.link.is_symlink()
        assert postgres.data.is_relative_to(FALLBACK_ROOT)
        second = Lease.take(Postgres(home))
        with psycopg.connect(postgres.url("owner")) as connection:
            assert connection.execute("SELECT row FROM kept").fetchall() == [(1,)]
        second.give_back()
        verify_nothing_left(home)
        fallback = postgres.data.parent
    assert not fallback.exists()
