"""A user of an LTI platform who follows the course's link gets one name on the hub, their own.

The hub runs with the recipe of docs/hub.md. The platform is not ours: it is made of the
package `lti1p3platform`, which writes and signs a platform's messages.
"""

from __future__ import annotations

import html
import http.cookiejar
import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from hubs import Hub, serve_hub
from jwcrypto.jwk import JWK
from lti1p3platform.message_launch import MessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration
from lti_platform import AsItComes, Configuration
from nbgrader.api import Gradebook
from small_school import wait_for

from autograder.hub.folders import INSTRUCTOR
from autograder.hub.lti import user_name

pytestmark = pytest.mark.external

DOCS = Path(__file__).parents[1] / "docs" / "hub.md"
RECIPE = re.compile(r"<!-- lti: .*? -->\n```python\n(.*?)```", re.DOTALL)
COURSE, CLIENT = "4711", "tool-of-the-hub"
MEMBER = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
PERSON = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#"


@dataclass(frozen=True)
class User:
    """A person who is logged in on the platform, and the course whose link they follow."""

    sub: str
    roles: tuple[str, ...] = (f"{MEMBER}Learner",)
    course: str = COURSE
    name: str = ""
    email: str = ""


class Start(OIDCLoginAbstract):  # type: ignore[misc]
    """The library's first step: the address to which a browser that follows the link is sent."""

    def set_lti_message_hint(self, **given: Any) -> None:
        self._lti_message_hint = given["hint"]

    def get_redirect(self, url: str) -> str:
        return url


class Launch(MessageLaunchAbstract):  # type: ignore[misc]
    """The library's last step: the form that the browser brings to the hub."""

    def render_launch_form(self, launch_data: Any, **_: Any) -> Any:
        return launch_data


