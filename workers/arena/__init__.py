"""The arena: bot against bot over duplicate deals (``docs/bots.md``)."""
