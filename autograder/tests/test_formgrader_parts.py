"""The files of nbgrader's formgrader that this project changes have the digests recorded here.

If a file differs, the test names it: read the changes, adapt
`autograder/nbgrader_plugins/formgrader/` if it depends on them, and record the new digest.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader, nodes
from nbgrader.server_extensions.formgrader import handlers

from autograder.nbgrader_plugins.formgrader.pages import Templates

TEMPLATES = Path(handlers.template_path)
PARTS = {
    "__init__.py": "fefff9915d3df73c",
    "apihandlers.py": "5db811d72133f57e",
    "base.py": "1f30e653a00b7362",
    "formgrader.py": "b0c4f143b96e8f00",
    "handlers.py": "8eb5692245b6bc36",
    "static/js/backbone_xsrf.js": "2ab315481ea25400",
    "static/js/formgrade.js": "53db14a9ea4a17ff",
    "static/js/formgrade_keyboardmanager.js": "4273e983197cc394",
    "static/js/formgrade_models.js": "cf65a763c01f137e",
    "static/js/gradebook_assignments.js": "c886c6a5727f8c03",
    "static/js/gradebook_notebook_submissions.js": "c8418c99ad5ae93f",
    "static/js/gradebook_notebooks.js": "bbc0efad0bb96789",
    "static/js/manage_assignments.js": "28668414f89c397f",
    "static/js/manage_students.js": "14379bf5c7471fac",
    "static/js/manage_students_assignments.js": "c6d6e52b376aaac0",
    "static/js/manage_students_notebook_submissions.js": "b970149ba92067b5",
    "static/js/manage_submissions.js": "530b74e8c265089d",
    "static/js/utils.js": "bf49532f75071613",
    "templates/base.tpl": "d206a94d41438f28",
    "templates/base_403.tpl": "2d198706be4e302a",
    "templates/base_500.tpl": "e04e1f39b090c83c",
    "templates/formgrade/formgrade_macros.html.j2": "5eed6cc257f4aa3b",
    "templates/formgrade/index.html.j2": "7a7a2c7539d2327c",
    "templates/formgrade_404.tpl": "0eb265b320c3197a",
    "templates/gradebook_assignments.tpl": "78460d266ac27b11",
    "templates/gradebook_base.tpl": "8c26028a36dea407",
    "templates/gradebook_notebook_submissions.tpl": "6ba31e53a5cd3c07",
    "templates/gradebook_notebooks.tpl": "82397c92104b1d18",
    "templates/manage_assignments.tpl": "b0119b6950738c28",
    "templates/manage_students.tpl": "0932178cf83a164e",
    "templates/manage_students_assignments.tpl": "cdb9b9ac6ccbca77",
    "templates/manage_students_base.tpl": "d186f462b0ee4271",
    "templates/manage_students_notebook_submissions.tpl": "571edb1ad5a753a1",
    "templates/manage_submissions.tpl": "b482829c57d325ea",
}


def test_files_of_the_installed_formgrader_have_the_recorded_digests():
    folder = TEMPLATES.parent
    found = {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()[:16]
        for kind in ("*.py", "static/js/*.js", "templates/*.tpl", "templates/formgrade/*.j2")
        for path in folder.glob(kind)
    }
    assert [name for name in {**found, **PARTS} if found.get(name) != PARTS.get(name)] == []


FILTERS = ("e", "tojson", "round", "markdown2html", "strip_files_prefix", "highlight_code")
"""Filters that make a value harmless: a number, or HTML that is escaped or sanitized."""


def values(tree: nodes.Template) -> Iterator[nodes.Node]:
    """Yield what a template prints, but for its own text and for blocks and macros."""
    for output in tree.find_all(nodes.Output):
        for each in output.nodes:
            if not isinstance(each, nodes.TemplateData | nodes.Call):
                yield each


@pytest.mark.parametrize(
    "path",
    [*TEMPLATES.glob("*.tpl"), *TEMPLATES.glob("formgrade/*.j2")],
    ids=lambda path: path.name,
)
def test_every_value_in_a_formgrader_template_is_escaped(path: Path):
    environment = Environment()
    loader = Templates(FileSystemLoader([TEMPLATES, TEMPLATES / "formgrade"]))
    source, _, _ = loader.get_source(environment, path.relative_to(TEMPLATES).as_posix())
    printed = [*values(environment.parse(source))]
    assert [each for each in printed if not is_harmless(each)] == []


def is_harmless(value: nodes.Node) -> bool:
    if isinstance(value, nodes.Filter):
        return value.name in FILTERS
    # Numbers, and nbconvert's own style sheets.
    is_css = isinstance(value, nodes.Name) and value.name == "css"
    return is_css or isinstance(value, nodes.Add | nodes.Sub)
