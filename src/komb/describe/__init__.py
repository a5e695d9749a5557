"""What is asked after a search: explanations, roles, the network, effect sizes, stability."""
