"""Builds the site: JupyterLite, the runtime, the students' files, and a start page."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyterlite_core.constants import JUPYTERLITE_JSON
from jupyterlite_pyodide_kernel.constants import (
    DISABLE_PYPI_FALLBACK,
    LOAD_PYODIDE_OPTIONS,
    OPTION_PACKAGES,
    PYODIDE_KERNEL_NPM_NAME,
    PYODIDE_KERNEL_PLUGIN_ID,
    PYODIDE_MJS,
    PYODIDE_URL,
)
from markupsafe import Markup, escape

from ...course_folder.course import Course
from ...course_folder.own_notebooks import read_cells
from ...course_folder.settings import Settings
from ...errors import CourseError
from ...pages.markdown import markdown_html
from ...pages.templates import templates
from ..contents import build_wheels, copy_assignment, copy_extra, released
from ..self_study import SOLUTIONS, add_self_study, start_of_self_study
from .runtime import build_runtime

_RUNTIME = "static/pyodide"  # relative to the site
_EXTENSIONS = "share/jupyter/labextensions/"  # within a wheel, and within a Python environment


@dataclass(frozen=True)
class BrowserSite:
    """The site's folder, and the names of the packages that a browser cannot run."""

    folder: Path
    left_out: list[str]


def publish_browser(
    course: Course, names: Sequence[str], output: Path, self_study: bool = False
) -> BrowserSite:
    """Build the site; it replaces an earlier one in the folder `output`.

    Args:
        course: the course folder, with the release notebooks in it.
        names: the assignments in the site; all released ones if empty.
        output: the folder of the site.
        self_study: whether the site includes solutions and answers, for people who learn alone.

    Raises `CourseError` if an assignment is not released or its release holds hidden parts, if a
    part cannot be built or downloaded, or if `output` exists and is not a site of this kind.
    """
    chosen = released(course, names)
    settings = course.settings
    if output.exists() and any(output.iterdir()) and not (output / JUPYTERLITE_JSON).is_file():
        raise CourseError(f"{output} is there and is not such a site: name another --output")
    output.parent.mkdir(parents=True, exist_ok=True)
    # The temporary folder is on the file system of `output`, so that the finished site can be
    # renamed to `output`.
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".browser-") as scratch:
        work = Path(scratch).resolve()
        contents = work / "contents"
        for name in chosen:
            copy_assignment(course, name, contents / name)
        if self_study:
            add_self_study(course, chosen, contents)
        alive: dict[str, str] = {}
        if settings.lesson.folder:
            from ..lesson.site import build, opening

            alive = opening(course)

            link = "../../notebooks/index.html?path={name}/{name}.ipynb"
            build(course, contents / "lesson", chosen, link)
        (work / "own").mkdir()
        wheels = build_wheels(course, work / "own")
        extra = []
        for path in (contents / name for name in copy_extra(course, chosen, contents)):
            if _runs_in_browser(path, wheels):
                extra.append(path)
            else:
                path.unlink()
        kernel = Path(sys.prefix) / _EXTENSIONS / PYODIDE_KERNEL_NPM_NAME
        # If the course has a wheel, its metadata names the required packages.
        asked = ("ipython", *(() if settings.wheel else settings.visible.packages))
        runtime = build_runtime(
            work / "runtime", sorted(kernel.glob("static/pypi/*.whl")), wheels, asked
        )
        extensions = [kernel, *_extensions(work / "runtime", work / "extensions")]
        site = _build_lite(settings, work, extensions, runtime.packages)
        shutil.move(work / "runtime", site / _RUNTIME)
        _finish_lite(site, settings.title)
        notebooks = [
            _start_page_entry(path, contents)
            for name in chosen
            for path in sorted((contents / name).glob("*.ipynb"))
        ]
        cover = next((each.cover for each in notebooks if each.cover), "")
        if cover:
            (site / "cover.png").write_bytes(base64.b64decode(cover))
        start = templates(__package__).get_template("index.html")
        page = start.render(
            settings=settings,
            cover=bool(cover),
            alive={kind: Markup(text) for kind, text in alive.items()},
            notebooks=notebooks,
            extra=[_start_page_entry(path, contents) for path in extra],
            lesson=bool(settings.lesson.folder),
            self_study=start_of_self_study(chosen, f"files/{SOLUTIONS}") if self_study else "",
            ahead=sorted(f"{_RUNTIME}/{path.name}" for path in (site / _RUNTIME).iterdir()),
            megabytes=round(sum(path.stat().st_size for path in (site / _RUNTIME).iterdir()) / 1e6),
        )
        (site / "index.html").write_text(page, "utf-8")
        shutil.copyfile(Path(__file__).with_name("kept.js"), site / "kept.js")
        if output.exists():
            shutil.rmtree(output)
        os.replace(site, output)
    return BrowserSite(output, runtime.left_out)


