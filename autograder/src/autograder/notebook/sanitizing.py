"""Sanitizes HTML and SVG from students' notebooks.

Formgrader and feedback pages show this HTML and SVG, and a page of formgrader can change marks. So
the sanitized text must not run code, send a request, or cover or imitate a part of the page. Inline
SVG becomes an `<img>`, in which browsers run and load nothing.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape
from xml.etree import ElementTree

import defusedxml
import nh3
from defusedxml.ElementTree import fromstring
from pygments.token import STANDARD_TYPES

from ..caching import cached_by_text

MAX_TAGS = 5000
"""Greatest number of HTML tags in one cell's outputs: to sanitize nested tags takes quadratic
time."""

_MAX_SHAPES = 50_000
"""Greatest number of elements in an SVG drawing."""
_MAX_WORDS = 10_000
"""Greatest number of words in HTML; one more is allowed for every 40 characters. Each word may be
an attribute, and many attributes of one tag take quadratic time."""
_WORD = re.compile(r"[\s/\"'][^\s/\"'<>]")

_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "col", "colgroup", "dd", "del",
    "details", "dfn", "div", "dl", "dt", "em", "figure", "figcaption", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "small",
    "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
    "tt", "u", "ul", "var", "wbr",
}  # fmt: skip
_MATHS = {
    "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mroot", "mrow", "mspace",
    "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder",
    "munderover",
}  # fmt: skip
_MATHS_ATTRIBUTES = {
    "accent", "columnalign", "columnlines", "columnspacing", "display", "displaystyle", "fence",
    "form", "linethickness", "lspace", "mathsize", "mathvariant", "maxsize", "minsize",
    "movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator",
    "stretchy", "symmetric",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"style", "title", "lang", "dir"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "details": {"open"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "mspace": {"width"},
    **{tag: _MATHS_ATTRIBUTES for tag in _MATHS - {"mspace"}},
}
_STYLES = {
    "background", "background-color", "border", "border-bottom", "border-collapse",
    "border-color", "border-left", "border-radius", "border-right", "border-spacing",
    "border-style", "border-top", "border-width", "color", "cursor", "direction", "display",
    "font", "font-family", "font-size", "font-style", "font-variant", "font-weight", "height",
    "line-height", "list-style-type", "margin", "margin-bottom", "margin-left", "margin-right",
    "margin-top", "max-height", "max-width", "min-width", "overflow", "overflow-x",
    "overflow-y", "padding", "padding-bottom", "padding-left", "padding-right", "padding-top",
    "text-align", "text-decoration", "text-indent", "vertical-align", "white-space", "width",
}  # fmt: skip
_MOVES = ("margin", "text-indent", "vertical-align")
"""CSS properties that can move an element out of its frame if their value is negative."""
_STYLE_FUNCTIONS = {"rgb", "rgba", "hsl", "hsla", "var", "calc"}
_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")
_DRAWING = "data:image/svg+xml;base64,"
_SIZE = re.compile(r"-?\d?(\.\d{1,4})?(em|ex|px|pt)?|[a-z-]+( [a-z-]+){0,20}")
_LINK = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
_SVG_TAG = re.compile(r"<(/?)svg\b[^<>]*>?", re.IGNORECASE)

_CACHED = 4_000_000
"""Greatest number of characters of the texts that a cache holds."""

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
ElementTree.register_namespace("", _SVG.strip("{}"))
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
_SHAPES = {
    "svg", "g", "defs", "symbol", "use", "title", "desc", "path", "rect", "circle", "ellipse",
    "line", "polyline", "polygon", "text", "tspan", "textPath", "clipPath", "marker",
    "linearGradient", "radialGradient", "stop", "style",
}  # fmt: skip


@cached_by_text(_CACHED)
def framed_html(html: str) -> str:
    """Return a student's HTML, sanitized and in a box whose height is at most 90 % of the
    window's."""
    return framed(safe_html(html), "max-height:90vh")


def framed(html: str, style: str = "") -> str:
    """Return sanitized HTML in a box, outside of which it cannot draw.

    Args:
        style: further CSS declarations for the box.
    """
    # `contain: content` clips everything drawn outside of the box, positioned elements too.
    return f'<div style="contain:content;overflow:auto;{style}">{html}</div>'


def safe_html(html: str) -> str:
    """Return HTML reduced to text, tables, MathML and images, with every tag closed."""
    pieces = _split_at_drawings(html)
    pieces[1::2] = map(_as_image, pieces[1::2])
    html = "".join(pieces)
    if len(_WORD.findall(html)) > _MAX_WORDS + len(html) // 40:
        return "<em>[This was left out: it is too long to be shown as HTML.]</em>"
    return nh3.clean(
        html,
        tags=_TAGS | _MATHS,
        clean_content_tags={"script", "style", "title", "noscript", "template", "iframe"},
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        filter_style_properties=_STYLES,
        # The classes of Pygments give code its colours. Any other class or id could imitate a part
        # of the page.
        allowed_classes={"div": {"highlight"}, "span": set(STANDARD_TYPES.values()) - {""}},
        url_schemes={"http", "https", "mailto", "data"},
        url_relative="deny",
    )


def tags_in(html: str) -> int:
    """Return the number of tags that the HTML opens. An inline SVG drawing counts as twenty
    tags."""
    pieces = _split_at_drawings(html)
    return sum(len(re.findall("<[a-zA-Z]", piece)) for piece in pieces[::2]) + 10 * len(pieces)


