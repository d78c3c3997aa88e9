"""The middle floor: settings, storage, and everything that joins the pure `domain` to a server."""
