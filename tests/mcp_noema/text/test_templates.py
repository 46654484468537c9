import time
from pathlib import Path

import pytest
from anki.collection import Collection
from hypothesis import given
from hypothesis import strategies as st

from mcp_noema.anki.package_reader import read_package
from mcp_noema.model import BASIC, CLOZE, REVERSED, CardTemplate, NoteType
from mcp_noema.text.templates import CardSides, first_key, ordinals, plain_text, render, searchable
from tests.mcp_noema.anki import real_anki


def note_type(front: str, back: str = "", *, fields: tuple[str, ...] = ("A", "B"), is_cloze: bool = False) -> NoteType:
    return NoteType("Test", fields, (CardTemplate("Card 1", front, back),), is_cloze=is_cloze)


def test_a_card_of_anki_s_image_occlusion_says_what_is_hidden(tmp_path: Path):
    with real_anki.collection(tmp_path / "anki") as col:
        col.add_image_occlusion_notetype()
        masks = "{{c1::image-occlusion:rect:left=.1:top=.2:width=.3:height=.4:oi=1}}"
        masks += "{{c2::image-occlusion:rect:left=.5:top=.5:width=.1:height=.1:oi=1}}"
        real_anki.add(col, "Maps", "Image Occlusion", masks, '<img src="map.png">', "Which river?", "The Rhine", "")
        package = read_package(real_anki.export(col, tmp_path / "maps.apkg", legacy=False))
    [note] = package.notes
    assert ordinals(note.type, note.values) == (0, 1)
    assert render(note.type, note.values, 0) == CardSides(
        "Which river?\n[a hidden part of the image: 10% from the left, 20% from the top, 30% wide, 40% high]\n"
        "[image: map.png]",
        "Which river?\n[image: map.png]\n\nThe Rhine",
        ("map.png",),
    )


# --- which cards -------------------------------------------------------------------------------------------


def test_a_note_makes_a_card_for_each_side_that_is_not_empty():
    assert ordinals(BASIC, ("dog", "Hund")) == (0,)
    assert ordinals(REVERSED, ("dog", "Hund")) == (0, 1)
    assert ordinals(REVERSED, ("dog", "<br>")) == (0,)
    assert ordinals(REVERSED, ("", "")) == ()


def test_a_cloze_note_makes_a_card_for_each_number():
    assert ordinals(CLOZE, ("{{c1::a}} {{c3::b}} {{c1::c}}", "{{c7::not asked}}")) == (0, 2)
    assert ordinals(CLOZE, ("no gap", "")) == ()


FRONTS = (
    "{{A}}",
    "{{#A}}{{B}}{{/A}}",
    "{{^A}}{{B}}{{/A}}",
    "{{#A}}only text{{/A}}{{C}}",
    "{{text:B}}",
    "{{^C}}{{^A}}{{B}}{{/A}}{{/C}}",
    "{{ A }}",
    "{{#A}}{{^B}}{{C}}{{/B}}{{/A}}",
    "<!-- {{A}} -->{{B}}",
    "{{{C}}}",
    "{{hint:C}}",
    "{{Tags}}{{type:A}} text",
)
VALUES = [(a, b, c) for a in ("", "x", "<br>", "<div>&nbsp;</div>") for b in ("", "y") for c in ("", " ", "z")]
GAPS = [
    "{{c1::a}} {{c2::b}}",
    "{{c1::a {{c2::b}} c::hint}}",
    "{{c2::a {{c1::b::h1}} c::h2}}",
    "{{c3::a::h}} {{c3::b}}",
    "{{c1,2::both}}",
    "{{c1::<b>x</b>::hint::more}}",
    r"\({{c1::\frac{1}{2} }}\)",
    "}} {{c2::x}}",
    "{{c1::x::h1 {{c2::y}} t::h2}}",
]


@pytest.fixture(scope="module")
def anki(tmp_path_factory):
    collection = Collection(str(Path(tmp_path_factory.mktemp("anki")) / "collection.anki2"))
    yield collection
    collection.close()


def anki_type(anki: Collection, name: str, fronts: tuple[str, ...], *, is_cloze: bool = False):
    kind = anki.models.new(name)
    kind["type"] = int(is_cloze)
    for field in "ABC":
        anki.models.add_field(kind, anki.models.new_field(field))
    for number, front in enumerate(fronts):
        template = anki.models.new_template(f"T{number}")
        template["qfmt"], template["afmt"] = front, front
        anki.models.add_template(kind, template)
    anki.models.add(kind)
    return anki.models.by_name(name)


def anki_note(anki: Collection, kind, values: tuple[str, ...]):
    note = anki.new_note(kind)
    note.fields = list(values)
    anki.add_note(note, 1)
    return note


