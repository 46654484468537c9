"""Everything that publishes servers, as files of one folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolcharter.packaging.bundle import BundleType, bundle_files, zip_bytes
from toolcharter.packaging.image import compose_file, dockerfile
from toolcharter.packaging.json_file import json_text
from toolcharter.packaging.links import badges
from toolcharter.packaging.plugin import FOLDER, SKILLS, marketplace_files
from toolcharter.packaging.published import PublishedServer
from toolcharter.packaging.reference import llms_txt, tools_page
from toolcharter.packaging.registry import server_json


def package_files(
    servers: Sequence[PublishedServer],
    output: Path,
    kind: BundleType = "uv",
    libraries: Mapping[str, Path] | None = None,
) -> dict[str, bytes]:
    """The files by their place below `output`: a folder for each server, and a marketplace for all of them.

    `libraries` has, for bundles of the type `python`, the folder with everything installed by the name of the server.
    """
    files = {place: text.encode() for place, text in marketplace_files(servers).items()}
    for server in servers:
        place = output / server.name
        texts = {
            "server.json": json_text(server_json(server)),
            "Dockerfile": dockerfile(server, place),
            "compose.yaml": compose_file(server, place),
            "tools.md": tools_page(server.app),
            "llms.txt": llms_txt(server),
            "badges.md": badges(server.launch),
        }
        files |= {f"{server.name}/{name}": text.encode() for name, text in texts.items()}
        bundle = bundle_files(server, kind, libraries[server.name] if libraries else None)
        files[f"{server.name}/{bundle_name(server)}"] = zip_bytes(bundle)
    return files


def bundle_name(server: PublishedServer) -> str:
    """The file name of the bundle."""
    return f"{server.launch.script or server.name}-{server.version}.mcpb"


def write_files(files: Mapping[str, bytes], output: Path) -> None:
    """Write the files in place of those that are there, and remove skills of the same plugins that exist no more."""
    for place, content in files.items():
        file = output / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    plugins = {place.split("/")[1] for place in files if place.startswith(f"{FOLDER}/")}
    for skill in list(output.glob(SKILLS)):
        place = skill.relative_to(output).as_posix()
        if place not in files and place.split("/")[1] in plugins:
            skill.unlink()
