"""Pages of HTML that need nothing else: what the reports of komb have in common."""
