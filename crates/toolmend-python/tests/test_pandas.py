"""Series of pandas."""

import pandas as pd
import pytest

import toolmend

TEXTS = ['{"a": 1}', "{a: 2,}", None, '{"a": "cut']


@pytest.mark.parametrize("kind", ["object", "string", "str"])
def test_a_series_gives_a_frame_with_its_index(kind: str) -> None:
    series = pd.Series(TEXTS, index=["p", "q", "r", "s"], dtype=kind)
    mended = toolmend.mend_column(series)
    assert list(mended.index) == ["p", "q", "r", "s"]
    assert mended["outcome"].fillna("").tolist() == ["clean", "mended", "", "truncated"]
    assert mended["json"].fillna("").tolist() == ['{"a": 1}', '{"a": 2}', "", ""]
    assert mended["repairs"]["q"] == ["key_quoted", "trailing_comma_removed"]


def test_rows_can_call_different_tools() -> None:
    mender = toolmend.Mender(["read", "write"])
    calls = pd.DataFrame({"tool": ["read", "other"], "arguments": ["{a: 1}", "{}"]})
    mended = toolmend.mend_column(calls["arguments"], mender=mender, tool=calls["tool"])
    assert mended["outcome"].tolist() == ["mended", "rejected"]
