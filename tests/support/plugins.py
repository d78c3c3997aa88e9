"""Plug-in bots for the tests, installed into a folder that is on the path."""

from pathlib import Path

SOUND = '''
"""A plug-in."""
print("to standard output, as it is loaded")
def policy(view, seed, playouts):
    """Plays what it may.

    And more.
    """
    print("thinking")
    if view.phase == "moon":
        return "add"
    own = view.own
    cards = [card for card in range(52) if (own.hand if view.phase == "pass" else own.legal) >> card & 1]
    return tuple(cards[:view.rules.pass_count]) if view.phase == "pass" else cards[0]
policy.playouts = 12
'''


def install_plugin(site: Path, name: str, code: str, maker: str = "") -> None:
    """Install a distribution with one plug-in: a module, its name, and that of the distribution."""
    maker = maker or f"hearts-{name}"
    module = maker.replace("-", "_") + "_module"
    (site / f"{module}.py").write_text(code)
    info = site / f"{maker.replace('-', '_')}-4.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {maker}\nVersion: 4.5\n")
    (info / "entry_points.txt").write_text(f"[hearts.bots]\n{name} = {module}:policy\n")
