"""How Sphinx builds the site from the pages that `.ci/website.py` gathers."""

import os
from pathlib import Path

project = "Sojourn"
author = "The Sojourn authors"
release = os.environ["SITE_VERSION"]
html_title = "Sojourn"

extensions = ["myst_parser"]
# The anchors of headings are those that GitHub makes.
myst_heading_anchors = 4
# Options in texts keep their two hyphens.
smartquotes = False
# Outputs below commands are in no language that Pygments knows.
suppress_warnings = ["misc.highlighting_failure"]
nitpicky = True

html_theme = "furo"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = ["live.js"]
html_copy_source = False
html_show_sourcelink = False
html_search_scorer = str(Path(__file__).parent / "search.js")
html_theme_options = {
    "navigation_with_keys": True,
    "source_repository": os.environ["SITE_REPOSITORY"],
    "source_branch": "main",
    "top_of_page_buttons": [],
}
