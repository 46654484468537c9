"""Skills over the protocol: listed with the digest of each file, read as resources, behind the same gates."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcp_core import App, Caller, Settings, Skill
from mcp_core.calling import skills as pages
from mcp_core.declare.skills import SkillSource, read_skills
from mcp_core.errors import DeclarationError
from mcp_core.hosts.fast_path.methods import FastPath, NotHandled
from mcp_core.hosts.names import CAPABILITIES_KEY, MODERN, SKILLS, VERSION_KEY
from mcp_core.hosts.protocol import Peer, RpcError
from toolcharter.local import targets

FORMS = Skill("forms", 'Fill in "forms": use it for PDFs.', "Read more.md.", {"more/fields.md": b"# Fields\n"})
READER = Caller("user:ann", "ann", frozenset({"guides:read"}))


async def ask(app: App, method: str, caller: Caller = READER, **params: Any) -> Any:
    meta = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}}
    return json.loads(await FastPath(app).answer(method, {**params, "_meta": meta}, Peer(caller, modern=True)))


@pytest.mark.requirement("PRO-6")
async def test_skills_are_listed_with_digests_of_what_is_read(tmp_path: Path):
    folder = tmp_path / "own"
    (folder / "scripts").mkdir(parents=True)
    source = b"---\nname: own\ndescription: >\n  My own\n  skill.\nlicense: MIT\n---\nDo it.\n"
    (folder / "SKILL.md").write_bytes(source)
    (folder / "scripts" / "a.bin").write_bytes(b"\xff\x00")
    async with App("s", skills=tmp_path) as app:
        discovered = await ask(app, "server/discover")
        assert discovered["capabilities"]["extensions"][SKILLS] == {"directoryRead": True}
        listed = await ask(app, "skills/list")
        assert (listed["ttlMs"], listed["cacheScope"], listed["resultType"]) == (300_000, "public", "complete")
        (entry,) = listed["skills"]
        assert entry["uri"] == "skill://own/SKILL.md"
        assert entry["frontmatter"] == {"name": "own", "description": "My own skill.\n", "license": "MIT"}
        assert (await ask(app, "skills/get", uri=entry["uri"]))["skill"] == entry
        contents = {"skill://own/SKILL.md": source, "skill://own/scripts/a.bin": b"\xff\x00"}
        for file in entry["resources"]:
            data = contents.pop(file["uri"])
            assert (file["digest"], file["size"]) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
        assert contents == {}
        (read,) = (await ask(app, "resources/read", uri=entry["uri"]))["contents"]
        assert (read["text"], read["mimeType"]) == (source.decode(), "text/markdown")
        (binary,) = (await ask(app, "resources/read", uri="skill://own/scripts/a.bin"))["contents"]
        assert binary["blob"] == "/wA="
        children = (await ask(app, "resources/directory/read", uri="skill://own"))["resources"]
        assert [(one["uri"], one["mimeType"]) for one in children] == [
            ("skill://own/SKILL.md", "text/markdown"),
            ("skill://own/scripts", "inode/directory"),
        ]
        for method, uri in (
            ("skills/get", "skill://own/scripts/a.bin"),
            ("skills/get", "skill://other/SKILL.md"),
            ("resources/read", "skill://own/../own/SKILL.md"),
            ("resources/directory/read", "skill://own/SKILL.md"),
            ("resources/directory/read", "skill://other"),
        ):
            with pytest.raises(RpcError) as refused:
                await ask(app, method, uri=uri)
            assert refused.value.code == -32602


@pytest.mark.requirement("PRO-6")
async def test_skills_from_a_function_pass_the_gates_and_are_not_kept_by_clients():
    seen: list[Skill] = [FORMS]
    async with App("s", skills=SkillSource(lambda: seen, ["guides:read"])) as app:
        listed = await ask(app, "skills/list")
        assert (listed["ttlMs"], listed["cacheScope"]) == (0, "private")
        document = (await ask(app, "resources/read", uri="skill://forms/SKILL.md"))["contents"][0]["text"]
        assert document.startswith('---\nname: forms\ndescription: "Fill in \\"forms\\": use it for PDFs."\n---\n')
        seen.append(Skill("more", "More.", "More."))
        assert [one["frontmatter"]["name"] for one in (await ask(app, "skills/list"))["skills"]] == ["forms", "more"]
        for method, uri in (("skills/list", None), ("skills/get", "skill://forms/SKILL.md")):
            with pytest.raises(RpcError, match="needs the permission guides:read"):
                await ask(app, method, Caller("user:eve"), **({"uri": uri} if uri else {}))
        with pytest.raises(RpcError, match="needs the permission guides:read"):
            await ask(app, "resources/read", Caller("user:eve"), uri="skill://forms/SKILL.md")


async def test_many_skills_come_in_pages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pages, "PAGE_SIZE", 2)
    async with App("s", skills=[Skill(f"skill-{number}", "One.", "Text") for number in range(5)]) as app:
        names, cursor = list[str](), dict[str, str]()
        while True:
            page = await ask(app, "skills/list", **cursor)
            names += [one["frontmatter"]["name"] for one in page["skills"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        assert names == [f"skill-{number}" for number in range(5)]
        for wrong in ("x", "0", "99", "-1"):
            with pytest.raises(RpcError, match="does not belong to this list"):
                await ask(app, "skills/list", cursor=wrong)


async def test_a_server_without_skills_has_no_such_methods():
    async with App("s") as app:
        with pytest.raises(NotHandled):
            await ask(app, "skills/list")


@pytest.mark.parametrize("text", ["no front matter", "---\nname: other\n---\n", "---\n: [\n---\n", "---\n- a\n---\n"])
def test_a_folder_that_is_no_skill_is_refused_with_its_name(text: str, tmp_path: Path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "SKILL.md").write_text(text)
    with pytest.raises(DeclarationError, match="skill 'own'"):
        read_skills(tmp_path)


@pytest.mark.parametrize("path", ["../a", "a//b", "/a", "SKILL.md", "a\\b", "./a"])
def test_a_file_of_a_skill_stays_below_it(path: str):
    with pytest.raises(DeclarationError, match="is not a path below the skill"):
        Skill("a", "About.", "Text", {path: b""})


@pytest.mark.requirement("PRO-6")
@pytest.mark.parametrize("name", ["atl", "noema", "todo"])
def test_a_skill_of_a_server_names_only_tools_that_it_has(name: str):
    app = targets.load(name, Settings(db="sqlite://"))
    (skill,) = app.skills()
    known = set(app.registry.final_names().values())
    named = {word for word in re.findall(r"`([a-z_-]+[_-][a-z_-]+)`", skill.text) if word != "response_fields"}
    assert named <= known
