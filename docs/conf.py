"""How Sphinx makes the site from these pages: ``make site``, and docs/decisions/0058-the-site.md for why."""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from pathlib import Path

import unworn

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "extensions"))
# Notebooks are run while the site is built: they may neither find a ledger in somebody's home nor leave one.
HOME = tempfile.TemporaryDirectory(prefix="unworn-site-", ignore_cleanup_errors=True)
os.environ["UNWORN_HOME"] = HOME.name
# Nor a profile of IPython. The kernel warns that it speaks to its parent unencrypted, which on one machine it may.
os.environ["IPYTHONDIR"] = str(Path(HOME.name, "ipython"))
PROFILE = Path(HOME.name, "ipython", "profile_default")
PROFILE.mkdir(parents=True)
# A bar that a library would like to draw is not missed, and the warning tells where this machine keeps it.
os.environ["PYTHONWARNINGS"] = "ignore:IProgress not found"
(PROFILE / "ipython_kernel_config.py").write_text("c = get_config()\nc.IPKernelApp.log_level = 40\n")

PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
project = PROJECT["name"]
release = version = unworn.__version__
author = "The unworn maintainers"
copyright = f"{author}, {PROJECT['license']}"
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "gallery_page",
    "outside_pages",
    "plain_docstrings",
]
exclude_patterns = ["extensions/**", "gallery/**"]
nitpicky = False  # annotations name types of the standard library, of NumPy and of private modules

# Pages are Markdown as GitHub shows it; a heading's anchor is the one that GitHub gives it.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]

# Notebooks are text. Each is run once, in a folder that is thrown away, and an error in one ends the build.
nb_execution_mode = os.environ.get("UNWORN_SITE_NOTEBOOKS", "force")  # or "off", while one writes
suppress_warnings = [] if nb_execution_mode == "force" else ["myst-nb.lexer"]
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Bools", "Integers", "Labels")}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
napoleon_google_docstring = False
napoleon_use_param = False  # "name, max_width" share a sentence, which would stand at each of them
napoleon_use_rtype = False
napoleon_use_ivar = True
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "unworn"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_theme_options = {
    "logo": {"text": "unworn"},
    "show_prev_next": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navigation_depth": 3,
    "show_nav_level": 1,
    "show_toc_level": 2,
    # Pages of figures have the whole width: two panels side by side are too small to read beside a list of headings.
    "secondary_sidebar_items": {"**": ["page-toc"], "gallery": [], "claims": []},
    "back_to_top_button": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_center": [],
    "footer_end": [],
}
html_sidebars = {page: [] for page in ("index", "five-minutes", "gallery", "claims", "glossary")}
