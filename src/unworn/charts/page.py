"""A chart as a page of its own: no network, no browser's help, and nothing in it that a name could run."""

from __future__ import annotations

from unworn.basics.display import show_html

_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
"""Vega compiles its own expressions; nothing is loaded from anywhere, and nothing is sent."""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
</head>
<body>
<div id="chart"></div>
<script type="application/json" id="spec">{spec}</script>
<script>{library}</script>
<script>
vegaEmbed("#chart", JSON.parse(document.getElementById("spec").textContent), {{renderer: "svg"}}).catch(console.error);
</script>
</body>
</html>
"""
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def write_page(spec: str, library: str, title: str) -> str:
    """The page that draws a specification (JSON text) with a library (JavaScript).

    >>> "</script><img" in write_page('{"title":"</script><img src=x>"}', "", "widths")
    False
    """
    return _PAGE.format(policy=_POLICY, title=show_html(title), spec=escape_script(spec), library=library)


def escape_script(json_text: str) -> str:
    r"""JSON that no reader of HTML takes for the end of the element it stands in; it reads back the same.

    >>> escape_script('["</script>"]')
    '["\\u003c/script\\u003e"]'
    """
    return json_text.translate(_IN_SCRIPT)
