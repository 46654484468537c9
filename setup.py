"""Find the packages: all below src/, and examples/ under the name toolcharter_examples.

Everything else is in pyproject.toml, which cannot say "what is found, and one more". An archive of the sources is the
same whenever it is made, if SOURCE_DATE_EPOCH says for which time; setuptools does that for wheels only.
"""

import gzip
import os
import tarfile
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.sdist import sdist

EPOCH = "SOURCE_DATE_EPOCH"


class ReproducibleSdist(sdist):
    """An archive without the times and owners of the files."""

    def make_archive(  # noqa: PLR0917 - setuptools declares it so
        self,
        base_name: str,
        format: str,
        root_dir: str | None = None,
        base_dir: str | None = None,
        owner: str | None = None,
        group: str | None = None,
    ) -> str:
        """Write the archive in one order, with one time."""
        if EPOCH not in os.environ or format != "gztar" or base_dir is None:
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)
        moment = int(os.environ[EPOCH])

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            member.mtime, member.uid, member.gid, member.uname, member.gname = moment, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() else 0o644
            return member

        archive = f"{base_name}.tar.gz"
        with (
            Path(archive).open("wb") as file,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=moment) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for path in sorted(Path(base_dir).rglob("*")):
                tar.add(path, recursive=False, filter=plain)
        return archive


setup(packages=[*find_packages("src"), "toolcharter_examples"], cmdclass={"sdist": ReproducibleSdist})
