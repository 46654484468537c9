import contextlib
import os
import stat
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_core.errors import InvalidArguments
from mcp_guide.content.files import Files, is_name, is_stamp_reliable, split_path

LONG = ["n" * 5_000, "n" * 256, "é" * 128, "a/" * 1_000 + "b"]
UNWRITABLE = ["a\0b", "a\\b", "a\nb", "\ud800", "a\u2028b"]


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "..", "../x", "a/../x", "a/./x", "a//x", "a/", ".git/config", "a/.env", *LONG, *UNWRITABLE],
)
def test_an_invalid_path_is_refused(path):
    with pytest.raises(InvalidArguments):
        split_path(path)


@given(st.text() | st.lists(st.sampled_from(["..", ".", "", "a", ".h", "\\", "\0", "~", "C:"])).map("/".join))
def test_the_parts_of_any_path_stay_below_the_root(path):
    try:
        parts = split_path(path)
    except InvalidArguments:
        return
    assert "/".join(parts) == path
    assert all(is_name(part) and part not in (".", "..") for part in parts)
    normal = os.path.normpath(f"/root/{path}")
    assert normal == f"/root/{path}"
    path.encode()


def test_an_error_quotes_a_part_of_a_long_path():
    with pytest.raises(InvalidArguments) as refused:
        split_path("n" * 5_000)
    assert str(refused.value) == f"The path '{'n' * 97}...' has 5,000 characters. Use at most 2,000."


def test_a_plain_file_is_read_and_a_link_is_not(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "secret"
    (root / "a").mkdir(parents=True)
    (root / "a" / "plain").write_text("plain")
    outside.mkdir()
    (outside / "key").write_text("secret")
    (root / "link").symlink_to(outside / "key")
    (root / "inside").symlink_to(root / "a" / "plain")
    (root / "folder").symlink_to(outside)
    files = Files(root)
    assert files.read(("a", "plain"))[1] == b"plain"
    for parts in (("link",), ("inside",), ("folder", "key"), ("a",)):
        with pytest.raises(OSError, match=r"."):
            files.read(parts)


def test_a_pipe_a_socket_and_a_device_are_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    files = Files(tmp_path)
    with pytest.raises(FileNotFoundError):
        files.read(("pipe",))
    with pytest.raises(FileNotFoundError):
        Files("/dev").read(("null",))


def test_a_root_may_itself_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_text("x")
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert Files(tmp_path / "root").read(("x",))[1] == b"x"


def test_creating_never_overwrites(tmp_path):
    files = Files(tmp_path)
    files.create(("new", "folder", "x"), b"one")
    with pytest.raises(FileExistsError):
        files.create(("new", "folder", "x"), b"two")
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        files.create(("dangling",), b"two")
    assert (tmp_path / "new" / "folder" / "x").read_bytes() == b"one"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dangling", "folder", "new", "x"]


def test_a_file_system_without_links_is_written_to_and_nothing_overwritten(tmp_path, monkeypatch):
    def refuse(*_names, **_more):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    Files(tmp_path).create(("x",), b"one")
    with pytest.raises(FileExistsError):
        Files(tmp_path).create(("x",), b"two")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"x": b"one"}


def test_of_many_threads_that_create_one_name_one_succeeds(tmp_path):
    files, created, barrier = Files(tmp_path), list[int](), threading.Barrier(8)

    def create(number: int) -> None:
        barrier.wait()
        with contextlib.suppress(FileExistsError):
            files.create(("x",), b"%d" % number * 10_000)
            created.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(created) == 1
    assert (tmp_path / "x").read_bytes() == b"%d" % created[0] * 10_000


def test_replacing_keeps_the_mode_and_leaves_nothing_behind(tmp_path):
    files = Files(tmp_path)
    (tmp_path / "x").write_text("one")
    (tmp_path / "x").chmod(0o640)
    files.replace(("x",), b"two")
    assert (tmp_path / "x").read_bytes() == b"two"
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640
    with pytest.raises(FileNotFoundError):
        files.replace(("missing",), b"two")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_link_is_neither_replaced_nor_deleted_nor_written_through(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("kept")
    (root / "link").symlink_to(tmp_path / "outside" / "x")
    (root / "folder").symlink_to(tmp_path / "outside")
    files = Files(root)
    for parts in (("link",), ("folder", "x"), ("folder", "new")):
        for change in (lambda p: files.replace(p, b"no"), files.delete, lambda p: files.create(p, b"no")):
            with pytest.raises(OSError, match=r"."):
                change(parts)
    assert (tmp_path / "outside" / "x").read_text() == "kept"
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["x"]


@pytest.mark.requirement("GUI-11")
@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_swapped_in_while_reading_and_writing_never_leads_out(tmp_path, swapped):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (outside / "x").write_text("secret")
    (root / "a" / "x").write_text("public")
    a_file = (root / "a" / "x", root / "a" / ".aside", outside / "x")
    real, aside, target = a_file if swapped == "file" else (root / "a", root / ".aside", outside)
    done, swaps = threading.Event(), list[int]()

    def swap() -> None:
        while not done.is_set():
            # A file that was just replaced can be in the way; then this round does nothing.
            for step in (lambda: real.rename(aside), lambda: real.symlink_to(target), real.unlink):
                with contextlib.suppress(OSError):
                    step()
            aside.rename(real)
            swaps.append(1)

    thread = threading.Thread(target=swap)
    thread.start()
    files, seen, refused = Files(root), set[bytes | None](), 0
    try:
        # Both must happen, however the two threads are scheduled.
        while (len(swaps) < 2_000 or not seen or not refused) and thread.is_alive():
            try:
                seen.add(files.read(("a", "x"))[1])
                if len(swaps) % 50 == 0:
                    files.replace(("a", "x"), b"public")
            except OSError:
                refused += 1
    finally:
        done.set()
        thread.join()
    assert seen == {b"public"}
    assert refused > 0
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"x": "secret"}


def test_a_stamp_is_reliable_once_the_clock_has_surely_ticked():
    def status(modified: int, changed: int):
        times = {"st_mtime_ns": modified, "st_ctime_ns": changed}
        return type("Status", (), times)()

    second = 1_000_000_000
    assert not is_stamp_reliable(status(5, 10 * second + 7), 10 * second + 7)
    assert not is_stamp_reliable(status(5, 10 * second + 7), 10 * second + 50_000_000)
    assert is_stamp_reliable(status(5, 10 * second + 7), 10 * second + 200_000_000)
    assert not is_stamp_reliable(status(10 * second, 10 * second), 11 * second)  # whole seconds: a coarse clock
    assert is_stamp_reliable(status(10 * second, 10 * second), 13 * second)
    assert not is_stamp_reliable(status(99 * second + 1, 1), 10 * second)  # a time in the future
