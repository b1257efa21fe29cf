"""The parts of vLLM that a tool parser uses, from its source package.

vLLM itself needs PyTorch and several gigabytes. The base class of tool parsers, its registry, the import of plugins and
the messages of the protocol are the released code. What they import from the engine (configuration, logging, sampling,
requests) is replaced by the names below.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
import re
import sys
import tarfile
import types
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pydantic

VERSION = "0.32.0"
CACHE = Path(os.environ.get("TOOLMEND_PACKAGES", Path(__file__).parents[4] / "target/packages"))
NEEDED = re.compile(r"[^/]+/vllm/(tool_parsers|utils|entrypoints)/.*\.py$")


def fetch_source() -> Path:
    """Returns the folder with the sources, which are downloaded from the package index once."""
    folder = CACHE / f"vllm-{VERSION}"
    if not folder.exists():
        index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/vllm/"
        with urllib.request.urlopen(index) as page:
            links = re.findall(r'href="([^"]+)"', page.read().decode())
        link = next(link for link in links if f"/vllm-{VERSION}.tar.gz" in link)
        url, _, digest = urllib.parse.urljoin(index, link).partition("#sha256=")
        archive = CACHE / "vllm.tar.gz"
        urllib.request.urlretrieve(url, archive)
        assert not digest or hashlib.sha256(archive.read_bytes()).hexdigest() == digest
        with tarfile.open(archive) as tar:
            tar.extractall(CACHE, [member for member in tar if NEEDED.match(member.name)], filter="data")
        archive.unlink()
    return folder / "vllm"


class _EmptyModule(types.ModuleType):
    """A module of the engine in which every name is an empty class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, type(name, (), {}))
        return getattr(self, name)


class _OpenModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")


def install_vllm() -> None:
    """Makes `import vllm` use these sources."""
    root = fetch_source()
    for name in ("", ".tool_parsers", ".utils", ".entrypoints", ".entrypoints.generate", ".entrypoints.generate.base"):
        package = types.ModuleType("vllm" + name)
        package.__path__ = [str(root / name.strip(".").replace(".", "/"))]
        sys.modules["vllm" + name] = package
    numbers = itertools.count(1)
    names: dict[str, dict[str, Any]] = {
        "envs": {"VLLM_MAX_STOP_STRINGS": 16, "VLLM_ENFORCE_STRICT_TOOL_CALLING": False},
        "logger": {"init_logger": logging.getLogger},
        "renderers.chat_utils": {"make_tool_call_id": lambda: f"call_{next(numbers)}"},
        "entrypoints.serve.engine.protocol": {"OpenAIBaseModel": _OpenModel, "UsageInfo": _OpenModel},
        "entrypoints.openai.chat_completion.protocol": {"ChatCompletionToolsParam": _OpenModel},
        "tool_parsers.utils": {"get_json_schema_from_tools": lambda **_: None},
        "config.utils": {},
        "entrypoints.openai.responses.protocol": {},
        "exceptions": {},
        "sampling_params": {},
        "tokenizers": {},
    }
    for name, members in names.items():
        parts = ["vllm", *name.split(".")]
        for depth in range(2, len(parts)):
            sys.modules.setdefault(".".join(parts[:depth]), _EmptyModule(".".join(parts[:depth])))
        module = _EmptyModule(".".join(parts))
        vars(module).update(members)
        sys.modules[".".join(parts)] = module
        # `import a.b as c` looks for an attribute of the package.
        setattr(sys.modules[".".join(parts[:-1])], parts[-1], module)
