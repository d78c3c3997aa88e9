"""Settings as the environment of a process."""

from dataclasses import fields

from services.settings import Settings, variable


def environ_of(settings: Settings) -> dict[str, str]:
    """The variables that `Settings.from_environ` reads as these settings."""
    return {variable(field.name): str(getattr(settings, field.name)) for field in fields(settings)}
