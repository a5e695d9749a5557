"""Tables made for one search: rows weighted, columns grouped, covariates put into strata."""
