"""Parts of answers and messages that are not data: images, sounds, files and links."""
