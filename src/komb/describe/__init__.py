"""What can be told about a result beyond the search: questions to a session, put into results."""
