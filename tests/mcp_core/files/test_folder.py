"""Files in one folder: agents cannot leave it, and a file is there completely or not at all."""

from pathlib import Path

import pytest

from mcp_core import Conflict, InvalidArguments, NotFound
from mcp_core.files.folder import Folder, new_file, open_file


def test_a_file_that_is_not_finished_leaves_nothing(tmp_path: Path):
    def write_half() -> None:
        with new_file(tmp_path / "a.txt") as file:
            file.write(b"half")
            raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_replaced_only_on_request(tmp_path: Path):
    for text, overwrite in ((b"one", False), (b"two", True)):
        with new_file(tmp_path / "a.txt", overwrite=overwrite) as file:
            file.write(text)
    with pytest.raises(Conflict, match=r"'a\.txt' already exists"), new_file(tmp_path / "a.txt") as file:
        file.write(b"three")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"two")]


def test_a_folder_that_was_replaced_by_a_link_is_not_followed(tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_bytes(b"secret")
    (tmp_path / "files").mkdir()
    path = Folder(tmp_path / "files").file_to_write("a.txt")
    path.parent.rmdir()
    path.parent.symlink_to(tmp_path / "outside")
    with pytest.raises(Conflict, match="was moved or replaced"), new_file(path, overwrite=True) as file:
        file.write(b"mine")
    with pytest.raises(Conflict, match="was moved or replaced"):
        open_file(path)
    assert (tmp_path / "outside" / "a.txt").read_bytes() == b"secret"


@pytest.mark.parametrize("name", ["../a.txt", "/etc/passwd", ".", "", "x/../../a.txt", "link/a.txt", "a\0b"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str):
    files = tmp_path / "files"
    files.mkdir()
    (tmp_path / "a.txt").touch()
    (files / "link").symlink_to(tmp_path)
    folder = Folder(files, field="parameters")
    for find in (folder.file_to_read, folder.file_to_write):
        with pytest.raises(InvalidArguments) as caught:
            find(name)
        assert caught.value.fields == ("parameters",)


def test_the_error_for_a_missing_file_lists_the_newest(tmp_path: Path):
    with pytest.raises(NotFound, match=r"'b.txt' is not in the folder for files \(--files\)\. There is no file yet\."):
        Folder(tmp_path).file_to_read("b.txt")
    (tmp_path / "a.txt").touch()
    (tmp_path / ".hidden").touch()
    with pytest.raises(NotFound, match=r"The newest files there: 'a\.txt'\."):
        Folder(tmp_path).file_to_read("b.txt")
