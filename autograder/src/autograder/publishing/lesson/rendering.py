"""Renders a text in Markdown as HTML: prose, formulas, code, and the results of the code."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from matplotlib.figure import Figure
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .code_blocks import BlockResults, Session
from .pictures import Drawing, chart_html, drawing_html

# Words that may follow "python" in the first line of a code block.
OPTIONS = {
    "hide",  # run the block, and show only its results
    "fragment",  # show the block, and do not run it
    "alt",  # alt="…": the alt text of the chart that the block makes
}


@dataclass(frozen=True)
class Heading:
    """A heading in a page: its `id`, and its text as HTML, for the table of contents."""

    id: str
    html: str


@dataclass(frozen=True)
class Text:
    """A rendered text.

    Attributes:
        title: the text's first heading, as HTML.
        headings: the text's headings of the second level.
        html: the whole text, as HTML.
    """

    title: str
    headings: list[Heading]
    html: str


def set_text(
    source: str, session: Session, first_line: int = 1, notebooks: Mapping[str, str] | None = None
) -> Text:
    """Run the code in a text, fill in its numbers, and render it as HTML.

    Args:
        source: the text in Markdown.
        session: runs the text's code blocks.
        first_line: the number of the text's first line in its file.
        notebooks: by name: the URL for links such as `notebook:value`. A link to any other notebook
            becomes bold text.

    Raises `LessonError` if a block failed, or the text has no heading.
    """
    markdown = _markdown()
    filled, shown = _run(markdown, source, session, first_line)
    tokens = markdown.parse(filled)
    headings = [
        (token.tag, str(token.attrs.get("id", "")), markdown.renderInline(inline.content))
        for token, inline in itertools.pairwise(tokens)
        if token.type == "heading_open"
    ]
    if not headings:
        raise session.mistake(first_line, "a heading is missing")
    env = {"shown": iter(shown), "notebooks": notebooks or {}}
    html = markdown.renderer.render(tokens, markdown.options, env)
    return Text(
        title=headings[0][2],
        headings=[Heading(id, html) for tag, id, html in headings[1:] if tag == "h2"],
        # Else a browser may begin a line with the mark after a formula.
        html=re.sub(r"</math></span>([.,;:?!)]+)", r"</math>\1</span>", html),
    )


def _run(
    markdown: MarkdownIt, source: str, session: Session, first_line: int
) -> tuple[str, list[BlockResults | None]]:
    """Run a text's code blocks, and fill in its `{= expression}`s.

    Returns:
        The text, and the results of each block: None for a block with the option `fragment`.
    """
    lines = source.splitlines(keepends=True)
    parts: list[str] = []
    shown: list[BlockResults | None] = []
    done = 0
    for token in markdown.parse(source):
        if token.type != "fence" or not token.map or not token.info.startswith("python"):
            continue
        begin, end = token.map
        # Fill in the prose above a block before running the block, so that an expression has the
        # value at its place in the text.
        parts += [session.fill("".join(lines[done:begin]), first_line + done), *lines[begin:end]]
        done = end
        shown.append(_run_block(token, session, first_line + begin))
    return "".join([*parts, session.fill("".join(lines[done:]), first_line + done)]), shown


def _run_block(token: Token, session: Session, line: int) -> BlockResults | None:
    options = _options(token.info)
    if unknown := set(options) - OPTIONS:
        raise session.mistake(line, f"no block can be {', '.join(sorted(unknown))}")
    if "fragment" in options:
        return None
    shown = session.run(token.content, line)
    if isinstance(shown.value, Figure) and not options.get("alt"):
        raise session.mistake(line, 'a chart needs alt="…" to say what it shows')
    return shown


def _options(info: str) -> dict[str, str]:
    """Return the options in a block's first line, after "python", with their values.

    `alt="…"` has the value in quotes, the others "".
    """
    pairs = (word.partition("=") for word in shlex.split(info)[1:])
    return {word: value for word, _, value in pairs}


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"typographer": False}).enable("table")
    dollarmath_plugin(markdown, double_inline=False, renderer=_formula)
    anchors_plugin(markdown, min_level=2, max_level=3)
    deflist_plugin(markdown)
    tags = {"takeaways": "section", "notes": "aside"}
    for name in ("note", "takeaways", "notes", "sheet", "columns", "column"):
        container_plugin(markdown, name, render=_box(name, tags.get(name, "div")))
    container_plugin(markdown, "answer", render=_answer(markdown))
    container_plugin(markdown, "interactive", render=_interactive)
    markdown.add_render_rule("fence", _fence)
    markdown.add_render_rule("link_open", _link)
    markdown.add_render_rule("table_open", lambda *_: '<div class="wide" tabindex="0"><table>\n')
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return markdown


def _formula(source: str, options: Mapping[str, Any]) -> str:
    display = "block" if options.get("display_mode") else "inline"
    formula = convert(source, display=display)
    return f'<div class="formula">{formula}</div>' if display == "block" else formula


def _box(name: str, tag: str) -> Callable[..., str]:
    def render(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
        return f'<{tag} class="{name}">\n' if tokens[index].nesting == 1 else f"</{tag}>\n"

    return render


def _answer(markdown: MarkdownIt) -> Callable[..., str]:
    """Return a renderer of `answer` containers: `details` elements with a question as summary.

    With `is="…"` before the question, the course's script asks for an answer first: a number, or
    one of several, which `of="… | …"` lists.
    """

    def render(_: RendererHTML, tokens: Sequence[Token], index: int, *__: Any) -> str:
        if tokens[index].nesting != 1:
            return "</details>\n"
        info = tokens[index].info.strip().removeprefix("answer").strip()
        settings = dict(re.findall(r'\b(is|of)="([^"]*)"', info))
        question = re.sub(r'^((is|of)="[^"]*"\s*)*', "", info)
        asked = _interactive_data("ask", settings) if settings else ""
        summary = markdown.renderInline(question)
        return f'<details class="answer"{asked}><summary>{summary}</summary>\n'

    return render


def _interactive(__: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    """Render an element that the course's own script makes interactive.

    Its data attributes tell the script the kind and the settings. The text in the element is for
    readers without scripts, and for print.
    """
    if tokens[index].nesting != 1:
        return "</div>\n"
    kind, *pairs = shlex.split(tokens[index].info)[1:]
    settings = dict(pair.split("=", 1) for pair in pairs)
    return f"<div{_interactive_data(kind, settings)}>\n"


def _interactive_data(kind: str, settings: Mapping[str, str]) -> str:
    data = escape(json.dumps(settings, ensure_ascii=False))
    return f' data-interactive="{escape(kind)}" data-settings="{data}"'


def _link(
    renderer: Any, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
) -> str:
    """Render a link.

    A link from one text to another becomes a link between their pages. On the site, the slides are
    in a folder below the lesson.
    """
    href = re.sub(r"\.md(?=#|$)", ".html", str(tokens[index].attrs["href"]))
    href = href.replace("../slides/", "slides/").replace("../lesson/", "../")
    scheme, _, name = href.partition(":")
    if scheme == "notebook":
        href = env["notebooks"].get(name, "")
    if href:
        tokens[index].attrs["href"] = href
    else:
        end = next(token for token in tokens[index:] if token.type == "link_close")
        tokens[index].tag = end.tag = "strong"
        del tokens[index].attrs["href"]
    result: str = renderer.renderToken(tokens, index, options, env)
    return result


def _fence(
    _: Any, tokens: Sequence[Token], index: int, __: OptionsDict, env: Mapping[str, Any]
) -> str:
    token = tokens[index]
    if not token.info.startswith("python"):
        return f'<pre class="plain" tabindex="0">{escape(token.content)}</pre>\n'
    options = _options(token.info)
    code = highlight(token.content, PythonLexer(), HtmlFormatter(nowrap=True))
    block = f'<pre class="code" tabindex="0"><code>{code}</code></pre>\n'
    shown: Iterator[BlockResults | None] = env["shown"]
    ran = next(shown)
    return ("" if "hide" in options else block) + "".join(_outputs(ran, options))


def _outputs(shown: BlockResults | None, options: Mapping[str, str]) -> Iterator[str]:
    if shown is None:
        return
    words = shown.printed
    if isinstance(shown.value, Drawing):
        yield drawing_html(shown.value)
    elif isinstance(shown.value, Figure):
        yield chart_html(shown.value, options["alt"])
    elif shown.value is not None:
        words += f"{shown.value!r}\n"
    if words:
        yield (
            '<div class="output"><span class="unseen">This shows:</span>'
            f'<pre tabindex="0">{escape(words)}</pre></div>\n'
        )