@dataclass
class Platform:
    """A learning management system on loopback.

    Attributes:
        users: the people who may be logged in, by `login_hint`.
        forger: a key that signs in the place of the platform's own, and by its name, if any.
    """

    hub: str = ""
    users: dict[str, User] = field(default_factory=dict)
    forger: JWK | None = None

    def __post_init__(self) -> None:
        self.key = JWK.generate(kty="RSA", size=2048)
        peer = self

        class Answers(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path == "/jwks":
                    text = json.dumps({"keys": peer.registration().get_jwks()})
                else:
                    text = peer.authorize(dict(parse_qsl(parts.query)))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(text.encode())

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def registration(self) -> Registration:
        made = Registration()
        made.set_iss(self.url).set_client_id(CLIENT).set_deployment_id("1")
        made.set_launch_url(f"{self.hub}services/grading/")
        made.set_oidc_login_url(f"{self.hub}hub/lti13/oauth_login")
        made.set_platform_private_key(self.key.export_to_pem(True, None).decode())
        made.set_platform_public_key(self.key.export_to_pem().decode())
        return made

    def link(self, user: User) -> str:
        """Return the address to which a click on the course's link leads a user's browser."""
        hint = f"hint-{len(self.users)}"
        self.users[hint] = user
        start = Start(AsItComes({}), Configuration(registration=self.registration()))
        start.set_lti_message_hint(hint="resource-1")
        return str(start.initiate_login(hint))

    def authorize(self, asked: dict[str, str]) -> str:
        """Return the page whose form a browser sends to the hub, as `asked` by the hub."""
        user = self.users[asked["login_hint"]]
        registration = self.registration()
        about = {"method": "GET", "get_data": asked, "form_data": {}, "headers": {}, "path": "/"}
        launch = Launch(AsItComes(about), Configuration(registration=registration))
        launch.set_user_data(user.sub, [*user.roles], user.name or None, user.email or None)
        launch.set_resource_link_claim("resource-1")
        launch.set_launch_context_claim(user.course)
        if self.forger is not None:
            name, pem = registration.get_kid(), self.forger.export_to_pem(True, None).decode()
            registration.set_platform_private_key(pem)
            registration.get_kid = lambda: name
        sent = launch.lti_launch()
        fields = "".join(
            f'<input name="{key}" value="{html.escape(sent[key])}">'
            for key in ("id_token", "state")
        )
        return f'<form method="post" action="{html.escape(sent["launch_url"])}">{fields}</form>'


class Browser:
    """Follows links and sends forms, and keeps cookies."""

    def __init__(self) -> None:
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.form: tuple[str, dict[str, str]] = ("", {})

    def ask(self, url: str, form: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Return the status, the text, and the final address."""
        body = None if form is None else urlencode(form).encode()
        try:
            with self._opener.open(urllib.request.Request(url, body), timeout=300) as answer:
                return answer.status, answer.read().decode(), answer.url
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), error.url or ""

    def follow(self, link: str) -> tuple[int, str, str]:
        """Follow a course's link until the hub has answered the platform's message."""
        status, page, _ = self.ask(link)
        assert status == 200, page
        action = re.findall(r'action="([^"]+)"', page)[0]
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page))
        self.form = html.unescape(action), {k: html.unescape(v) for k, v in fields.items()}
        return self.ask(*self.form)


@pytest.fixture(scope="module")
def platform() -> Iterator[Platform]:
    made = Platform()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def hub(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """Start a hub as the guide describes, with this platform's addresses in the place of
    Moodle's."""
    [recipe] = RECIPE.findall(DOCS.read_text("utf-8"))
    for there, here in {
        "https://moodle.example.org/mod/lti/auth.php": f"{platform.url}/authorize",
        "https://moodle.example.org/mod/lti/certs.php": f"{platform.url}/jwks",
        "https://moodle.example.org": platform.url,
        "CLIENT_ID": CLIENT,
        "COURSE_ID": COURSE,
    }.items():
        assert there in recipe
        recipe = recipe.replace(there, here)
    folder = tmp_path_factory.mktemp("lti")
    (folder / "hub.py").write_text(recipe)
    with serve_hub(folder / "hub", [], "value", folder / "hub.py") as running:
        platform.hub = running.url
        wait_for(lambda: Browser().ask(f"{running.url}services/grading/health")[0] == 200)
        yield running


def test_a_student_who_logs_in_sees_their_page_and_is_added_to_the_gradebook(hub, platform):
    browser = Browser()
    user = User("42", name="Ada Löwe", email="ada@example.org")
    status, page, url = browser.follow(platform.link(user))
    assert status == 200, page
    assert url == f"{hub.url}services/grading/"
    assert "<b>Ada Löwe (user-42)</b> hands in" in page
    assert browser.ask(f"{hub.url}services/grading/class")[0] == 404
    with Gradebook(f"sqlite:///{hub.folder.course}/gradebook.db", "autograd") as gradebook:
        found = gradebook.find_student("user-42")
        assert (found.first_name, found.email) == ("Ada Löwe", "ada@example.org")
        assert found.lms_user_id == "42"
    # A message is invalid a second time, in this browser and in another one.
    for each in (browser, Browser()):
        assert each.ask(*browser.form)[0] == 400


def test_an_instructor_of_the_course_sees_the_class(hub, platform):
    user = User("7", (f"{MEMBER}Instructor", f"{PERSON}Faculty"))
    status, page, _ = Browser().follow(platform.link(user))
    assert status == 200 and "the class" in page


@pytest.mark.parametrize(
    "user",
    [
        User("8", (f"{MEMBER}Instructor",), course="another"),
        User("9", course="another"),
        User("10", (f"{MEMBER}Instructor",), course=COURSE + "1"),
    ],
    ids=["teaches elsewhere", "learns elsewhere", "a longer number"],
)
def test_users_of_another_course_are_refused(hub, platform, user):
    browser = Browser()
    status, page, _ = browser.follow(platform.link(user))
    assert status == 400 and "does not lead here from your course" in html.unescape(page)
    assert browser.ask(f"{hub.url}hub/api/user")[0] == 403
    with Gradebook(f"sqlite:///{hub.folder.course}/gradebook.db", "autograd") as gradebook:
        assert user_name(user.sub) not in {each.id for each in gradebook.students}


@pytest.mark.parametrize(
    "user",
    [
        User("instructor"),
        User("11", (f"{MEMBER}Learner", f"{PERSON}Instructor", f"{PERSON}Administrator")),
        User("12", ("Instructor", f"{MEMBER}Mentor", f"x{MEMBER}Instructor")),
        User("../instructor"),
    ],
    ids=["by name", "instructor of the institution", "other words", "a path"],
)
def test_users_who_are_no_instructor_of_the_course_are_students_at_the_hub(hub, platform, user):
    browser = Browser()
    status, page, _ = browser.follow(platform.link(user))
    assert status == 200 and f"<b>{user_name(user.sub)}</b> hands in" in page
    assert browser.ask(f"{hub.url}services/grading/class")[0] == 404


def test_a_login_message_signed_with_another_key_is_refused(hub, platform):
    platform.forger = JWK.generate(kty="RSA", size=2048)
    try:
        status, page, _ = Browser().follow(platform.link(User("42")))
    finally:
        platform.forger = None
    assert status == 400 and "hands in" not in page


def test_nobody_can_log_in_through_a_form_or_an_unsigned_message(hub):
    """Refuse the trial's passwords and an unsigned message of a platform."""
    assert list(hub.folder.users()) == [INSTRUCTOR]
    password = hub.folder.users()[INSTRUCTOR]
    said = {"sub": "42", "email": "ada@example.org", "username": INSTRUCTOR, "password": password,
            "https://purl.imsglobal.org/spec/lti/claim/context": json.dumps({"id": COURSE}),
            "https://purl.imsglobal.org/spec/lti/claim/roles": f"{MEMBER}Instructor"}  # fmt: skip
    for keys in (["username", "password"], ["username", "sub"], ["username", "email"], [*said]):
        browser = Browser()
        browser.ask(f"{hub.url}hub/login")
        [token] = [each.value for each in browser.jar if each.name == "_xsrf"]
        form = {"_xsrf": token, **{key: said[key] for key in keys}}
        status, page, _ = browser.ask(f"{hub.url}hub/login", form)
        assert status == 403 and "XSRF" not in page and "expired" not in page, keys
        assert browser.ask(f"{hub.url}hub/api/user")[0] == 403
    assert password not in (hub.folder.root / "log").read_text()


def test_two_users_of_a_platform_never_get_the_same_hub_name():
    users = ["42", "ab", "AB", "Ab", "a b", "a-b", "a_b", "a/b", "user-42", "", "é", "x" * 25,
             "x" * 26, "X" * 25, "42\n", "٤٢"]  # fmt: skip
    names = [user_name(each) for each in users]
    assert len({*names}) == len(users)
    assert all(re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", each) for each in names)
    assert INSTRUCTOR not in names
