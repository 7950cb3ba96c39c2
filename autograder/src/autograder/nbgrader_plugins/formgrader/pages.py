"""Patches the formgrader's request handlers and templates.

Only this module uses private parts of the formgrader. `tests/test_formgrader_parts.py` says which
of them differ in a new version of nbgrader.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, TemplateNotFound
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.server_extensions.formgrader import apihandlers, handlers
from nbgrader.server_extensions.formgrader.base import BaseHandler, check_notebook_dir, check_xsrf
from tornado import web

from ...gradebook import by_hand
from ...notebook.answer_cells import GradedNotebook, answer_text
from ...pages.markdown import markdown2html

_OWN = Path(__file__).parent
_FIND = {
    Grade: Gradebook.find_grade_by_id,
    Comment: Gradebook.find_comment_by_id,
}
_TYPED = {Grade: ("manual_score", "extra_credit"), Comment: ("manual_comment",)}


def change() -> None:
    """Patch the formgrader's request handlers; idempotent."""
    if isinstance(BaseHandler.exporter, _Exporter):
        return
    BaseHandler.exporter = _Exporter()
    BaseHandler.render = _render
    apihandlers.GradeCollectionHandler.get = _get("grades")
    apihandlers.CommentCollectionHandler.get = _get("comments")
    apihandlers.GradeHandler.put = _put(Grade)
    apihandlers.CommentHandler.put = _put(Comment)


# Requests.


def _guarded(request: Callable[..., None]) -> Any:
    """Return a handler method with the checks of nbgrader's own: login, XSRF, notebook folder."""
    return web.authenticated(check_xsrf(check_notebook_dir(request)))


def _get(what: str) -> Any:
    """Return the handler for the grades or comments of a submitted notebook.

    Its reply is that of nbgrader's handler. In addition, each row has the exercise's snapshot under
    the key `seen`.

    Args:
        what: "grades" or "comments".
    """

    def get(self: Any) -> None:
        db = self.gradebook.db
        db.rollback()  # The session may hold outdated rows, which another process has changed.
        try:
            notebook = self.gradebook.find_submission_notebook_by_id(
                self.get_argument("submission_id")
            )
        except MissingEntry as error:
            raise web.HTTPError(404) from error
        snapshots = by_hand.take_snapshots(db.connection(), notebook.id)
        rows = [(row.to_dict(), snapshots[row.id]) for row in getattr(notebook, what)]
        self.write(json.dumps([
            {**row, **{key: seen[key] for key in row if key in seen}, "seen": seen}
            for row, seen in rows
        ]))  # fmt: skip

    return _guarded(get)


def _put(kind: type[Grade | Comment]) -> Any:
    """Return the handler that stores a mark or a comment that a person typed.

    If the exercise has changed since the page was loaded, the handler stores nothing, and replies
    409 Conflict with the present snapshot.
    """

    def put(self: Any, row: str) -> None:
        data = self.get_json_body()
        self.gradebook.db.rollback()
        try:
            entry = _FIND[kind](self.gradebook, row)
            typed = _typed_values(data, kind, getattr(entry, "max_score", 0.0))
            text = _text(self.coursedir, entry.notebook, data["seen"].get("exercise"))
            stored, now = by_hand.store(
                self.gradebook.engine, kind, row, data["seen"], typed, by_hand.person(), text=text
            )
        except MissingEntry as error:
            raise web.HTTPError(404) from error
        finally:
            self.gradebook.db.rollback()
        self.set_status(200 if stored else 409)
        self.write(json.dumps({"now": now}))

    return _guarded(put)


def _text(folders: CourseDirectory, submitted: SubmittedNotebook, exercise: Any) -> str:
    """Return the text of the answer to an exercise, for the record; "" if there is none."""
    folder = folders.format_path(
        folders.autograded_directory, submitted.student.id, submitted.assignment.assignment.name
    )
    answers = GradedNotebook(Path(folder) / f"{submitted.notebook.name}.ipynb").answers()
    return answer_text(answers.get(str(exercise), ()))


