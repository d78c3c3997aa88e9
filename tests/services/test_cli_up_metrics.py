"""What `hearts up` says of its metrics."""

from pathlib import Path

import pytest

from services.cli_up import House
from services.settings import Settings
from services.supervise import Stop


@pytest.mark.parametrize(
    ("host", "port", "told"),
    [
        ("127.0.0.1", 9100, "  metrics              http://127.0.0.1:9100/metrics\n"),
        ("::", 9100, "  metrics              http://[::1]:9100/metrics\n"),
        ("127.0.0.1", 0, ""),
    ],
)
def test_the_greeting_says_where_metrics_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str, port: int, told: str
) -> None:
    """Where they are served, in a way that works on this machine."""
    settings = Settings(data=tmp_path, metrics_host=host, metrics_port=port)
    House(settings, Stop(), print).greet()
    lines = [line for line in capsys.readouterr().out.splitlines(keepends=True) if "metrics" in line]
    assert told == "".join(lines)
