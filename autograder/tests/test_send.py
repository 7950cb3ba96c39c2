"""Marks are sent to Canvas and to an LTI 1.3 platform, each once, and arrive as the right
numbers."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from click.testing import CliRunner, Result
from jwcrypto.jwk import JWK
from lti1p3platform.exceptions import LtiException
from lti1p3platform.registration import Registration
from lti1p3platform.response import Response
from lti1p3platform.score import UpdateScoreStatus
from lti1p3platform.service_connector import AssignmentsGradesService
from lti_platform import AsItComes, Configuration
from nbgrader.api import Gradebook
from schools import append
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.gradebook.writing import SubmissionMarks as Stored
from autograder.gradebook.writing import record
from autograder.pipeline.classroom import course_directory
from autograder.records import Marks

pytestmark = pytest.mark.subprocess

DUE = datetime(2030, 3, 1, 12, 0)
TOKEN = "7~" + "a-secret-of-canvas-that-nobody-may-read" * 2
# id: the system's number, points of the two cells (None waits for a person), seconds late
STUDENTS: dict[str, tuple[str | None, tuple[float, float | None], int]] = {
    "ada": ("101", (6.0, 4.0), 0),
    "ben": ("102", (2.5, 1.0), 30 * 3600),
    "cy": ("103", (0.0, 0.0), 0),
    "dee": (None, (1.0, 1.0), 0),
    "eve": ("105", (1.0, None), 0),
    "fay": ("999", (2.0, 2.0), 0),
}
MARKS = {"101": 10.0, "102": 2.8, "103": 0.0}


@pytest.fixture(scope="module")
def school_made_once(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("send") / "course"
    copy_course(COURSE, folder)
    append(folder / "nbgrader_config.py", "\nc.LatePolicy.percent_a_day = 10\n")
    with Gradebook(course_directory(Course(folder)).db_url) as gradebook:
        gradebook.add_assignment("value", duedate=DUE)
        gradebook.add_notebook("value", "value")
        gradebook.add_grade_cell("test_add", "value", "value", max_score=6, cell_type="code")
        gradebook.add_grade_cell("memory", "value", "value", max_score=4, cell_type="markdown")
        gradebook.add_solution_cell("memory", "value", "value")
        stored = []
        for student, (lms, (code, text), late) in STUDENTS.items():
            gradebook.add_student(student, lms_user_id=lms)
            when = datetime.fromtimestamp(DUE.timestamp() + late)
            stored.append(
                Stored("value", student, Marks({"test_add": code, "memory": text}, {}), when)
            )
        gradebook.add_student("gil", lms_user_id="106")  # Submitted nothing.
        record(gradebook, stored)
    return folder


@pytest.fixture
def school(school_made_once, tmp_path) -> Path:
    return shutil.copytree(school_made_once, tmp_path / "course", symlinks=True)


class Answers(BaseHTTPRequestHandler):
    """The common part of both stand-ins: parses requests, and replies with JSON."""

    peer: Any
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, code: int, content: object, **headers: str) -> None:
        text = b"" if content is None else json.dumps(content).encode()
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        self.peer.handle(self)

    do_POST = do_PUT = do_GET


@contextmanager
def listening(peer: Any) -> Iterator[str]:
    kind = type("Handler", (Answers,), {"peer": peer})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class CanvasStandIn:
    """The five calls of Canvas's REST API that sending uses, in the forms of its documentation.

    Lists come in pages with a `Link` header, a request without a token gets 401, and a grade is set
    by `submission[posted_grade]`.
    """

    def __init__(self, points_possible: float = 10.0) -> None:
        self.points_possible = points_possible
        self.scores: dict[str, float | None] = dict.fromkeys(("101", "102", "103", "105", "106"))
        self.changes: list[tuple[str, str]] = []
        self.fails_at: set[str] = set()

    def submission(self, user: str) -> dict[str, Any]:
        score = self.scores[user]
        return {
            "id": 5000 + int(user), "assignment_id": 9, "user_id": int(user), "score": score,
            "grade": None if score is None else str(score), "workflow_state": "graded",
        }  # fmt: skip

    def handle(self, request: Answers) -> None:
        parts, body = urlsplit(request.path), request.body().decode()
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            request.answer(401, {"errors": [{"message": "Invalid access token."}]})
            return
        course, assignment = "/api/v1/courses/7", "/api/v1/courses/7/assignments/9"
        if (request.command, parts.path) == ("GET", course):
            request.answer(200, {"id": 7, "name": "Autograd"})
        elif (request.command, parts.path) == ("GET", assignment):
            about = {"id": 9, "course_id": 7, "name": "value"}
            request.answer(200, {**about, "points_possible": self.points_possible})
        elif (request.command, parts.path) == ("GET", f"{assignment}/submissions"):
            page = int(dict(parse_qsl(parts.query)).get("page", "1"))
            users = sorted(self.scores)[2 * page - 2 : 2 * page]
            here = f"http://{request.headers['Host']}{assignment}/submissions"
            more = {"Link": f'<{here}?page={page + 1}>; rel="next"'} if 2 * page < 5 else {}
            request.answer(200, [self.submission(user) for user in users], **more)
        elif match := re.fullmatch(rf"{assignment}/submissions/(\d+)", parts.path):
            self._one(request, match[1], body)
        else:
            request.answer(404, {"errors": [{"message": "The specified resource does not exist."}]})

    def _one(self, request: Answers, user: str, body: str) -> None:
        if user not in self.scores:
            request.answer(404, {"errors": [{"message": "not found"}]})
        elif request.command == "PUT":
            grade = dict(parse_qsl(body))["submission[posted_grade]"]
            if user in self.fails_at:
                request.answer(500, {"errors": [{"message": f"try again, {TOKEN}"}]})
                return
            self.changes.append((user, grade))
            self.scores[user] = float(grade)
            request.answer(200, self.submission(user))
        else:
            request.answer(200, self.submission(user))


def send(school: Path, *line: str, token: str | None = TOKEN) -> Result:
    given = ["send", "value", "--course", str(school), *line]
    return CliRunner().invoke(main, given, env={"CANVAS_TOKEN": token})


def to_canvas(url: str) -> list[str]:
    return ["--to", "canvas", "--url", url, "--there", "7/9"]


@pytest.mark.filterwarnings("ignore:Canvas may respond unexpectedly")
class TestCanvas:
    def test_without_the_option_yes_nothing_is_sent(self, school):
        canvas = CanvasStandIn()
        with listening(canvas) as url:
            done = send(school, *to_canvas(url))

        assert done.exit_code == 1
        assert canvas.changes == []
        assert "would be sent: ben: 2.8" in done.output
        assert "not there: dee: 2 (the gradebook has no lms_user_id" in done.output
        assert "waits for a person: eve (memory)" in done.output
        assert "not there: fay: 4 (Canvas's course has no student 999)" in done.output
        assert "gil" not in done.output
        assert not (school / "imported").exists()

    def test_each_mark_is_sent_once_and_again_after_a_change(self, school):
        canvas = CanvasStandIn()
        with listening(canvas) as url:
            assert "3 sent" in send(school, *to_canvas(url), "--yes").output
            assert {user: self_ for user, self_ in canvas.scores.items() if self_ is not None} == (
                MARKS
            )
            assert "3 sent before" in send(school, *to_canvas(url), "--yes").output
            assert len(canvas.changes) == 3
            with Gradebook(course_directory(Course(school)).db_url) as gradebook:
                grade = gradebook.find_grade("test_add", "value", "value", "cy")
                grade.manual_score = 5.0
                gradebook.db.commit()
            again = send(school, *to_canvas(url), "--yes", "--json")
        states = {each["student"]: each["state"] for each in map(json.loads, _lines(again))}

        assert states["cy"] == "sent"
        assert states["ada"] == "sent before"
        assert canvas.changes[3:] == [("103", "5")]

    def test_an_interrupted_run_can_be_continued(self, school):
        canvas = CanvasStandIn()
        canvas.fails_at = {"102"}
        with listening(canvas) as url:
            done = send(school, *to_canvas(url), "--yes")
            assert done.exit_code == 1
            assert "failed: ben: 2.8" in done.output
            assert "2 sent" in done.output
            assert TOKEN not in done.output
            canvas.fails_at = set()
            assert "1 sent," in send(school, *to_canvas(url), "--yes").output
            # A mark that was sent but not recorded is found to be there.
            shutil.rmtree(school / "imported")
            assert "3 sent before" in send(school, *to_canvas(url), "--yes").output

        assert len(canvas.changes) == 3

    def test_wrong_settings_are_reported_before_any_mark_is_sent(self, school):
        canvas = CanvasStandIn(points_possible=100.0)
        with listening(canvas) as url:
            done = send(school, *to_canvas(url), "--yes")
            assert done.exit_code == 2
            assert "is worth 100.0 points" in done.output
            done = send(school, *to_canvas(url), "--yes", token="wrong" * 10)
            assert done.exit_code == 2
            assert "cannot be used" in done.output
            assert "wrongwrong" not in done.output
            done = send(school, *to_canvas(url), "--yes", token=None)
            assert done.exit_code == 2
            assert "CANVAS_TOKEN is not set" in done.output
            line = ["--to", "canvas", "--url", url, "--there", "seven/nine"]
            assert "--there COURSE/ASSIGNMENT" in send(school, *line).output

        assert canvas.changes == []


def _lines(done: Result) -> list[str]:
    return [line for line in done.output.splitlines() if line.startswith("{")]


class Columns(AssignmentsGradesService):
    """In-memory LTI platform built on lti1p3platform."""

    peer: LtiStandIn

    def find_lineitems(self, page: int = 1, **_: Any) -> Any:
        return {"content": [*self.peer.columns.values()], "has_next": False}

    def find_lineitem(self, line_item_id: str) -> Any:
        return self.peer.columns[line_item_id]

    def create_lineitem(self, creation_data: Any) -> Any:
        made = {**creation_data, "id": f"{self.peer.url}/lineitems/{len(self.peer.columns) + 1}"}
        self.peer.columns[made["id"].rpartition("/")[2]] = made
        return made

    def update_lineitem(self, update_data: Any) -> Any:
        raise NotImplementedError

    def delete_lineitem(self, line_item_id: str) -> None:
        raise NotImplementedError

    def update_score(self, line_item_id: str, score: Any) -> UpdateScoreStatus:
        if score["userId"] in self.peer.fails_at:
            return UpdateScoreStatus.NOTAPPLIED
        self.peer.scores.append((line_item_id, score))
        return UpdateScoreStatus.SUCCESS

    def get_results(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


class LtiStandIn:
    """A platform made of the package `lti1p3platform`: it checks signatures, tokens and scopes."""

    def __init__(self, tool_keys: Any) -> None:
        key = JWK.generate(kty="RSA", size=2048)
        self.registration = Registration()
        self.registration.set_iss("https://lms.example.org").set_client_id("tool-1")
        self.registration.set_platform_private_key(key.export_to_pem(True, None).decode())
        self.registration.set_platform_public_key(key.export_to_pem().decode())
        self.registration.set_tool_key_set(tool_keys)
        self.url = ""
        self.columns: dict[str, Any] = {}
        self.scores: list[tuple[str, Any]] = []
        self.fails_at: set[str] = set()

    def handle(self, request: Answers) -> None:
        parts, body = urlsplit(request.path), request.body()
        is_form = "urlencoded" in (request.headers.get("Content-Type") or "")
        given = {
            "method": request.command, "headers": request.headers, "path": parts.path,
            "get_data": {}, "content_type": request.headers.get("Content-Type"),
            "form_data": dict(parse_qsl(body.decode())) if is_form else {},
            "json": json.loads(body) if body and not is_form else None,
        }  # fmt: skip
        configuration = Configuration(registration=self.registration)
        if parts.path == "/token":
            try:
                request.answer(200, configuration.get_access_token(given["form_data"]))
            except (LtiException, ValueError) as error:
                request.answer(401, {"error": type(error).__name__})
            return
        service = Columns(AsItComes(given), configuration, f"{self.url}/lineitems")
        service.peer = self
        answer = self._routed(service, request.command, parts.path)
        result = answer.result
        if isinstance(result, dict) and "content" in result:
            result = result["content"]
        request.answer(answer.code, result)

    def _routed(self, service: Columns, method: str, path: str) -> Response:
        if path == "/lineitems":
            handle = service.handle_get_lineitems if method == "GET" else (
                service.handle_create_lineitem)  # fmt: skip
            return service.handle_resp(handle)
        number = re.fullmatch(r"/lineitems/(\w+)/scores", path)
        assert number is not None, path
        return service.handle_resp(service.handle_update_score, line_item_id=number[1])


@pytest.fixture
def tool(tmp_path) -> Path:
    """Return the tool's private key, and its settings but for the platform's address."""
    key = JWK.generate(kty="RSA", size=2048)
    (tmp_path / "key.pem").write_bytes(key.export_to_pem(True, None))
    return tmp_path / "lti.json"


def settings(tool: Path, url: str, **more: str) -> list[str]:
    given = {"issuer": "https://lms.example.org", "client_id": "tool-1", "key": "key.pem",
             "token_url": f"{url}/token", **more}  # fmt: skip
    tool.write_text(json.dumps(given))
    return ["--to", "lti", "--settings", str(tool)]


def keys_of(school: Path, tool: Path) -> Any:
    line = settings(tool, "http://127.0.0.1:1", lineitem="http://127.0.0.1:1/lineitems/1")
    done = send(school, *line, "--keys")
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


class TestLti:
    def test_a_platform_receives_each_mark_as_the_right_number(self, school, tool):
        platform = LtiStandIn(keys_of(school, tool))
        with listening(platform) as platform.url:
            line = settings(tool, platform.url, lineitems=f"{platform.url}/lineitems")
            done = send(school, *line)
            assert "4 would be sent" in done.output
            assert platform.scores == []
            assert platform.columns == {}, "a dry run makes no column"
            platform.fails_at = {"999"}
            assert "3 sent" in send(school, *line, "--yes").output
            again = send(school, *line, "--yes")
            assert "3 sent before" in again.output
            assert "failed: fay" in again.output
        [column] = platform.columns.values()

        assert (column["tag"], column["scoreMaximum"]) == ("value", 10)
        assert {score["userId"]: score["scoreGiven"] for _, score in platform.scores} == MARKS
        assert {score["scoreMaximum"] for _, score in platform.scores} == {10}
        assert len(platform.scores) == 3
        assert {score["gradingProgress"] for _, score in platform.scores} == {"FullyGraded"}

    def test_marks_are_sent_to_the_column_that_the_setting_lineitem_names(self, school, tool):
        platform = LtiStandIn(keys_of(school, tool))
        platform.columns["8"] = {"id": "8", "label": "another name", "scoreMaximum": 10}
        with listening(platform) as platform.url:
            line = settings(tool, platform.url, lineitem=f"{platform.url}/lineitems/8")
            assert "4 sent" in send(school, *line, "--yes").output

        assert {number for number, _ in platform.scores} == {"8"}
        assert len(platform.columns) == 1

    def test_a_platform_that_does_not_know_the_tool_s_key_gets_no_mark(self, school, tool):
        platform = LtiStandIn({"keys": [json.loads(JWK.generate(kty="RSA").export_public())]})
        with listening(platform) as platform.url:
            line = settings(tool, platform.url, lineitem=f"{platform.url}/lineitems/1")
            done = send(school, *line, "--yes")

        assert done.exit_code == 2
        assert "cannot be used" in done.output
        assert not platform.scores

    @pytest.mark.parametrize(
        ("change", "advice"),
        [(("client_id", None), "lacks client_id"), (("lineitem", None), "lacks lineitem or"),
         (("key", "none.pem"), "is no private key")],
    )  # fmt: skip
    def test_missing_settings_are_reported(self, school, tool, change, advice):
        settings(tool, "http://127.0.0.1:1", lineitem="http://127.0.0.1:1/1")
        given = {**json.loads(tool.read_text()), change[0]: change[1]}
        tool.write_text(json.dumps({key: value for key, value in given.items() if value}))
        done = send(school, "--to", "lti", "--settings", str(tool))

        assert done.exit_code == 2
        assert advice in done.output