def test_notes_make_the_cards_that_anki_makes(anki):
    kind = anki_type(anki, "Standard", FRONTS)
    mine = NoteType("Standard", ("A", "B", "C"), tuple(CardTemplate("", front, "") for front in FRONTS))
    for values in VALUES:
        theirs = tuple(sorted(card.ord for card in anki_note(anki, kind, values).cards()))
        # Anki never leaves a note without a card.
        assert (ordinals(mine, values) or (0,)) == theirs, values


def test_gaps_are_rendered_as_in_anki(anki):
    kind = anki_type(anki, "Gaps", ("{{cloze:A}}",), is_cloze=True)
    mine = note_type("{{cloze:A}}", "{{cloze:A}}", fields=("A", "B", "C"), is_cloze=True)
    for text in GAPS:
        cards = sorted(anki_note(anki, kind, (text, "", "")).cards(), key=lambda card: card.ord)
        assert ordinals(mine, (text,)) == tuple(card.ord for card in cards), text
        for card in cards:
            face = render(mine, (text,), card.ord)
            assert (face.front, face.back) == (plain_text(card.question()), plain_text(card.answer())), text


# --- what is on them ---------------------------------------------------------------------------------------


def test_the_back_does_not_repeat_the_front():
    assert render(BASIC, ("dog", "Hund"), 0) == CardSides("dog", "Hund")
    assert render(REVERSED, ("dog", "Hund"), 1) == CardSides("Hund", "dog")
    assert render(note_type("{{A}}", '{{A}}<hr class=x id="answer">{{B}}'), ("dog", "Hund"), 0) == CardSides(
        "dog", "Hund"
    )
    assert render(note_type("{{A}}", "{{FrontSide}}: {{B}}"), ("dog", "Hund"), 0) == CardSides("dog", ": Hund")


def test_gaps_are_hidden_on_the_front_and_filled_in_on_the_back():
    values = ("{{c1::Paris::city}} is in <b>{{c2::France}}</b>", "see<br>map")
    assert render(CLOZE, values, 0) == CardSides("[city] is in France", "Paris is in France\nsee\nmap")
    assert render(CLOZE, values, 1) == CardSides("Paris is in [...]", "Paris is in France\nsee\nmap")


def test_media_are_listed_once():
    sides = render(BASIC, ('<img src="cell.png">', 'A cell [sound:cell.mp3] <img src="cell.png">'), 0)
    assert sides == CardSides(
        "[image: cell.png]", "A cell [sound: cell.mp3] [image: cell.png]", media=("cell.png", "cell.mp3")
    )
    assert render(note_type('<img src="{{A}}">'), ("cell.png",), 0) == CardSides(
        "[image: cell.png]", "", media=("cell.png",)
    )


@pytest.mark.parametrize(
    ("template", "front", "back"),
    [
        ("{{hint:A}}", "[hint: dog]", "[hint: dog]"),
        ("{{hint:Empty}}", "", ""),
        ("{{type:A}}", "[type the answer]", "dog"),
        ("{{text:A}}", "dog", "dog"),
        ("{{tts en_US voices=Apple:A}}", "[speech: dog]", "[speech: dog]"),
        ("{{nobody-knows:A}}", "dog", "dog"),
        ("{{furigana:R}}", "彼は漢字[かんじ]を", "彼は漢字[かんじ]を"),
        ("{{kana:R}}", "彼はかんじを", "彼はかんじを"),
        ("{{kanji:R}}", "彼は漢字を", "彼は漢字を"),
        ("{{Deck}}|{{Subdeck}}|{{Tags}}|{{Type}}|{{Card}}", *["Languages::German|German|animal hard|Test|Card 1"] * 2),
        ("{{#A}}yes{{/A}}{{^A}}no{{/A}}{{#Empty}}yes{{/Empty}}{{^Empty}}no{{/Empty}}", "yesno", "yesno"),
        ("{{=<% %>=}}<%A%>", "dog", "dog"),
    ],
)
def test_filters_and_special_fields(template, front, back):
    kind = note_type(template, template, fields=("A", "Empty", "R"))
    sides = render(kind, ("dog", "", "彼は 漢字[かんじ]を"), 0, deck="Languages::German", tags=("animal", "hard"))
    assert sides == CardSides(front, back)


@pytest.mark.parametrize(
    "broken",
    ["{{Nope}}", "{{#A}} never closed", "{{/A}}", "{{#A}}{{/B}}", "{{", "{{}}", "{{#}}", "a }} b", "{{text:Nope}}"],
)
def test_a_template_part_that_is_not_valid_is_shown_as_it_is(broken):
    assert render(note_type(broken), ("dog",), 0) == CardSides(broken, "")


