"""Production as docs/deploy.md describes it: own roles, own database, every process in TAISAI_ENV=production."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from taisai_backoffice.embedded.home import PROJECT
from taisai_backoffice.embedded.machine import free_port
from taisai_backoffice.run import ProcessPart, celery_command, web_command
from taisai_backoffice.web.bodies import UPLOAD_ROUTES
from tests import servers
from tests.patience import wait_for
from tests.test_routes import PATHS
from tests.web_answers import WebAnswer, answer_to

HOST = "backoffice.example.com"
DEPLOY = PROJECT / "deploy"
GUIDE = (PROJECT / "docs" / "deploy.md").read_text()
COMMANDS = {
    "web": web_command("127.0.0.1", 8000),
    "worker": celery_command("worker"),
    "beat": celery_command("beat", "--pidfile="),
}


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a new installation, with roles that are not called as the embedded ones are."""
    mark = uuid.uuid4().hex[:8]
    owner, app, database = f"owner_{mark}", f"app_{mark}", f"production_{mark}"
    with psycopg.connect(servers.database_url("postgres", "postgres"), autocommit=True) as superuser:
        for statement in (
            "CREATE ROLE {owner} LOGIN PASSWORD 'eiXoo8Oa9ahb'",
            "CREATE ROLE {app} LOGIN PASSWORD 'zu4kieRae2oo'",
            "CREATE DATABASE {database} OWNER {owner} TEMPLATE template0",
            "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
            "GRANT CONNECT ON DATABASE {database} TO {app}",
        ):
            names = {"owner": owner, "app": app, "database": database}
            superuser.execute(sql.SQL(statement).format(**{key: sql.Identifier(name) for key, name in names.items()}))
        address = f"127.0.0.1:{servers.servers()[0].port()}/{database}"
        yield {
            "PATH": os.environ["PATH"],
            "TAISAI_ENV": "production",
            "TAISAI_HOME": str(tmp_path_factory.mktemp("production")),
            "SECRET_KEY": "k3y-Of-4-gr3at-many-Random-Letters-and-Figures-0123456789",
            "ALLOWED_HOSTS": HOST,
            "DATABASE_URL": f"postgresql://{app}:zu4kieRae2oo@{address}",
            "DATABASE_OWNER_URL": f"postgresql://{owner}:eiXoo8Oa9ahb@{address}",
            "BROKER_URL": os.environ["BROKER_URL"],
        }
        superuser.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database)))
        for role in (app, owner):
            superuser.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


@pytest.fixture(scope="module")
def installed(production: dict[str, str]) -> dict[str, str]:
    """Migrated and collected; what runs from here on does not know the owner."""
    manage(production, "migrate", "--verbosity", "0")
    running = {name: value for name, value in production.items() if name != "DATABASE_OWNER_URL"}
    manage(running, "collectstatic", "--noinput", "--verbosity", "0")
    return running


def manage(environment: dict[str, str], *arguments: str, given: str = "") -> str:
    answer = subprocess.run(
        [sys.executable, PROJECT / "manage.py", *arguments],
        env=environment, input=given, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_the_application_owns_nothing_and_can_work(installed: dict[str, str]) -> None:
    with psycopg.connect(installed["DATABASE_URL"]) as session:
        session.execute("INSERT INTO games_denial (at, who, action, thing, door) VALUES (now(), '', '', '', '')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("DELETE FROM games_denial")


def test_migrating_again_changes_nothing(production: dict[str, str], installed: dict[str, str]) -> None:
    assert "No migrations to apply" in manage(production, "migrate")


def test_the_first_administrator_comes_from_the_command_line(installed: dict[str, str]) -> None:
    said = manage(installed, "staff_add", "IT1", "--name", "First", "--department", "it")
    assert said.startswith("Added IT1 First.\nSign-in link, valid until ")
    assert f"https://{HOST}/account/password/#" in said


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object) -> None:
        return None


def ask(address: str, **headers: str) -> WebAnswer:
    return answer_to(urllib.request.Request(address, headers={"Host": HOST} | headers), NoRedirect)


@pytest.fixture(scope="module")
def address(installed: dict[str, str]) -> Iterator[str]:
    port = free_port()
    part = ProcessPart(
        "Web server", web_command("127.0.0.1", port, workers=1), installed, Path(installed["TAISAI_HOME"]) / "web.log"
    )
    address = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        try:
            return ask(f"{address}/healthz").status == 200
        except OSError:
            return False

    try:
        wait_for(answers, "the site does not answer")
        yield address
    finally:
        part.stop()


def test_plain_http_is_led_to_https_but_for_the_probes(address: str) -> None:
    assert ask(f"{address}/admin/").headers["location"] == f"https://{HOST}/admin/"
    call = ask(f"{address}/api/v1/tables/", Authorization="Bearer x")
    assert (call.status, json.loads(call.body)["title"]) == (403, "HTTPS needed")
    assert ask(f"{address}/readyz").status == 503  # no worker runs here, and it says so over plain HTTP


def test_behind_the_proxy_the_site_is_there_with_safe_cookies(address: str) -> None:
    answer = ask(f"{address}/admin/login/", **{"X-Forwarded-Proto": "https"})
    assert answer.status == 200
    assert re.match(r"__Host-taisai_csrf=\w+;.* Path=/;.* Secure$", answer.headers["set-cookie"])
    assert "max-age=31536000" in answer.headers["strict-transport-security"]
    assert "Demo" not in answer.text


def test_another_host_is_refused(address: str) -> None:
    assert ask(f"{address}/admin/", **{"X-Forwarded-Proto": "https", "Host": "evil.example.com"}).status == 400


def test_a_log_line_is_json_and_carries_the_id_of_its_request(address: str, installed: dict[str, str]) -> None:
    ask(f"{address}/admin/login/", **{"X-Forwarded-Proto": "https", "X-Request-ID": "from-the-proxy"})
    log = (Path(installed["TAISAI_HOME"]) / "web.log").read_text().splitlines()
    lines = [json.loads(line) for line in log if "from-the-proxy" in line]
    assert {line["event"] for line in lines} == {"request_started", "request_finished"}
    assert {line["request_id"] for line in lines} == {"from-the-proxy"}


def test_make_run_runs_production_too_on_servers_of_its_own_choice(
    production: dict[str, str], installed: dict[str, str]
) -> None:
    port = free_port()
    broker = f"{installed['BROKER_URL'].removesuffix('/0')}/8"  # a queue that no other test reads
    environment = production | {"PORT": str(port), "BROKER_URL": broker}
    with (Path(production["TAISAI_HOME"]) / "run.log").open("w+") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "taisai_backoffice.run"], cwd=PROJECT, env=environment, stdout=said, stderr=said
        )
        try:
            wait_for(
                lambda: "Ctrl-C stops" in Path(said.name).read_text() or process.poll() is not None,
                "it has not started",
                120,
            )
            assert ask(f"http://127.0.0.1:{port}/readyz").status == 200, Path(said.name).read_text()
            assert not (Path(production["TAISAI_HOME"]) / "postgres").exists()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0


