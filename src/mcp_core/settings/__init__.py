"""Settings: the model, the sources of values, and the configuration file."""
