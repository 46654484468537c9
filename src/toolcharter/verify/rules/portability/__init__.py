"""What some clients or models refuse. Sources are named in each rule."""
