"""Values of JSON and of calls while they are written."""

import toolmend


def test_a_preview_grows_with_its_text() -> None:
    preview = toolmend.Preview('{"path": "a.txt", "steps": [{"say": "Once')
    assert preview.value == {"path": "a.txt", "steps": [{"say": "Once"}]}
    preview.push(" upon")
    assert preview.json == '{"path": "a.txt", "steps": [{"say": "Once upon"}]}'
    assert toolmend.Preview().value is None


def test_streams_send_previews_on_request() -> None:
    mender = toolmend.Mender(["plan"])
    text = '<tool_call>{"name": "plan", "arguments": {"steps": [{"say": "Once'
    events = mender.stream(previews=True).push(text)
    assert [(event.type, event.index, event.name) for event in events] == [("preview", 0, "plan")]
    assert events[0].partial == {"steps": [{"say": "Once"}]} and events[0].incomplete
    assert events[0].call is None and "partial_json" in repr(events[0])
    assert mender.stream().push(text) == []
