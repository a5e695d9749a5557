"""What a search found, as frozen records that print, export and draw themselves."""
