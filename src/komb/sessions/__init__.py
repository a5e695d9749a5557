"""Who answers the questions of a search: data, a graph, or an exact distribution."""
