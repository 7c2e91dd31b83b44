"""The site: `make site` builds it from the pages here, which GitHub shows as well, and from the docstrings.

What only the site needs stands here and not in the pages: the navigation, and where two pages come from.
"""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from debandit import __version__, policies

HERE = Path(__file__).parent
PAGE = re.compile(r"(?<![\w/`])docs/([\w-]+)\.md")
FILE = re.compile(r"\[([\w-]+)\.md\]\(")
TOCTREE = "\n\n```{{toctree}}\n:hidden:\n\n{}\n```\n"
NAVIGATION = {  # the pages below each page, some with a shorter title
    "index": [
        *("Start <start>", "Questions <questions>", "Rules <rules>", "Method <method>", "Measured <measured>"),
        *("Python <api/index>", "More <more>"),
    ],
    "start": ["Which number do I quote? <quoted>", "logs", "app", "plan", "datasets", "metrics"],
    "questions": [
        *("no-order", "worlds", "intervals", "own-rules", "warnings", "unsure", "identify", "check", "drift", "winner"),
        "runs",
    ],
    "rules": ["presets", "wrappers"],
    "method": ["How it compares <compare>", "estimators", "rao-blackwell"],
    "measured": ["accuracy", "coverage", "the-paper-reproduced", "hadad", "studies", "reliability"],
    "api/index": ["functions", "records", "rules", "worlds", "estimators", "theory"],
    "more": ["cluster", "contributing", "changes"],
}
RULES = {"RULES": policies.RULES, "WRAPPERS": policies.WRAPPERS, "ADAPTERS": policies.ADAPTERS}
ELSEWHERE = {"contributing": "CONTRIBUTING.md", "changes": "CHANGELOG.md"}  # files that the site shows in full

project, author = "debandit", "the authors of debandit"
version = release = __version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["scripts"]
html_theme = "pydata_sphinx_theme"
html_title, html_favicon = "debandit", "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = html_show_copyright = False
html_copy_source = html_show_search_summary = False  # browsers do not let files read each other
html_theme_options = {
    "logo": {"text": "debandit"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
html_sidebars = {"index": []}

myst_heading_anchors = 4
highlight_language = "text"
smartquotes = False
autodoc_member_order = "bysource"
default_role = "py:obj"
autodoc_typehints = "none"
numpydoc_show_class_members = False
autosummary_generate = False


def documented(rules: dict[str, type]) -> str:
    """The classes in short, and then one by one."""
    names = [rule.__name__ for rule in rules.values()]
    short = "".join(f"   {name}\n" for name in names)
    return f".. autosummary::\n   :nosignatures:\n\n{short}\n" + "\n".join(f".. autoclass:: {name}" for name in names)


def complete(_app: Sphinx, name: str, source: list[str]) -> None:
    """Give a page its navigation, or the text at which it only points, or all rules; and links no `.md`."""
    if name in ELSEWHERE:
        source[0] = PAGE.sub(r"[\1](\1.md)", (HERE.parent / ELSEWHERE[name]).read_text(encoding="utf-8"))
    if name == "api/rules":
        source[0] = source[0].format(**{kind: documented(rules) for kind, rules in RULES.items()})
    source[0] = FILE.sub(r"[\1](", source[0])
    if name in NAVIGATION:
        source[0] += TOCTREE.format("\n".join(NAVIGATION[name]))


def link(*found: Any) -> None:
    """Turn the pages that docstrings name into links."""
    lines = found[-1]
    lines[:] = [PAGE.sub(r":doc:`/\1`", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Hook them in."""
    app.connect("source-read", complete)
    app.connect("autodoc-process-docstring", link)
