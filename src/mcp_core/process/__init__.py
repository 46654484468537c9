"""The process: its options, signals, standard streams, optional libraries, and errors at the start."""
