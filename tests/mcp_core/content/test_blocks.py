"""Content blocks: what they look like on the wire, and which ones are refused."""

from typing import Any, cast

import pytest

from mcp_core.content.blocks import (
    MAX_BLOCKS,
    MAX_CONTENT_BYTES,
    Annotations,
    Audio,
    Block,
    File,
    Image,
    InvalidContent,
    ResourceLink,
    Text,
    in_words,
    write_blocks,
)

PNG, JPEG, WAV = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"RIFF\x00\x00\x00\x00WAVE"


def test_each_kind_of_block_is_written_as_the_protocol_has_it():
    assert write_blocks([
        "plain",
        Text("for the person", Annotations(audience=["user"], priority=0.5)),
        Image(PNG),
        Audio(WAV, annotations=Annotations(last_modified="2026-11-16T09:00:00Z")),
        File("notes://1.md", "# Title"),
        File("notes://1.bin", b"\x00"),
        ResourceLink("https://example.com/a", "a", "A", "An A", "text/html", 5),
    ]) == [
        {"type": "text", "text": "plain"},
        {"type": "text", "text": "for the person", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
        {
            "type": "audio",
            "data": "UklGRgAAAABXQVZF",
            "mimeType": "audio/wav",
            "annotations": {"lastModified": "2026-11-16T09:00:00Z"},
        },
        {"type": "resource", "resource": {"uri": "notes://1.md", "mimeType": "text/markdown", "text": "# Title"}},
        {
            "type": "resource",
            "resource": {"uri": "notes://1.bin", "mimeType": "application/octet-stream", "blob": "AA=="},
        },
        {
            "type": "resource_link",
            "uri": "https://example.com/a",
            "name": "a",
            "title": "A",
            "description": "An A",
            "mimeType": "text/html",
            "size": 5,
        },
    ]  # fmt: skip


def test_the_data_of_a_picture_decides_its_type_where_none_is_given():
    assert [Image(JPEG).mime_type, Image(b"?").mime_type, Audio(b"OggS").mime_type] == [
        "image/jpeg",
        "image/png",
        "audio/ogg",
    ]


def test_an_image_can_be_read_from_a_file(tmp_path: Any):
    (tmp_path / "dot.gif").write_bytes(b"GIF89a")
    assert Image.from_file(tmp_path / "dot.gif") == Image(b"GIF89a", "image/gif")


REFUSED: dict[str, tuple[Any, str]] = {
    "another type": ([Image(JPEG, "image/png")], "an Image of the type 'image/png' whose data is image/jpeg"),
    "a sound for an image": ([Image(PNG, "audio/wav")], "an Image of the type 'audio/wav'"),
    "a type with a line break": ([Audio(WAV, "audio/wav\r\nx: y")], "an Audio of the type"),
    "a text for bytes": ([Image(cast(Any, "x"), "image/png")], "an Image with str in place of bytes"),
    "no URI": ([ResourceLink("not a uri", "x")], "the address 'not a uri', which is not a URI"),
    "a URI with a control character": ([File("a:\x00", "x")], "which is not a URI"),
    "a type that is none": ([File("a:b", "x", "text")], "the type 'text', which is not a media type"),
    "an unknown audience": ([Text("x", Annotations(audience=cast(Any, ["robots"])))], "an audience of ['robots']"),
    "a priority above 1": ([Text("x", Annotations(priority=2))], "a priority of 2; it is between 0 and 1"),
    "an object": ([object()], "in place of an Image, Audio, File, ResourceLink or text"),
    "too many": (["x"] * (MAX_BLOCKS + 1), f"{MAX_BLOCKS + 1} content blocks; {MAX_BLOCKS} are allowed"),
    "too large": ([File("a:b", b"\x00" * (MAX_CONTENT_BYTES + 1))], "20,000,000 are allowed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_content_that_a_client_could_not_read_is_refused(name: str):
    content, words = REFUSED[name]
    with pytest.raises(InvalidContent) as refused:
        write_blocks(content)
    assert words in str(refused.value)


def test_each_block_has_a_text_form():
    blocks: list[str | Block] = ["a", Image(PNG), File("notes://1.md", "# T"), ResourceLink("https://a.example", "A")]
    assert in_words(blocks).splitlines() == [
        "a",
        "image/png, 8 bytes",
        "notes://1.md: text/markdown, 3 characters",
        "A: https://a.example",
    ]
