"""Pages of HTML from templates, and what the pages of komb have in common."""
