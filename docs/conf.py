"""Configures Sphinx for the pages in this folder: `make docs` puts the site into artefacts/docs."""

import re

from sphinx.application import Sphinx

project = "The autograd course"
extensions = ["myst_parser", "sphinx_click"]
root_doc = "index"
exclude_patterns = ["*.toml", "*.Containerfile", "*.service", "*.yaml"]

myst_heading_anchors = 3
smartquotes = False  # -- begins an option, and is no dash
highlight_language = "text"

html_theme = "furo"
html_title = project
html_use_index = False
html_show_copyright = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
# Summaries are fetched page by page, which browsers refuse if a site is opened as files.
html_show_search_summary = False


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Add the lists of links on the first page as the contents of the site."""
    if page != root_doc:
        return
    text = source[0]
    for part, links in re.findall(r"^## (.+)\n\n((?:(?:- |  ).+\n)+)", text, re.MULTILINE):
        pages = "\n".join(re.findall(r"^- .*?\]\((\S+)\.md\)", links, re.MULTILINE))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n{pages}\n```\n"


def keep_inside(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace a link to a file of the clone by its text: the site holds no notebook and no test."""
    source[0] = re.sub(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\.\./[^)]*\)", r"\1", source[0])


def make_reachable(
    app: Sphinx, page: str, template: str, context: dict[str, str], _: object
) -> None:
    """Correct the theme: the keyboard can scroll wide parts, and headings have a rank."""
    for part, old, new in (
        ("body", "<pre>", '<pre tabindex="0">'),
        ("body", '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
        ("furo_navigation_tree", 'role="heading"', 'role="heading" aria-level="2"'),
    ):
        if part in context:
            context[part] = context[part].replace(old, new)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
    app.connect("source-read", keep_inside)
    # After the theme has set its contents.
    app.connect("html-page-context", make_reachable, priority=900)
