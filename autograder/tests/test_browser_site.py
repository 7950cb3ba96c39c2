"""The browser edition of a course: its files, and the addresses from which it loads them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import nbformat
import pytest
from other_courses import copy_other
from schools import append, run

from autograder.publishing.contents import wheel_metadata

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the site of a course without a package of its own that uses pandas, and the output.

    The course names the site's address, and its notebook has a cover.
    """
    course = tmp_path_factory.mktemp("course") / "tables"
    copy_other("tables", course)
    append(course / "course.toml", '\n[bundle]\nbrowser = "https://courses.example.org/tables/"\n')
    cover = base64.b64encode(b"a picture").decode()
    for kind in ("source", "release"):
        path = course / kind / "tables" / "tables.ipynb"
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[0].attachments = {"cover.png": {"image/png": cover}}
        nbformat.write(notebook, path)
    said = run(course, "autograder", "publish", "--browser", "--output", "site")
    return course / "site", said


def test_packages_that_a_browser_cannot_install_are_reported_by_name(published):
    site, said = published
    assert site.name in said.split()
    assert re.search(r"left out, since .* Python alone: pandas\.", " ".join(said.split()))


def test_the_site_holds_only_the_files_that_students_get(published):
    site, _ = published
    held = {path.relative_to(site / "files").as_posix() for path in (site / "files").rglob("*.*")}
    assert held == {"tables/tables.ipynb", "tables/market.csv", "tables/checks.json"}
    page = (site / "index.html").read_text("utf-8")
    assert "Tables with pandas" in page
    assert "notebooks/index.html?path=tables/tables.ipynb" in page


def test_previews_of_links_to_the_site_show_the_first_assignment_s_cover(published):
    site, _ = published
    page = (site / "index.html").read_text("utf-8")

    assert 'og:image" content="https://courses.example.org/tables/cover.png"' in page
    assert (site / "cover.png").read_bytes() == b"a picture"


def test_lines_of_an_output_are_wrapped_between_words(published):
    site, _ = published
    page = (site / "notebooks" / "index.html").read_text("utf-8")

    assert re.search(r"<style>[^<]*\nbody \.jp-OutputArea-output pre { word-break: normal;", page)


def test_the_browser_loads_python_and_packages_only_from_the_site(published):
    site, _ = published
    runtime = site / "static" / "pyodide"
    settings = json.loads((site / "jupyter-lite.json").read_text())["jupyter-config-data"]
    kernel = settings["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    assert kernel["pyodideUrl"] == "./static/pyodide/pyodide.mjs"
    assert kernel["disablePyPIFallback"] is True
    packages = json.loads((runtime / "pyodide-lock.json").read_text())["packages"]
    assert set(kernel["loadPyodideOptions"]["packages"]) == set(packages)
    assert {"coursecheck", "ipython", "jedi", "micropip", "piplite"} <= set(packages)
    for name, package in packages.items():
        wheel = runtime / package["file_name"]
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == package["sha256"]
        assert set(package["depends"]) <= set(packages), name
        assert wheel_metadata(wheel)["Version"] == package["version"]
    assert packages["coursecheck"]["imports"] == ["coursecheck"]
    notebooks = settings["settingsOverrides"]["@jupyterlab/notebook-extension:tracker"]
    assert notebooks == {"windowingMode": "defer", "codeCellConfig": {"lineWrap": True}}
    # Required on Windows alone, or on systems with processes.
    assert not {"colorama", "pexpect"} & set(packages)


def test_publishing_the_site_into_a_foreign_folder_is_refused(tmp_path):
    course = tmp_path / "tables"
    copy_other("tables", course)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    line = ["autograder", "publish", "--browser", "--output", str(tmp_path / "mine")]

    assert "is not such a site" in " ".join(run(course, *line, status=2).split())
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "mine"
