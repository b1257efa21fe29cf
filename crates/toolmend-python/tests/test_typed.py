"""Values of Python types, with the text mended by their schema."""

import datetime
import enum
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

import pydantic
import pytest
from typing_extensions import NotRequired

import toolmend


class Mode(enum.Enum):
    READ = "r"
    WRITE = "w"


class Point(NamedTuple):
    x: int
    y: float


@dataclass
class Part:
    path: Path
    mode: Mode = Mode.READ
    tags: set[str] = field(default_factory=set)


@dataclass
class Plan:
    parts: list[Part]
    due: datetime.date | None = None
    at: Point | None = None
    kind: Literal["new", "old"] = "new"


class Read(TypedDict):
    path: str
    limit: NotRequired[int]


class Model(pydantic.BaseModel):
    path: str
    limit: int = 100


def test_dataclasses_are_built_at_every_depth() -> None:
    text = "{parts: [{path: 'a.txt', mode: w, tags: ['x']}], due: '2026-11-17', at: ['1', 2], kind: old,}"
    plan = toolmend.loads_as(text, Plan)
    parts = [Part(Path("a.txt"), Mode.WRITE, {"x"})]
    assert plan == Plan(parts, datetime.date(2026, 11, 17), Point(1, 2.0), "old")
    assert type(plan.at.y) is float if plan.at else False
    assert toolmend.loads_as('{"parts": []}', Plan) == Plan([])


def test_typed_dictionaries_stay_dictionaries() -> None:
    read: Read = toolmend.loads_as("{path: 'a.txt', limit: '20'}", Read)
    assert read == {"path": "a.txt", "limit": 20}


def test_models_are_validated() -> None:
    model: Model = toolmend.loads_as("{path: 'a.txt', limit: '20'}", Model)
    assert model == Model(path="a.txt", limit=20)
    assert toolmend.loads_as("[{path: a}]", list[Model]) == [Model(path="a")]


def test_other_annotations_work() -> None:
    assert toolmend.loads_as("[1, '2']", tuple[int, ...]) == (1, 2)
    assert toolmend.loads_as("{a: ['b'],}", dict[str, Sequence[str]]) == {"a": ["b"]}


def test_what_does_not_fit_is_refused() -> None:
    for target in (Plan, Read, Model):
        with pytest.raises(toolmend.MendError):
            toolmend.loads_as('{"limit": 3}', target)
    with pytest.raises(TypeError):
        toolmend.to_type([1], Plan)


def test_arguments_of_calls_have_types_too() -> None:
    verdict = toolmend.Mender([Model]).mend("model", "{path: 'a.txt', limit: '20'}")
    assert toolmend.to_type(verdict.arguments, Model) == Model(path="a.txt", limit=20)


def test_errors_go_to_other_processes() -> None:
    with pytest.raises(toolmend.MendError) as refusal:
        toolmend.loads('{"a": "b", "c": ')
    error: Any = pickle.loads(pickle.dumps(refusal.value))
    assert (error.pos, error.doc, error.msg) == (refusal.value.pos, '{"a": "b", "c": ', refusal.value.msg)
    assert error.pos == 16
