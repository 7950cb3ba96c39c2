"""Learning management systems that receive marks: Canvas by its API, others by LTI 1.3."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import CourseError
from .sending import Mark

_NEEDED = ("issuer", "client_id", "token_url", "key")
_SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/"
_SECRET = re.compile(r"[\w.~+=-]{32,}")


class Canvas:
    """An assignment in a Canvas course, by Canvas's API.

    Args:
        url: the address of Canvas, such as `https://canvas.example.org`.
        numbers: `COURSE/ASSIGNMENT`, Canvas's numbers of the course and the assignment.
        max_points: the maximum of the marks; the assignment in Canvas must have the same.
    """

    def __init__(self, url: str, numbers: str, max_points: float) -> None:
        try:
            from canvasapi import Canvas as Api
            from canvasapi.exceptions import CanvasException
            from requests import RequestException
        except ImportError as error:
            raise _needs("canvasapi") from error
        self._errors = (CanvasException, RequestException, ValueError)
        self._course, self._number = map(int, numbers.split("/"))
        self._max_points = max_points
        self._canvas = Api(url, _canvas_token())
        self.name = f"canvas {url.rstrip('/')}/courses/{self._course}/assignments/{self._number}"

    def connect(self) -> None:
        try:
            self._assignment = self._canvas.get_course(self._course).get_assignment(self._number)
            possible = self._assignment.points_possible
            self._scores = {
                str(each.user_id): getattr(each, "score", None)
                for each in self._assignment.get_submissions()
            }
        except self._errors as error:
            raise _refused(self.name, error) from error
        if possible is None or float(possible) != self._max_points:
            raise CourseError(
                f"{self.name} is worth {possible} points, and the marks are of "
                f"{self._max_points:g}. Set its points in Canvas to that, and send again."
            )

    def has(self, mark: Mark) -> bool:
        return bool(self._scores.get(mark.user) == mark.points)

    def why_unknown(self, user: str) -> str:
        return "" if user in self._scores else f"Canvas's course has no student {user}"

    def send(self, mark: Mark) -> None:
        try:
            submission = self._assignment.get_submission(int(mark.user))
            changed = submission.edit(submission={"posted_grade": f"{mark.points:.10g}"})
            if changed.score is None or abs(float(changed.score) - mark.points) > 1e-6:
                raise ValueError(f"Canvas made {changed.score} of {mark.points:g}")
        except self._errors as error:
            raise CourseError(f"Canvas did not take it ({_in_words(error)})") from error


class LtiPlatform:
    """A column of marks on an LTI 1.3 platform, by Assignment and Grade Services 2.0.

    Args:
        settings: the path of a JSON file with the keys `issuer`, `client_id`, `token_url`, `key`
            (the name of a PEM file in the same folder, with the tool's private key), either
            `lineitem` (the column's URL) or `lineitems` (the URL of all columns), and, if the
            platform asks for it, `audience`.
        name: the assignment, which is the column's tag or label. A missing column is created.
        max_points: the maximum of the marks.

    Attributes:
        keys: the public key set (JWKS) by which the platform verifies requests of this tool.

    Raises `CourseError` if a setting is missing.
    """

    def __init__(self, settings: Path, name: str, max_points: float) -> None:
        try:
            from jwcrypto.jwk import JWK
            from pylti1p3.assignments_grades import AssignmentsGradesService
            from pylti1p3.exception import LtiException
            from pylti1p3.registration import Registration
            from pylti1p3.service_connector import ServiceConnector
            from requests import RequestException
        except ImportError as error:
            raise _needs("pylti1p3") from error
        self._errors = (LtiException, RequestException, KeyError, ValueError)
        options = _read_settings(settings)
        try:
            key = (settings.parent / options["key"]).read_text("utf-8")
            public = JWK.from_pem(key.encode()).export_to_pem().decode()
        except (OSError, ValueError) as error:
            raise CourseError(
                f"{settings}: {options['key']} is no private key in PEM form that can be read. "
                "Make one with `openssl genrsa -out key.pem 2048`."
            ) from error
        registration = Registration()
        registration.set_issuer(options["issuer"]).set_client_id(options["client_id"])
        registration.set_auth_token_url(options["token_url"])
        registration.set_tool_private_key(key).set_tool_public_key(public)
        if "audience" in options:
            registration.set_auth_audience(options["audience"])
        self.keys = {"keys": registration.get_jwks()}
        is_known = "lineitem" in options
        self._scope = [_SCOPE + each for each in ("score", *(() if is_known else ("lineitem",)))]
        addresses = {each: options[each] for each in ("lineitem", "lineitems") if each in options}
        about: Any = {"scope": self._scope, **addresses}
        self._connector = ServiceConnector(registration)
        self._service = AssignmentsGradesService(self._connector, about)
        self._name, self._max_points, self._is_known = name, max_points, is_known
        self._column: Any = None
        self.name = f"lti {options['issuer']} {options.get('lineitem') or options['lineitems']}"

    def connect(self) -> None:
        from pylti1p3.lineitem import LineItem

        try:
            self._connector.get_access_token(self._scope)
            if self._is_known:
                return
            column = self._service.find_lineitem_by_tag(self._name)
            column = column or self._service.find_lineitem("label", self._name)
        except self._errors as error:
            raise _refused(self.name, error) from error
        if column is None:
            column = LineItem().set_tag(self._name).set_label(self._name)
            column.set_score_maximum(self._max_points)
        self._column = column

    def has(self, mark: Mark) -> bool:
        return False  # The specification does not oblige a platform to report marks or users.

    def why_unknown(self, user: str) -> str:
        return ""

    def send(self, mark: Mark) -> None:
        from pylti1p3.grade import Grade

        grade = (
            Grade()
            .set_score_given(mark.points)
            .set_score_maximum(mark.max_points)
            .set_timestamp(datetime.now(UTC).isoformat(timespec="milliseconds"))
            .set_activity_progress("Completed")
            .set_grading_progress("FullyGraded")
            .set_user_id(mark.user)
        )
        try:
            if self._column is not None and not self._column.get_id():
                # Create the column with the first mark, so that a dry run creates none.
                self._column = self._service.find_or_create_lineitem(self._column)
            self._service.put_grade(grade, self._column)
        except self._errors as error:
            raise CourseError(f"the platform did not take it ({_in_words(error)})") from error


def _read_settings(path: Path) -> dict[str, str]:
    try:
        options = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CourseError(f"{path} cannot be read as JSON ({error}). Mend it there.") from error
    options = options if isinstance(options, dict) else {}
    missing = [key for key in _NEEDED if key not in options]
    if not {"lineitem", "lineitems"} & set(options):
        missing.append("lineitem or lineitems")
    if missing:
        raise CourseError(f"{path} lacks {', '.join(missing)}. docs/lms.md has an example to copy.")
    return {key: str(value) for key, value in options.items()}


def _refused(name: str, error: Exception) -> CourseError:
    return CourseError(
        f"{name} cannot be used ({_in_words(error)}). Look at the address, the numbers and the "
        "rights of the token or tool."
    )


def _needs(library: str) -> CourseError:
    return CourseError(
        f"sending marks needs {library}: run `pip install ./autograder/coursecheck "
        "'./autograder[lms]'` in the clone"
    )


def _in_words(error: Exception) -> str:
    """Return an error's message on one line of at most 300 characters.

    Words of 32 or more characters, which could be secrets, are masked.
    """
    return _SECRET.sub("…", str(error).replace("\n", " "))[:300] or type(error).__name__


def _canvas_token() -> str:
    if token := os.environ.get("CANVAS_TOKEN"):
        return token
    raise CourseError(
        "CANVAS_TOKEN is not set. In Canvas, *Account, Settings, New Access Token* makes one; put "
        "it into the environment, and into no file."
    )
