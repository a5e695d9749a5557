"""How Sphinx builds these pages: `make docs`.

Nothing is fetched while building: no fonts, no scripts, no inventories of other projects.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for the modules beside this one

import from_code  # noqa: E402
import gallery  # noqa: E402
import komb  # noqa: E402
import pictures  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "komb"
author = "The komb developers"
copyright = author  # noqa: A001 - Sphinx wants this name
version = release = komb.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_generated"]
root_doc = "index"

# ----------------------------------------------------------------------------------------- Markdown

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3  # so that links such as page.md#a-section work
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# ---------------------------------------------------------------------------------------------- API

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
python_maximum_signature_line_length = 90
python_use_unqualified_type_names = True

nitpicky = True
nitpick_ignore_regex = [
    # Other projects: their inventories would have to be fetched.
    (r"py:.*", r"(np|npt|numpy|pd|pandas|pl|polars|nx|networkx|matplotlib|sklearn|scipy|rich)\..*"),
    (r"py:.*", r"(os|typing|collections|pathlib)\..*"),
    (r"py:.*", r"(Any|Axes|Callable|Collection|Hashable|Iterable|Iterator|Literal|Mapping|Path)"),
    (r"py:.*", r"(ArrayLike|NDArray|RenderableType|Self|Sequence|PathLike|int64)"),
    (r"py:.*", r"(bool|dict|float|int|list|object|str|tuple|type|None)"),
    (r"py:(exc|meth)", r"(ImportError|KeyboardInterrupt|ValueError|Exception|set_output)"),
    # What numpydoc types say in words.
    (r"py:class", r"(array|array-like|callable|default=.*|ndarray|optional|sequence|shape)"),
    (r"py:class", r"((int|float|bool) array|mapping)"),
    (r"py:class", r"(.* of .*|\{?\".*\"\}?|n_(features|samples|outputs|selected_features))"),
    # Names of types that are no part of the interface.
    (r"py:.*", r"(.*\.)?(Backend|Cell|CodeArray|Floats|Levels|Mark|Name|Observer|SearchFunction)"),
    (r"py:.*", r"(.*\.)?(CITest|Found|Part|Record|SeparatorRecord|Text|TestOption)"),
    (r"py:.*", r"(.*\.)?(Resampled|Sheet|Table|Tests|Variables|BoolArray)"),
    (r"py:.*", r"(.*\.)?(C|F|FloatArray|Int64Array|PValueFunction)"),
    # What is no page of the reference, or a sentence where a type could stand.
    (r"py:class", r"komb\.(data|engine|results|search)\..*"),
    (r"py:class", r"distributed\..*|Symmetry|True|False|alone_low|added_low"),
    (r"py:class", r"(What|Of) .*"),
]

# --------------------------------------------------------------------------------------- appearance

html_theme = "furo"
html_title = f"komb {release}"
html_static_path = ["_static"]
html_css_files = ["komb.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#005a8f",
        "color-brand-content": "#005a8f",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6fc0ee",
        "color-brand-content": "#6fc0ee",
    },
}


def write_parts(_: Sphinx) -> None:
    """Write what the pages include: facts from the code, and pictures."""
    folder = HERE / "_generated"
    from_code.write_all(folder)
    pictures.draw_all(folder)
    gallery.draw_all(folder)


def setup(app: Sphinx) -> None:
    """Have the parts written before anything is read."""
    app.connect("builder-inited", write_parts)
