"""The rows of custom resources: a module for each family of operators, with one function `rows`."""
