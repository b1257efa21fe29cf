"""The code in the pages runs."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["docs/json-repair.md", "docs/python.md", "README.md"])
def test_the_code_of_the_page_runs(page: str) -> None:
    text = (ROOT / page).read_text()
    blocks = [rest.split("```", 1)[0] for rest in text.split("```python\n")[1:]]
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": "page"})
