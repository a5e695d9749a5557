"""Pictures of results.

Functions here take plain lists and draw on axes. They never touch pyplot, so no figure is left open
behind the caller's back. Matplotlib is optional, and loaded when the first picture is drawn.
"""

from komb.views.pictures.canvas import check_picture, need_matplotlib, save_picture
from komb.views.pictures.matrix import Mark, draw_matrix

__all__ = ["Mark", "check_picture", "draw_matrix", "need_matplotlib", "save_picture"]
