"""An OCI image of a server over HTTP: a Dockerfile, and a compose file with the databases that the server uses."""

import json
import os
import re
from pathlib import Path

from toolcharter.packaging.published import PublishedServer

PYTHON = "3.13"
PORT = 8000
USER = 10001
DATA = "/data"
TOKENS = f"{DATA}/tokens.json"
DATABASE_EXTRAS = {"db": "postgres", "redis": "redis"}
"""The extras of toolcharter that the settings db and redis need."""


def dockerfile(server: PublishedServer, place: Path) -> str:
    """Two stages: one installs; the other has what was installed, no compiler and no cache, and is not root.

    `place` is the folder that the file is written to.
    """
    launch, about = server.launch, server.about
    start = [launch.script] if launch.script else ["toolcharter"]
    words = ["http", *([] if launch.script else [server.name]), "--host", "0.0.0.0", "--port", str(PORT)]  # noqa: S104 - of a container
    words += ["--tokens", TOKENS]  # a server that everybody can reach does not start without
    image = f"{server.name}:{server.version}"
    labels = {
        "io.modelcontextprotocol.server.name": server.registry_name,
        "org.opencontainers.image.title": launch.title,
        "org.opencontainers.image.description": launch.description,
        "org.opencontainers.image.version": server.version,
        "org.opencontainers.image.source": about.repository,
        "org.opencontainers.image.licenses": about.license,
    }
    return f"""# {launch.title}: {launch.description}
# Build: docker build --tag {image} --file {_dockerfile_path(server, place)} .
# Token: docker run --rm --volume {server.name}:{DATA} --entrypoint toolcharter {image} {_TOKEN}
# Run:   docker run --read-only --tmpfs /tmp --volume {server.name}:{DATA} --publish 127.0.0.1:{PORT}:{PORT} {image}
FROM python:{PYTHON}-slim AS build
{_installation(server)}

FROM python:{PYTHON}-slim
LABEL {_labels(labels)}
RUN groupadd --gid {USER} server \\
    && useradd --uid {USER} --gid {USER} --home-dir {DATA} --create-home --shell /usr/sbin/nologin server
COPY --from=build /opt/venv /opt/venv
ENV {_pairs({"PATH": "/opt/venv/bin:$PATH", "HOME": DATA, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"})}
USER {USER}:{USER}
WORKDIR {DATA}
VOLUME {DATA}
EXPOSE {PORT}
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \\
    CMD {json.dumps(["python", "-c", _HEALTH_CHECK])}
ENTRYPOINT {json.dumps(start)}
CMD {json.dumps(words)}
"""


_TOKEN = f"token create ana --grants '*' --tokens {TOKENS}"
_HEALTH_CHECK = f"import urllib.request as r; r.urlopen('http://127.0.0.1:{PORT}/health/live', timeout=4)"


def _pairs(values: dict[str, str]) -> str:
    """Names and values of LABEL or ENV, in quotes."""
    return " \\\n    ".join(f"{name}={_quoted(value)}" for name, value in values.items())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _labels(values: dict[str, str | None]) -> str:
    """Docker replaces variables in labels too, unless the sign before them is escaped."""
    given = {name: value for name, value in values.items() if value}
    return _pairs(given).replace("$", "\\$")


def _installation(server: PublishedServer) -> str:
    """From the sources of the project, or from the package index."""
    launch, extras = server.launch, _database_extras(server)
    if launch.distribution == "toolcharter":
        own = [launch.extra] if launch.extra else []
        wanted = [f"toolcharter[{','.join([*own, *extras])}]=={launch.distribution_version}"]
    else:
        wanted = ["/project" if server.folder else launch.requirement(pinned=True)]
        wanted += [f"toolcharter[{','.join(extras)}]"] if extras else []
    lines = [
        *(_copies(server.sources) if server.folder else []),
        "RUN python -m venv /opt/venv \\",
        "    && /opt/venv/bin/pip install --no-cache-dir " + " ".join(f'"{one}"' for one in wanted),
    ]
    return "\n".join(lines)


def _copies(sources: str) -> list[str]:
    return ["COPY pyproject.toml README* LICENSE* /project/", f"COPY {sources} /project/{sources}"]


def _database_extras(server: PublishedServer) -> list[str]:
    """The databases that the server can use."""
    names = {setting.name for setting in server.launch.settings}
    return [extra for name, extra in DATABASE_EXTRAS.items() if name in names]


def _dockerfile_path(server: PublishedServer, place: Path) -> str:
    """The Dockerfile as seen from the folder that the image is built in: that of the project, or its own."""
    return Path(os.path.relpath(place / "Dockerfile", server.folder or place)).as_posix()


def compose_file(server: PublishedServer, place: Path) -> str:
    """The server with what it stores its data in. A password comes from the environment."""
    extras = _database_extras(server)
    context = Path(os.path.relpath(server.folder or place, place)).as_posix()
    environment = [line for extra in extras for line in _ENVIRONMENT[extra]]
    needed = [f"      {extra}: {{condition: service_healthy}}" for extra in extras]
    return "\n".join(
        [
            f"# {server.launch.title} over HTTP, at http://127.0.0.1:{PORT}/mcp, for callers with a token.",
            *(_PASSWORD_NOTE if "postgres" in extras else []),
            f"# Token: docker compose run --rm --entrypoint toolcharter server {_TOKEN}",
            "# Run:   docker compose up",
            f"name: {re.sub(r'[^a-z0-9]+', '-', server.name.lower())}",
            "services:",
            "  server:",
            f"    build: {{context: {_quoted(context)}, dockerfile: {_quoted(_dockerfile_path(server, place))}}}",
            "    read_only: true",
            "    tmpfs: [/tmp]",
            "    cap_drop: [ALL]",
            '    security_opt: ["no-new-privileges:true"]',
            f'    ports: ["127.0.0.1:{PORT}:{PORT}"]',
            f'    volumes: ["data:{DATA}"]',
            *(["    environment:", *environment, "    depends_on:", *needed] if extras else []),
            "    restart: unless-stopped",
            *(line for extra in extras for line in _SERVICES[extra].splitlines()),
            "volumes:",
            "  data: {}",
            *(["  postgres: {}"] if "postgres" in extras else []),
            "",
        ]
    )


_PASSWORD = "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD}"  # noqa: S105 - where it is read from
_PASSWORD_NOTE = ["# Set POSTGRES_PASSWORD first, in the environment or in a file .env beside this one."]
_ENVIRONMENT = {
    "postgres": [f'      TOOLCHARTER_DB: "postgresql://server:{_PASSWORD}@postgres/server"'],
    "redis": ["      TOOLCHARTER_REDIS: redis://redis:6379/0"],
}
_SERVICES = {
    "postgres": f"""\
  postgres:
    image: postgres:18-alpine
    environment:
      POSTGRES_USER: server
      POSTGRES_PASSWORD: "{_PASSWORD}"
    volumes: ["postgres:/var/lib/postgresql"]
    healthcheck:
      test: [CMD, pg_isready, --username, server]
      interval: 5s
    restart: unless-stopped""",
    "redis": """\
  redis:
    image: redis:8-alpine
    command: [redis-server, --save, "", --appendonly, "no"]
    user: "999:1000"
    read_only: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    healthcheck:
      test: [CMD, redis-cli, ping]
      interval: 5s
    restart: unless-stopped""",
}
