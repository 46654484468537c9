"""A distribution of somebody else with a server, as an installer leaves it."""

from pathlib import Path

SOURCE = '''
from pathlib import Path
from typing import Literal
from pydantic import Field, SecretStr
from mcp_core.settings.model import TextList
from toolcharter import App, Example, Settings, tool
from toolcharter.declarations import Skill

class WeatherSettings(Settings):
    unused = frozenset({"db"})
    api_key: SecretStr = Field(description="Key of the \\"weather\\" service: $5.")
    cache: Path | None = Field(default=None, title="DIR", description="Folder for answers.")
    places: TextList = Field(default=(), description="Only these places.")
    days: int = Field(default=3, description="Days ahead.")
    hours: int | None = Field(default=None, description="Hours ahead.")
    metric: bool = Field(default=True, description="Metres, not feet.")
    source: Literal["near", "far"] = Field(default="near", description="Where it comes from.")

@tool.query(permissions=["weather:read"], tags=["weather"], examples=[Example("Rome", {"place": "Rome"}, "Rome")])
async def get_weather(place: str) -> str:
    """Get the weather of a place.

    Use this when the user asks for the weather.

    Args:
        place: The name of a town.

    Returns:
        The weather.
    """
    return place

def build(settings: WeatherSettings) -> App:
    skills = [Skill("weather-words", 'What "gale" means: a wind.', "# Winds\\n\\nA gale is strong.")]
    return App("weather", version="2.1.0", title="Weather", description=DESCRIPTION, tools=[get_weather],
               skills=lambda: skills, settings=settings)
'''
METADATA = """Metadata-Version: 2.4
Name: acme-weather
Version: 0.4.0rc1
Author-email: Ana Lima <ana@example.com>
License-Expression: MIT
Keywords: weather,forecast
Project-URL: Homepage, https://weather.example.com
Project-URL: Source Code, https://github.com/ana/weather
Requires-Python: >=3.12
"""


def install(
    folder: Path, *, readme: str = "", scripts: str = "", metadata: str = METADATA, description: str = "Weather."
) -> None:
    """Write the distribution to a folder of `sys.path`."""
    about = folder / "acme_weather-0.4.0rc1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"{metadata}\n{readme}")
    commands = f"[console_scripts]\n{scripts} = acme_weather:main\n" if scripts else ""
    (about / "entry_points.txt").write_text(f"[toolcharter.servers]\nweather = acme_weather:build\n{commands}")
    (folder / "acme_weather.py").write_text(f"DESCRIPTION = {description!r}\n{SOURCE}")
