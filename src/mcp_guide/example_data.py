"""The project and documents that the examples of the tools use, in a temporary folder."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_guide.guide import Guide

DOCUMENTS = {
    "lang/python.md": (
        "---\ntitle: Python\ndescription: How we write Python.\ntype: agent\n"
        "instruction: Run ruff before you show code.\n---\n# Python\n\nUse type hints. Format with ruff.\n"
    ),
    "lang/rust.md": "# Rust\n\nRun cargo fmt.\n",
    "docs/api.md": "---\ntitle: API\n---\n# API\n\nEvery URL begins with /v1.\n",
    "guidelines/review.md": "# Review\n\nRead the tests first.\n",
    "checks/sql.md": '---\nglobs: "*.sql"\n---\nMigrations can be undone.\n',
    "checks/release.md": "---\nrequires: [strict]\n---\n# Release\n\n- [ ] The changelog is written.\n",
}

CONFIGURATION = """\
export_folders: [{folder}/exports]
flags:
  beta: false
projects:
  shop:
    folder: {folder}
    flags:
      strict: true
    categories:
      lang: {{dir: lang, patterns: ["*.md"], description: How we write code.}}
      docs: {{dir: docs}}
      guidelines: {{dir: guidelines}}
      checks: {{dir: checks}}
    collections:
      backend: {{expressions: [lang/python, docs/api], description: For work on the server.}}
"""


def install_example_data(guide: "Guide") -> None:
    """Move the guide to a temporary folder with the example project, until it is closed."""
    folder = guide.use_temporary_folder()
    (folder / "exports").mkdir()
    guide.file.path.write_text(CONFIGURATION.format(folder=folder), encoding="utf-8")
    for path, text in DOCUMENTS.items():
        file = folder / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