@dataclass(frozen=True)
class _StartPageEntry:
    """A notebook's entry on the start page, made from the notebook's first text cell.

    Attributes:
        path: the notebook's path, relative to the site's contents.
        title: the cell's heading; the file's name if there is none.
        summary: the image below the heading, if any, and the first paragraph, as HTML.
        cover: the cell's first attached PNG in base64; "" if there is none.
    """

    path: str
    title: str
    summary: Markup
    cover: str


def _start_page_entry(path: Path, contents: Path) -> _StartPageEntry:
    cells = read_cells(path)
    first = next((cell for cell in cells if cell.cell_type == "markdown"), None)
    heading, *paragraphs = first.source.split("\n\n") if first else [""]
    titled = heading.startswith("# ")
    shown = paragraphs[: 1 + paragraphs[0].startswith("![")] if titled and paragraphs else []
    pictures = first.get("attachments", {}) if first else {}
    summary = markdown_html("\n\n".join(shown), {}, pictures) if shown else ""
    title = heading.removeprefix("# ") if titled else path.stem
    cover = next((each["image/png"] for each in pictures.values() if "image/png" in each), "")
    return _StartPageEntry(path.relative_to(contents).as_posix(), title, Markup(summary), cover)


def _runs_in_browser(path: Path, wheels: Sequence[Path]) -> bool:
    """Return whether a notebook imports only the standard library and modules in these wheels."""
    cells = read_cells(path)
    source = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    modules = {*sys.stdlib_module_names}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as packed:
            modules |= {name.partition("/")[0] for name in packed.namelist()}
    return {*re.findall(r"^\s*(?:import|from) (\w+)", source, re.MULTILINE)} <= modules


def _extensions(wheels: Path, target: Path) -> list[Path]:
    """Unpack the JupyterLab extensions in wheels, such as anywidget's; return their folders.

    Args:
        wheels: the folder of the wheels.
        target: the folder in which the extensions' folders are created.
    """
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as packed:
            for name in packed.namelist():
                _, found, inner = name.partition(_EXTENSIONS)
                if found and not name.endswith("/"):
                    (target / inner).parent.mkdir(parents=True, exist_ok=True)
                    (target / inner).write_bytes(packed.read(name))
    packages = target.rglob("package.json")
    return sorted(path.parent for path in packages if "static" not in path.parts)


_APP_SETTINGS = {
    # In the default windowing mode only visible cells are in the DOM, and JupyterLab 4.6 sometimes
    # loses cells ("Cannot read properties of null (reading 'observe')").
    # Lines of code wrap, since on a phone their ends would be out of sight.
    "@jupyterlab/notebook-extension:tracker": {
        "windowingMode": "defer",
        "codeCellConfig": {"lineWrap": True},
    },
    # Show long outputs in full, without a scrolled box.
    "@jupyter-notebook/notebook-extension:scroll-output": {"autoScrollOutputs": False},
    # Save every 15 seconds, since a tab may be closed at any moment.
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 15},
}


