"""A real site for page tests: granian on a database of its own, and a real Chromium."""

import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django import DjangoDbBlocker

from taisai_backoffice.embedded.home import PROJECT
from taisai_backoffice.embedded.machine import free_port
from taisai_backoffice.run import ProcessPart, web_command
from tests import servers
from tests.conftest import House, build_house, connected_to
from tests.patience import wait_for

PASSWORD = "every page of the book"
FLAGS = [
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]  # fmt: skip


@dataclass
class Site:
    address: str
    house: House
    database: str
    log: Path


@pytest.fixture(scope="session")
def chromium() -> str:
    found = subprocess.run([PROJECT / "scripts" / "chromium"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip("PAGE TESTS SKIPPED: there is no Chromium on this machine, and none could be installed.")
    return found.stdout.strip()


@pytest.fixture
def site(running_site: Site, django_db_blocker: DjangoDbBlocker) -> Iterator[Site]:
    """While a page test runs, its database is the site's; the tests of other files have their own again."""
    with django_db_blocker.unblock(), connected_to(running_site.database):
        yield running_site


@pytest.fixture(scope="session")
def running_site(django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One site for all page tests of a worker; each test works with records of its own."""
    with started_site(django_db_blocker, tmp_path_factory.mktemp("site") / "web.log") as started:
        yield started


@contextmanager
def started_site(django_db_blocker: DjangoDbBlocker, log: Path, **settings: str) -> Iterator[Site]:
    """A site with a house of its own, for as long as it is needed; `settings` go into its environment."""
    port = free_port()
    with servers.clone() as database:
        with django_db_blocker.unblock(), connected_to(database):
            house = build_house(PASSWORD)
        environment = os.environ | {"DATABASE_URL": servers.database_url(database)} | settings
        environment.pop("DATABASE_OWNER_URL", None)
        part = ProcessPart("Web server", web_command("127.0.0.1", port, workers=1), environment, log)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(lambda: answers(f"{address}/healthz"), "the site does not answer")
            yield Site(address, house, database, log)
        finally:
            part.stop()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = (
        "1"  # playwright's loop runs in this thread; the ORM is used between its calls
    )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=site.address, viewport={"width": 1280, "height": 800})
    context.set_default_timeout(15_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Iterator[Page]:
    """A page that has to stay without errors of its own, and that asks nobody but our site."""
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if not local(request.url, site) else None)
    page.on("response", lambda answer: faults.append(f"{answer.status} {answer.url}") if answer.status >= 500 else None)
    yield page
    assert faults == []


def local(url: str, site: Site) -> bool:
    return url.startswith((site.address, "data:", "blob:"))


def log_in(page: Page, number: str, password: str = PASSWORD) -> None:
    page.goto("/")
    page.get_by_label("Staff number").fill(number)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def sidebar(page: Page) -> dict[str, list[str]]:
    """What the person at the keyboard sees there: groups with their entries."""
    expect(page.locator("#nav-sidebar-apps h2").first).to_be_visible()
    groups: dict[str, list[str]] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("#nav-sidebar-apps h2")].map(title => [
            title.innerText.trim(),
            [...title.parentElement.querySelectorAll("li a > span:nth-child(2)")].map(entry => entry.innerText.trim()),
        ]))"""
    )
    return groups
