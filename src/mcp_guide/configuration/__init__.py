"""The configuration file of the guide: its data, its changes, and the names that expressions refer to."""