_STYLE = """
body mjx-container[display] { overflow: auto hidden; }
body .jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
@media (max-width: 600px) { body .jp-OutputArea-output.jp-RenderedText pre { font-size: 11px; } }
.start-page { position: fixed; right: .5rem; bottom: .5rem; z-index: 99; padding: .25rem .7rem;
  border: 1px solid #8b949e; border-radius: 1rem; background: #fff; color: #0a58a8;
  font: 14px system-ui, sans-serif; text-decoration: none; }
@media (max-width: 600px) { .start-page span { position: absolute; clip-path: inset(50%); } }
.python-coming { position: fixed; left: .5rem; bottom: .5rem; z-index: 99; margin: 0;
  padding: .25rem .7rem; max-width: calc(100vw - 9.5rem); border-radius: .6rem;
  background: #0a58a8; color: #fff; font: 14px system-ui, sans-serif; }
.python-coming progress { width: 6rem; accent-color: #fff; vertical-align: middle; }
/* The last line of a notebook stays clear of the link. */
body .jp-WindowedPanel-viewport { padding-bottom: 3rem; }
"""
"""CSS for outputs, so that their long lines wrap, and for what is fixed to the lower edge."""

_APPS = ("notebooks", "tree")
"""JupyterLite's apps in the site: a notebook, and the list of files."""

_FIRST = ("service_worker_first", "links")
"""Names of this package's scripts that every page runs before JupyterLite's scripts."""


def _build_lite(
    settings: Settings, work: Path, extensions: Sequence[Path], packages: Sequence[str]
) -> Path:
    """Run `jupyter lite build`; return the folder of the site.

    Args:
        work: the folder for the site and for temporary files, with the notebooks in `contents`.
        extensions: the folders of the JupyterLab extensions.
        packages: the names of Python packages that the kernel loads when it starts.
    """
    kernel = {
        PYODIDE_URL: f"./{_RUNTIME}/{PYODIDE_MJS}",
        DISABLE_PYPI_FALLBACK: True,
        LOAD_PYODIDE_OPTIONS: {OPTION_PACKAGES: [*packages]},
    }
    pages: dict[str, Any] = {
        "appName": settings.title,
        "faviconUrl": "./notebooks/favicon.ico",
        # `trusted` warns of untrusted notebooks, which are harmless on this site, since they can
        # only reach the browser tab. `tab-icon` requests icons from a server.
        "disabledExtensions": [
            "@jupyter-notebook/notebook-extension:trusted",
            "@jupyter-notebook/notebook-extension:tab-icon",
        ],
        "litePluginSettings": {PYODIDE_KERNEL_PLUGIN_ID: kernel},
    }
    lite = work / "lite"
    lite.mkdir()
    (lite / JUPYTERLITE_JSON).write_text(
        json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": pages}), "utf-8"
    )
    (lite / "overrides.json").write_text(json.dumps(_APP_SETTINGS), "utf-8")
    config = {
        "LiteBuildConfig": {
            "apps": [*_APPS],
            "contents": [str(work / "contents")],
            # Leave out the extensions installed in this environment: most need a Jupyter server.
            "ignore_sys_prefix": True,
            "federated_extensions": [*map(str, extensions)],
            "no_libarchive": True,
            "no_sourcemaps": True,
            "output_dir": str(work / "site"),
        }
    }
    (lite / "jupyter_lite_config.json").write_text(json.dumps(config), "utf-8")
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(lite)]
    done = subprocess.run(command, cwd=lite, capture_output=True, text=True)
    if done.returncode != 0:
        raise CourseError(f"JupyterLite could not be built:\n{(done.stdout + done.stderr)[-2000:]}")
    return work / "site"


def _finish_lite(site: Path, title: str) -> None:
    """Add title, icon and style to JupyterLite's pages, and the scripts in `_FIRST`.

    The scripts wait for the service worker, and open links to the site's files in new tabs.
    """
    config = json.loads((site / JUPYTERLITE_JSON).read_text("utf-8"))
    version = config["jupyter-config-data"]["appVersion"]
    scripts = [Path(__file__).with_name(f"{each}.js") for each in _FIRST]
    loader = site / "config-utils.js"
    text = "".join(script.read_text("utf-8") for script in scripts) + loader.read_text("utf-8")
    loader.write_text(text.replace("APP_VERSION", version), "utf-8")
    head = f'<title>{escape(title)}</title>\n    <link rel="icon" href="favicon.ico">'
    head += f"\n    <style>{_STYLE}</style>"
    for app in _APPS:
        page = site / app / "index.html"
        text = page.read_text("utf-8")
        page.write_text(re.sub("<title>.*</title>", lambda _: head, text), "utf-8")
