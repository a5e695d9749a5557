"""Pictures of results, drawn on axes and never through pyplot: no figure stays open behind."""