def _split_at_drawings(html: str) -> list[str]:
    """Split HTML at its inline SVG drawings. The pieces with an odd index are the drawings."""
    pieces, start, end = [], None, 0
    for tag in _SVG_TAG.finditer(html):
        is_closing = bool(tag.group(1))
        if start is None and not is_closing:
            start = tag.start()
        elif start is not None and is_closing:
            pieces += [html[end:start], html[start : tag.end()]]
            start, end = None, tag.end()
    return [*pieces, html[end:]]


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Return the value of an attribute if it is harmless; else None, so that nh3 drops the
    attribute."""
    if name == "style":
        return value if _is_harmless(value.lower()) else None
    if name == "src":
        return value if _IMAGE.fullmatch(value) or _is_rebuilt(value) else None
    if name == "href":
        return value if _LINK.match(value) else None
    if tag in _MATHS and name not in _ATTRIBUTES["*"]:
        return value if _SIZE.fullmatch(value) else None
    return value


def _is_rebuilt(source: str) -> bool:
    """Return whether an image's source is an SVG drawing that `safe_svg` does not change."""
    if not source.startswith(_DRAWING):
        return False
    try:
        svg = base64.b64decode(source.removeprefix(_DRAWING), validate=True).decode()
    except ValueError:
        return False
    return safe_svg(svg) == svg


def _is_harmless(style: str) -> bool:
    """Return whether a list of CSS declarations loads nothing and moves nothing out of its
    frame."""
    # Escapes and comments could hide the name of a function from the search below.
    if "\\" in style or "/*" in style or not set(_functions(style)) <= _STYLE_FUNCTIONS:
        return False
    moves = [each for each in style.split(";") if each.strip().startswith(_MOVES)]
    return not any("(" in each or re.search(r"-[\d.]", each) for each in moves)


def _functions(style: str) -> Iterator[str]:
    """Yield the last word before each opening bracket. This takes linear time; a regular expression
    over the whole text would take quadratic time."""
    for before in style.split("(")[:-1]:
        yield re.findall(r"[\w-]*$", before.rstrip()[-30:])[0]


def _as_image(svg: str) -> str:
    """Return an `<img>` of an SVG drawing, with the drawing's label, title and description as alt
    text."""
    safe = safe_svg(svg)
    if safe is None:
        return "<em>[A drawing was left out: it is not SVG that can be shown here.]</em>"
    root = ElementTree.fromstring(safe)
    words = [root.get("aria-label"), root.findtext(f"{_SVG}title"), root.findtext(f"{_SVG}desc")]
    text = " ".join(dict.fromkeys(word for word in words if word))
    content = base64.b64encode(safe.encode()).decode()
    size = "".join(
        f' {name}="{value}"'
        for name in ("width", "height")
        if re.fullmatch(r"\d{1,5}", value := root.get(name, ""))
    )
    return f'<img src="{_DRAWING}{content}" alt="{escape(text)}"{size} style="border:none">'


@cached_by_text(_CACHED)
def safe_svg(svg: str) -> str | None:
    """Return an SVG drawing, rebuilt from its shapes, texts and styles. Scripts, links, embedded
    pages, pictures and animations are left out.

    None is returned for a drawing that is not well-formed, has entities, or has too many shapes;
    each copy by `use` counts as a shape.
    """
    if re.match(r"<svg(?![^>]*\sxmlns=)", svg):
        svg = re.sub("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', svg, count=1)
    try:
        # A DOCTYPE is allowed, since matplotlib writes one; entities in it are not.
        root = fromstring(svg, forbid_entities=True, forbid_external=True)
        if root.tag != f"{_SVG}svg" or len(list(root.iter())) > _MAX_SHAPES:
            return None
        kept = _shape(root, 0)
        if kept is None or _copies(kept) > _MAX_SHAPES:
            return None
        return ElementTree.tostring(kept, encoding="unicode")
    except (ElementTree.ParseError, defusedxml.DefusedXmlException, ValueError, RecursionError):
        return None


def _shape(element: ElementTree.Element, depth: int) -> ElementTree.Element | None:
    """Return a copy of an element with only the allowed attributes and children; None if the
    element itself is not allowed."""
    # The tag of a comment or of a processing instruction is a function, not a text.
    name = element.tag.removeprefix(_SVG) if isinstance(element.tag, str) else ""
    if name not in _SHAPES or depth > 100:
        return None
    if name == "style" and not _is_plain_style(element.text or ""):
        return None
    kept = ElementTree.Element(element.tag)
    for key, value in element.items():
        if key in ("href", _HREF):
            if value.startswith("#"):  # It refers to a part of the same drawing.
                kept.set(_HREF, value)
        elif key.startswith("{") or key.lower().startswith("on") or not _is_plain_style(value):
            continue
        else:
            kept.set(key, value)
    kept.text, kept.tail = element.text, element.tail
    for child in element:
        if (part := _shape(child, depth + 1)) is not None:
            kept.append(part)
    return kept


def _is_plain_style(text: str) -> bool:
    """Return whether a style or an attribute's value refers to nothing outside the drawing."""
    outside = re.search(r"url\s*\((?!\s*['\"]?#)|image|src\s*\(|@|\\|javascript:", text.lower())
    return outside is None


def _copies(root: ElementTree.Element) -> int:
    """Return the number of shapes in a drawing with every `use` expanded; a number over the limit
    if an element copies itself.

    With ten levels of ten copies each, a drawing of a few lines has ten billion shapes.
    """
    by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
    counts: dict[int, int] = {}
    too_many = _MAX_SHAPES + 1

    def count(element: ElementTree.Element) -> int:
        if id(element) not in counts:
            # This counts until the number is known: an element that copies itself finds it here.
            counts[id(element)] = too_many
            total = 1 + sum(map(count, element))
            target = by_id.get((element.get(_HREF) or "")[1:])
            total += count(target) if target is not None else 0
            counts[id(element)] = min(total, too_many)
        return counts[id(element)]

    return count(root)
