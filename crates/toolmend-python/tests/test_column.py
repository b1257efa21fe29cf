"""Arrow columns of text."""

import pyarrow as pa
import pytest

import toolmend

TEXTS = ['{"a": 1}', "{a: 2,}", None, '{"a": "cut', "{'a': 3} {'a': 4}"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("threads", [None, 1, 2])
def test_every_text_is_mended(kind: pa.DataType, threads: int | None) -> None:
    column = pa.chunked_array([pa.array(TEXTS, kind), pa.array(TEXTS[:1], kind)])
    mended = toolmend.mend_column(column, threads=threads)
    assert isinstance(mended, pa.ChunkedArray) and mended.num_chunks == 2
    assert mended.type.field("json").type == kind
    rows = mended.to_pylist()
    assert [row["json"] for row in rows] == ['{"a": 1}', '{"a": 2}', None, None, None, '{"a": 1}']
    assert [row["outcome"] for row in rows] == ["clean", "mended", None, "truncated", "rejected", "clean"]
    assert rows[1]["repairs"] == ["key_quoted", "trailing_comma_removed"]
    assert len(rows[4]["values"]) == 2
    assert "cut off" in rows[3]["feedback"] and rows[2]["feedback"] is None


def test_a_valid_column_is_not_copied() -> None:
    column = pa.array(['{"a": 1}', "[1, 2]", None])
    mended = toolmend.mend_column(column).chunk(0).field("json")
    assert [buffer and buffer.address for buffer in mended.buffers()] == [
        buffer and buffer.address for buffer in column.buffers()
    ]


def test_slices_are_read_in_place() -> None:
    column = pa.array(["x", "{a: 1}", "{b: 2}", "y"]).slice(1, 2)
    assert toolmend.mend_column(column).chunk(0).field("json").to_pylist() == ['{"a": 1}', '{"b": 2}']


def test_a_schema_or_tools_guide_the_repair() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    column = pa.array(['{"a": "1"}'])
    assert toolmend.mend_column(column, schema).to_pylist()[0]["json"] == '{"a": 1}'
    mender = toolmend.Mender({"f": schema})
    assert toolmend.mend_column(column, mender=mender, tool="f").to_pylist()[0]["json"] == '{"a": 1}'


def test_every_row_may_have_a_tool_of_its_own() -> None:
    mender = toolmend.Mender({"f": {"properties": {"a": {"type": "integer"}}}, "g": {"properties": {"a": {"type": "string"}}}})
    column = pa.chunked_array([pa.array(["{a: '1'}", "{a: 1}"]), pa.array(['{"a": "x"}', '{"a": 2}'])])
    names = pa.chunked_array([pa.array(["f", "g", "g"]), pa.array([None], pa.string())])
    for threads in (None, 1):
        rows = toolmend.mend_column(column, mender=mender, tool=names, threads=threads).to_pylist()
        assert [row["json"] for row in rows] == ['{"a": 1}', '{"a": "1"}', '{"a": "x"}', None]
    with pytest.raises(ValueError, match="each of 4 rows, found 1"):
        toolmend.mend_column(column, mender=mender, tool=pa.array(["f"]))
    with pytest.raises(TypeError, match="column of names"):
        toolmend.mend_column(column, mender=mender, tool=pa.array([1, 2, 3, 4]))


def test_other_libraries_get_a_stream() -> None:
    class Foreign:
        """Has the interface and is not pyarrow."""

        def __init__(self, column: pa.Array) -> None:
            self.column = column

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return self.column.__arrow_c_array__(requested_schema)

    mended = toolmend.mend_column(Foreign(pa.array(["{a: 1}"])))
    assert pa.chunked_array(mended).to_pylist()[0]["json"] == '{"a": 1}'


def test_other_columns_are_an_error_of_the_caller() -> None:
    with pytest.raises(TypeError, match="Int64"):
        toolmend.mend_column(pa.array([1]))
