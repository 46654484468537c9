import json
from email import message_from_bytes, policy

from hypothesis import given
from hypothesis import strategies as st

from mcp_guide.content.documents import make_document
from mcp_guide.content.formats import render

PYTHON = make_document("lang/python.md", b"---\ntitle: Python & <co>\ntags: [a]\n---\nUse it.\n", 1.0)
API = make_document("docs/\xfcber api.txt", "Grüße\nund Tschüß".encode(), 2.0)
LOGO = make_document("docs/logo.png", b"\x89PNG\x00", 3.0)


def test_one_document_alone_is_its_text():
    assert render([PYTHON], "plain") == "Use it.\n"
    assert render([LOGO], "plain") == "(The document is not text: 5 bytes.)"


def test_several_documents_have_a_line_before_each():
    assert render([PYTHON, API, LOGO], "plain") == (
        "===== lang/python.md =====\nUse it.\n\n"
        "===== docs/über api.txt =====\nGrüße\nund Tschüß\n\n"
        "===== docs/logo.png =====\n(The document is not text: 5 bytes.)"
    )
    assert render([], "plain") == ""


def test_the_line_before_a_document_is_in_none_of_them():
    forged = make_document("a.md", b"===== lang/python.md =====\nnot it", 1.0)
    assert render([forged, PYTHON], "plain").splitlines()[0] == "====== a.md ======"


def test_mime_is_read_back_by_a_mail_program():
    message = message_from_bytes(render([PYTHON, API, LOGO], "mime").encode(), policy=policy.HTTP)
    assert message.get_content_type() == "multipart/mixed"
    assert message.defects == []
    read = [
        (part["Content-Location"], part.get_content_type(), part.get_payload(decode=True))
        for part in message.iter_parts()
    ]
    assert read == [
        ("lang/python.md", "text/markdown", b"Use it.\n"),
        ("docs/%C3%BCber%20api.txt", "text/plain", "Grüße\nund Tschüß".encode()),
        ("docs/logo.png", "application/octet-stream", b""),
    ]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1, max_size=4))
def test_no_text_breaks_mime(texts):
    documents = [make_document(f"{number}.x", b"", 0.0) for number in range(len(texts))]
    documents = [
        type(d)(d.path, text, d.front, d.size, d.modified, True) for d, text in zip(documents, texts, strict=True)
    ]
    rendered = render(documents, "mime")
    boundary = rendered.partition('boundary="')[2].partition('"')[0]
    pieces = rendered.split(f"--{boundary}\r\n")[1:]
    pieces[-1] = pieces[-1].removesuffix(f"--{boundary}--\r\n")
    assert [piece.partition("\r\n\r\n")[2].removesuffix("\r\n") for piece in pieces] == texts


def test_json_is_a_list_with_what_each_document_says_of_itself():
    records = render([PYTHON, LOGO], "json")
    assert records == [
        {
            "path": "lang/python.md",
            "title": "Python & <co>",
            "tags": ["a"],
            "text": "Use it.\n",
            "is_text": True,
            "size": 47,
        },
        {
            "path": "docs/logo.png",
            "text": None,
            "is_text": False,
            "size": 5,
            "warnings": ["The document is not text: 5 bytes."],
        },
    ]
    assert json.loads(json.dumps(records)) == records
