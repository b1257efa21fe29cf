"""What is not installed is named, with the command that installs it."""

import subprocess
import sys

import pytest

MODULES = {
    "google_adk": ("google.adk", "google-adk"),
    "langchain": ("langchain", "langchain"),
    "litellm": ("litellm", "litellm"),
    "openai_agents": ("agents", "openai-agents"),
    "polars": ("pyarrow", "arrow"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "smolagents": ("smolagents", "smolagents"),
}


@pytest.mark.parametrize("module", MODULES)
def test_a_missing_package_is_named(module: str) -> None:
    package, extra = MODULES[module]
    # A finder that finds nothing, as if the package were not installed.
    program = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import toolmend.{module}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    missing = package.partition(".")[0]
    assert f"{missing} is not installed; run: pip install 'toolmend[{extra}]'" in done.stderr