def _typed_values(data: Any, kind: type[Grade | Comment], most: float) -> by_hand.Snapshot:
    """Return the values in a request, by column. Raises `HTTPError` 400 if one is invalid.

    Args:
        data: the request's JSON.
        kind: the table whose columns the values are for.
        most: the exercise's maximum in points.
    """
    if not isinstance(data, dict) or not isinstance(data.get("seen"), dict):
        raise web.HTTPError(400, "this page is older than the formgrader: reload it")
    typed = {key: data[key] for key in _TYPED[kind] if key in data}
    limits = {"manual_score": most, "extra_credit": math.inf}
    for key, value in typed.items():
        if value is None:
            continue
        if key in limits:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            is_valid = is_number and math.isfinite(value) and 0 <= value <= limits[key]
        else:
            is_valid = isinstance(value, str)
        if not is_valid:
            raise web.HTTPError(400, f"{key} cannot be {value!r}")
    return typed


# Pages.


class _Exporter:
    """Descriptor that replaces the handlers' property `exporter`.

    It adds this package's templates and Markdown filter to nbgrader's exporter.
    """

    def __get__(self, handler: Any, owner: Any = None) -> Any:
        if handler is None:
            return self
        exporter = handler.settings["nbgrader_exporter"]
        # A server that was started in another course's folder has not set `extend`'s filters.
        exporter.register_filter("markdown2html", markdown2html)
        _use_templates(exporter.environment)
        return exporter


def _render(self: Any, name: str, **values: Any) -> str:
    environment = self.settings["nbgrader_jinja2_env"]
    _use_templates(environment)
    page: str = environment.get_template(name).render(**values)
    return page


def _use_templates(environment: Environment) -> None:
    if not isinstance(environment.loader, Templates):
        environment.loader = Templates(environment.loader)


class Templates(BaseLoader):
    """Loads nbgrader's templates, with all values escaped and this package's scripts added.

    In nbgrader's own templates, names, ids and parts of URLs are unescaped, in HTML and in scripts.
    """

    def __init__(self, theirs: BaseLoader | None) -> None:
        self._theirs = theirs

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        if template == "mathjax.html.j2":
            return _MARKING, None, None
        if self._theirs is None:
            raise TemplateNotFound(template)
        source, path, is_current = self._theirs.get_source(environment, template)
        if path is None or not Path(path).is_relative_to(handlers.template_path):
            return source, path, is_current
        source = escaped(source)
        if template == "base.tpl":
            source = source.replace("</body>", f"{_LISTS}</body>")
        elif "block markdowncell" in source:
            # With autocomplete, the browser's *Back* would fill in old values over another person's
            # newer mark.
            source = source.replace('tabbable"', 'tabbable" autocomplete="off"') + _FORMULAS
        return source, path, is_current


def escaped(source: str) -> str:
    """Return a template with each value escaped, as JSON in scripts and as HTML elsewhere."""
    in_scripts = re.sub(
        r'= "\{\{ ([\w.]+) \}\}([^"{\n]*)";', r'= {{ \1 | tojson }} + "\2";', source
    )
    # Values named `css …` are nbconvert's own style sheets, and are not escaped.
    return re.sub(r"\{\{ (?!css )([\w.]+) \}\}", r"{{ \1 | e }}", in_scripts)


def _inline(tag: str, name: str) -> str:
    text = (_OWN / name).read_text("utf-8")
    return f"<{tag}>{{% raw %}}\n{text}{{% endraw %}}</{tag}>\n"


_LISTS = _inline("script", "lists.js")
_MARKING = (
    "{%- macro mathjax(url=None) -%}\n"
    f"{_inline('style', 'marking.css')}{_inline('script', 'marking.js')}"
    "{%- endmacro %}\n"
)
"""Template that replaces `mathjax.html.j2`, whose macro loads MathJax from another server."""

_FORMULAS = """
{% block data_latex scoped %}
<div class="output_latex output_subarea">{{ output.data["text/latex"] | markdown2html }}</div>
{% endblock data_latex %}
"""
