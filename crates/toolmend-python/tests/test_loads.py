"""`loads` as a replacement for `json.loads` and `json_repair.loads`."""

import decimal
import io
import json
import math
from typing import Any

import pytest

import toolmend

VALID = [
    "null", "true", " [ ] ", "{}", '""', "0", "-0", "-1", "1.5", "1e3", "1E+2", "-0.0", "1e400", "0.1",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890",
    "5e-324", "1.7976931348623157e308", "0.30000000000000004", "100000000000000000000000.5",
    '"\\u00e9\\ud83d\\ude00\\n\\"\\\\\\/\\b\\f\\r\\t"', '"é😀"', '{"a": {"b": [1, {"c": null}], "a": 2}, "a": 3}',
    '{"a": 1, "a": 2}', '[[[[[]]]]]', '{"": {"": ""}}', '\n{"k" : [ true , false ] }\t', '{"\\u0061": 1, "a": 2}',
]  # fmt: skip


@pytest.mark.parametrize("text", VALID)
def test_valid_text_gives_the_value_of_json_loads(text: str) -> None:
    for given in (text, text.encode(), bytearray(text.encode()), text.encode("utf-16"), text.encode("utf-32-le")):
        ours, theirs = toolmend.loads(given), json.loads(given)
        assert ours == theirs and repr(ours) == repr(theirs)
        assert type(ours) is type(theirs)


def test_whole_numbers_are_exact_and_signs_are_kept() -> None:
    assert toolmend.loads("[" + "7" * 400 + "]") == [int("7" * 400)]
    assert math.copysign(1, toolmend.loads("-0.0")) == -1


def test_broken_json_is_read() -> None:
    assert toolmend.loads("```json\n{'a': True, b: [1, 2,], // c\n}\n```") == {"a": True, "b": [1, 2]}
    assert toolmend.load(io.StringIO("{'a': 1}")) == {"a": 1}
    assert toolmend.load(io.BytesIO(b"{'a': 1}")) == {"a": 1}


def test_a_schema_decides_between_readings() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert toolmend.loads('{"n": "3"}', schema) == {"n": 3}
    with pytest.raises(toolmend.MendError) as refusal:
        toolmend.loads('{"size": 3, "colour": 4}', schema)
    assert refusal.value.verdict.reason == "schema"
    assert refusal.value.verdict.violations[0].keyword == "required"


def test_a_refusal_is_a_json_decode_error() -> None:
    with pytest.raises(json.JSONDecodeError, match="cut off") as refusal:
        toolmend.loads('{"a": "b')
    assert isinstance(refusal.value, toolmend.MendError)
    assert refusal.value.pos == 6, "where the string begins that has no end"
    verdict = refusal.value.verdict
    assert (verdict.outcome, verdict.cut, verdict.arguments, bool(verdict)) == ("truncated", "/a", None, False)


def test_the_arguments_of_json_loads_work() -> None:
    text = "{'a': 1.10, 'b': 2}"
    assert toolmend.loads(text, parse_float=decimal.Decimal) == {"a": decimal.Decimal("1.10"), "b": 2}
    assert toolmend.loads(text, parse_int=str)["b"] == "2"
    assert toolmend.loads(text, object_pairs_hook=list) == [("a", 1.1), ("b", 2)]
    assert toolmend.loads(text, object_hook=lambda it: sorted(it)) == ["a", "b"]

    class Decoder(json.JSONDecoder):
        def decode(self, s: str, *args: Any) -> Any:
            return ["decoded", super().decode(s)]

    assert toolmend.loads(text, cls=Decoder) == ["decoded", {"a": 1.1, "b": 2}]


def test_the_arguments_of_json_repair_work() -> None:
    options: dict[str, Any] = {"skip_json_loads": True, "stream_stable": False, "strict": True, "schema_repair_mode": "salvage"}
    assert toolmend.loads("{'a': 1,}", **options) == {"a": 1}
    value, repairs = toolmend.loads("{'a': 1,}", logging=True)
    assert value == {"a": 1} and len(repairs) == 2 and set(repairs[0]) == {"text", "context"}


def test_input_that_is_not_text_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="found int"):
        toolmend.loads(5)  # type: ignore[arg-type]
    assert toolmend.loads('"\ud800"') == "\ud800", "half a surrogate pair, as with json.loads"


def test_policies_are_applied() -> None:
    with pytest.raises(toolmend.MendError):
        toolmend.loads("{'a': 1}", policy="strict")
    verdict = toolmend.fix("{a: b}", policy=toolmend.Policy(max_tier="lossless"))
    assert verdict.outcome == "rejected" and verdict.reason == "policy"
    assert toolmend.fix("{'a': 1}", policy=toolmend.Policy(off=["quotes_replaced"])).outcome == "rejected"
    cases: list[dict[str, Any]] = [{"preset": "bold"}, {"max_tier": "sure"}, {"off": ["magic"]}]
    for broken in cases:
        with pytest.raises(ValueError, match="bold|sure|magic"):
            toolmend.fix("1", policy=toolmend.Policy(**broken))


def test_long_texts_of_every_alphabet_stay_unchanged() -> None:
    texts = ["Grüße aus Köln. ", "Привет, мир! ", "東京タワー ", "a😀b ", "plain ", "ÿ\u0000"]
    for text in texts:
        value = {"ä": text, "long": text * 100, "list": ["é", text * 50, {"in": text * 30, "x": 1}], "last": "ø" * 300}
        for ascii_only in (False, True):
            written = json.dumps(value, ensure_ascii=ascii_only)
            assert toolmend.loads(written) == value
            assert toolmend.loads(written[:-1] + ",}") == value


def test_a_subclass_of_str_is_read_as_its_text() -> None:
    class Odd(str):
        def __getitem__(self, index: Any) -> str:
            return "other"

    assert toolmend.loads(Odd(json.dumps({"a": "ü" * 300}, ensure_ascii=False))) == {"a": "ü" * 300}
