"""The HTTP floor: ``/v1`` as ``docs/spec/http.md`` has it, over `services`; and the commands that serve and use it."""