def test_an_error_shows_no_insides(address: str) -> None:
    page = ask(f"{address}/nowhere", **{"X-Forwarded-Proto": "https"})
    assert page.status == 404
    assert "No such page" in page.text


# --- What docs/deploy.md and deploy/ say -----------------------------------------------------------


def unit(name: str) -> dict[str, str]:
    text = (DEPLOY / f"taisai-{name}.service").read_text()
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_unit_starts_what_make_run_starts(name: str) -> None:
    program, *arguments = shlex.split(unit(name)["ExecStart"])
    ours, *wanted = COMMANDS[name]
    assert program == f"/srv/taisai/.venv/bin/{Path(ours).name}"
    assert sorted(arguments) == sorted(wanted)
    assert shlex.join([Path(program).name, *arguments]) in GUIDE


@pytest.mark.parametrize("name", COMMANDS)
def test_a_unit_comes_back_but_not_for_ever_and_has_an_account_of_its_own(name: str) -> None:
    known = unit(name)
    assert (known["Restart"], known["StartLimitBurst"], known["User"]) == ("always", "5", "taisai")
    assert int(known["RestartSec"]) * int(known["StartLimitBurst"]) < int(known["StartLimitIntervalSec"])
    assert known["EnvironmentFile"] == "/etc/taisai/environment"


def test_the_guide_names_every_file_of_deploy_and_every_variable_of_its_example() -> None:
    assert [path.name for path in DEPLOY.iterdir() if path.name not in GUIDE] == []
    example = (DEPLOY / "environment.example").read_text()
    names = re.findall(r"^(\w+)=", example, re.MULTILINE)
    assert [name for name in names if f"`{name}`" not in GUIDE] == []
    assert "DATABASE_OWNER_URL" not in names


def test_the_proxy_takes_files_where_the_site_does_and_nowhere_else() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    (pattern,) = re.findall(r"location ~ (\S+) \{", text)
    paths = {name: "/" + re.sub(r"<\w+:\w+>", "7", path) for name, path in PATHS.items()}
    assert {name for name, path in paths.items() if re.search(pattern, path)} == UPLOAD_ROUTES
    assert re.findall(r"client_max_body_size (\w+);", text) == ["1m", "1026m"]
    assert text.count("proxy_request_buffering on;") == text.count("proxy_request_buffering off;") == 1
    assert {"ssl_certificate ", "ssl_certificate_key ", "client_body_timeout "} <= set(re.findall(r"\w+ ", text))


def directives(text: str) -> list[str]:
    return [line.split()[0] for line in re.sub(r"#.*", "", text).splitlines() if line.strip().endswith(";")]


def test_no_part_of_the_proxy_says_a_thing_twice() -> None:
    """nginx refuses to start with a directive that a location and the file it includes both have."""
    told = set(directives((DEPLOY / "taisai-proxy.conf").read_text())) - {"proxy_set_header"}
    text = (DEPLOY / "nginx.conf").read_text()
    places = [place for place in re.findall(r"location [^\n]*\{\n(.*?)\n    \}", text, re.DOTALL) if "include" in place]
    assert len(places) == 2
    for place in places:
        own = directives(place)
        assert len(own) == len(set(own))
        assert told.isdisjoint(own)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_takes_its_file(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={HOST} -keyout {key} -out {certificate}"
    subprocess.run(shlex.split(make), check=True, capture_output=True)
    shutil.copy(DEPLOY / "taisai-proxy.conf", tmp_path)
    text = (DEPLOY / "nginx.conf").read_text()
    for old, new in (
        ("/etc/ssl/taisai/fullchain.pem", certificate), ("/etc/ssl/taisai/privkey.pem", key),
        ("/etc/nginx/taisai-proxy.conf", tmp_path / "taisai-proxy.conf"),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"), ("listen 443 ssl", f"listen 127.0.0.1:{free_port()} ssl"),
    ):  # fmt: skip
        text = text.replace(old, str(new))
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid; error_log {tmp_path}/log; events {{}} http {{ access_log off; {text} }}")
    answer = subprocess.run(
        ["nginx", "-t", "-c", str(whole), "-p", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr


def test_the_proxy_names_the_client_itself() -> None:
    told = (DEPLOY / "taisai-proxy.conf").read_text()
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in told
    assert "proxy_add_x_forwarded_for" not in told
