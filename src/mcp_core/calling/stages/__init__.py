"""The steps of a call, one a file. The pipeline says in which order they run."""