def test_sections_nested_a_thousand_deep_are_text():
    deep = "{{#A}}" * 1000 + "{{A}}" + "{{/A}}" * 1000
    assert "dog" in render(note_type(deep), ("dog",), 0).front
    assert ordinals(note_type(deep), ("dog",)) == (0,)


def test_a_card_without_a_template_is_empty():
    assert render(BASIC, ("dog", "Hund"), 7) == CardSides("", "")
    assert render(BASIC, ("dog", "Hund"), -1) == CardSides("", "")
    assert render(BASIC, (), 0) == CardSides("", "")


def test_a_field_cannot_break_the_template_around_it():
    kind = note_type("<b>{{A}}</b><script>show('{{A}}')</script>")
    assert render(kind, ("What does <b> do, and </script>?",), 0) == CardSides("What does <b> do, and ?", "")


@pytest.mark.parametrize("piece", ["<!--", "</", "<hr ", "{{#A}}", "{{#A}}{{/A}}", "{{c1::", " x[y", "{{A", "<b>"])
def test_the_time_for_a_card_is_linear_in_its_length(piece):
    long = piece * (100_000 // len(piece))
    started = time.process_time()
    render(note_type("{{furigana:A}}{{cloze:A}}", long), (long,), 0)
    # Where each piece is looked at once for each other one, it takes minutes.
    assert time.process_time() - started < 10


_PARTS = st.lists(
    st.sampled_from(
        ["{{A}}", "{{B}}", "{{#A}}", "{{/A}}", "{{^B}}", "{{/B}}", "{{#B}}", "{{", "}}", " ", "{{hint:A}}"]
    ),
    max_size=12,
).map("".join)


@given(_PARTS, st.sampled_from(["", "<br>", "dog"]), st.sampled_from(["", "dog", " "]))
def test_a_template_makes_a_card_exactly_when_its_front_shows_a_field(front, a, b):
    kind = note_type(front)
    assert (ordinals(kind, (a, b)) == (0,)) == ("dog" in render(kind, (a, b), 0).front)


@given(st.text(max_size=80), st.text(alphabet="{}#^/AB:<!->hr idanswer", max_size=80), st.integers(-2, 3))
def test_rendering_never_raises(value, template, ordinal):
    for is_cloze in (False, True):
        kind = note_type(template, template, is_cloze=is_cloze)
        ordinals(kind, (value, value))
        render(kind, (value, value), ordinal, deck=value, tags=(value,))


@given(st.text(alphabet="ab <>/&;lt\n\xa0bdivr\u0130\ud800", max_size=60))
def test_a_field_has_the_same_text_on_a_card_as_alone(value):
    assert render(BASIC, (value, ""), 0).front == plain_text(value)


# --- finding notes -----------------------------------------------------------------------------------------


def test_the_searchable_text_of_a_note():
    values = ("<b>Der  HUND</b><br>läuft &amp; bellt", "{{c1::Straße::road}}", "", "ЖИЗНЬ")
    assert searchable(values) == "der hund läuft & bellt\nstrasse\n\nжизнь"


def test_first_fields_with_the_same_text_have_the_same_key():
    assert first_key("The  <b>Dog</b>\n") == first_key("the dog")
    assert first_key("the dog") != first_key("the dogs")
    assert first_key("{{c1::Paris}} is big") != first_key("Paris is {{c1::big}}")


@given(st.text())
def test_a_key_has_63_bits(value):
    assert 0 <= first_key(value) < 2**63


# --- hostile templates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "template",
    ["{{A}}" * 20_000, "{{text:A}}" * 10_000, "{{" + "hint:" * 2_000 + "A}}", "{{#A}}" * 40 + "{{A}}" * 4_000],
)
def test_a_template_cannot_make_a_card_of_any_size(template: str):
    value = "<b>x</b>" * 10_000
    before = time.process_time()
    sides = render(note_type(template, template), (value, "b"), 0)
    assert max(len(sides.front), len(sides.back)) < 1_000_000
    assert time.process_time() - before < 5


def test_the_answer_is_found_in_linear_time():
    before = time.process_time()
    sides = render(note_type("{{A}}", "<hr " + "id=answer " * 20_000), ("a", "b"), 0)
    assert sides.back.startswith("<hr id=answer")
    assert time.process_time() - before < 5


def test_a_tag_with_too_many_filters_is_text():
    tag = "{{" + "hint:" * 11 + "A}}"
    assert render(note_type(tag), ("a", "b"), 0).front == tag
