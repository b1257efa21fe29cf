//! The seven families of mlx-serve and the ways in which their calls break, as one table of outputs.

use serde_json::{Value, json};

/// A family, how it writes calls, and a model of it.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
    form: Form,
}

/// How a family writes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `<tool_call>{"name": …}</tool_call>`
    HermesJson,
    /// `<tool_call><function=…><parameter=…>`
    FunctionTags,
    /// `<|tool_call>call:name{key:<|"|>text<|"|>}<tool_call|>`
    Gemma,
    /// A fence with JSON.
    FencedJson,
    /// JSON and nothing else.
    RawJson,
    /// `<tool_name><key>text</key></tool_name>`
    NameInTag,
}

pub(crate) const FAMILIES: [Family; 7] = [
    Family { name: "Qwen", model: "Qwen/Qwen3.5-4B", form: Form::FunctionTags },
    Family { name: "Gemma 4", model: "google/gemma-4-E4B-it", form: Form::Gemma },
    Family { name: "Gemma 3", model: "google/gemma-3-4b-it", form: Form::FencedJson },
    Family { name: "Qwen MoE", model: "Qwen/Qwen3-30B-A3B", form: Form::RawJson },
    Family { name: "GGUF", model: "Qwen3-4B-Q4_K_M.gguf", form: Form::HermesJson },
    Family { name: "DeepSeek V4 Flash", model: "deepseek-ai/DeepSeek-V4-Flash", form: Form::NameInTag },
    Family { name: "Hermes", model: "NousResearch/Hermes-4-14B", form: Form::HermesJson },
];

/// What is wrong with an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// 19,000 characters of HTML with raw line breaks and quotes that are not escaped.
    Html,
    /// `\d`, which JSON does not have.
    InvalidEscape,
    MissingClose,
    /// The mark that closes the last value.
    DroppedDelimiter,
    /// The mark that opens the last value.
    DroppedOpeningDelimiter,
    DoubleBraces,
    /// Two calls in one array, or one after the other.
    Parallel,
    /// The arguments without the name of the tool.
    BareArguments,
    /// The name in the tag, the arguments as JSON.
    NameInTag,
    /// The name in the tag, the arguments as elements.
    NoJson,
    /// The token limit ends the output inside the page.
    TokenCap,
}

pub(crate) const SHAPES: [Shape; 11] = [
    Shape::Html,
    Shape::InvalidEscape,
    Shape::MissingClose,
    Shape::DroppedDelimiter,
    Shape::DroppedOpeningDelimiter,
    Shape::DoubleBraces,
    Shape::Parallel,
    Shape::BareArguments,
    Shape::NameInTag,
    Shape::NoJson,
    Shape::TokenCap,
];

/// One output, and the calls that it means.
pub(crate) struct Output {
    pub(crate) text: String,
    pub(crate) calls: Vec<(&'static str, Value)>,
    pub(crate) is_cut: bool,
}

/// A page of about 19,000 characters, as a small model writes it.
pub(crate) fn page() -> String {
    let head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"UTF-8\">\n<style>\nbody { margin: 0; font-family: \"Inter\", sans-serif; }\n</style>\n</head>\n<body>\n";
    let tail = "<script>\ndocument.querySelector(\"#more\").onclick = () => { alert(\"Hello, you!\"); };\n</script>\n</body>\n</html>";
    let sections = (1..).map(|number| format!("<section id=\"s{number}\">\n  <h2 class=\"title\">Part {number}</h2>\n  <p>It's part {number}: \"quoted\", 100% raw.</p>\n</section>\n"));
    let mut page = head.to_owned();
    for section in sections {
        if page.len() + section.len() + tail.len() > 19_000 {
            break;
        }
        page += &section;
    }
    page + tail
}

fn write_file(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": content}))
}

fn get_weather(city: &str) -> (&'static str, Value) {
    ("get_weather", json!({"city": city, "days": 3}))
}

/// The output of a family with this defect, or `None` if the family cannot break in this way.
pub(crate) fn output(family: &Family, shape: Shape) -> Option<Output> {
    let form = family.form;
    let file = "a.html";
    let whole = |text: String, calls| Some(Output { text, calls, is_cut: false });
    match shape {
        Shape::Html => whole(form.write_raw(file, &page()), vec![write_file(file, &page())]),
        Shape::InvalidEscape => {
            let line = r"if (m.match(/\d+-\w+/)) return m;";
            whole(form.write_raw("a.js", line), vec![write_file("a.js", line)])
        }
        Shape::MissingClose => {
            let text = form.write_raw(file, "<p>hi</p>");
            let text = text.strip_suffix(form.closer()).unwrap_or(&text).trim_end().to_owned();
            whole(text, vec![write_file(file, "<p>hi</p>")])
        }
        Shape::DroppedDelimiter | Shape::DroppedOpeningDelimiter => {
            // Gemma loses its delimiters in large content.
            let content = if form == Form::Gemma { page() } else { "<p>hi</p>".to_owned() };
            let text = form.write_raw(file, &content);
            let text = if shape == Shape::DroppedDelimiter {
                text.replace(&format!("{content}{}", form.end_of_value()?), &content)
            } else {
                text.replace(&format!("{}{content}", form.start_of_value()?), &content)
            };
            whole(text, vec![write_file(file, &content)])
        }
        Shape::DoubleBraces => whole(form.write_double_braces()?, vec![get_weather("Rome")]),
        Shape::Parallel => whole(form.write_two(), vec![get_weather("Rome"), get_weather("Oslo")]),
        Shape::BareArguments => whole(form.write_without_name()?, vec![get_weather("Rome")]),
        Shape::NameInTag if form == Form::NameInTag => {
            let text = "<tool_get_weather>\n{\"city\": \"Rome\", \"days\": 3}\n</tool_get_weather>";
            whole(text.to_owned(), vec![get_weather("Rome")])
        }
        Shape::NoJson if form == Form::NameInTag => {
            let text = "<tool_calls><tool>get_weather</tool><city>Rome</city><days>3</days></tool_calls>";
            whole(text.to_owned(), vec![get_weather("Rome")])
        }
        Shape::NameInTag | Shape::NoJson => None,
        Shape::TokenCap => {
            let text = form.write_raw(file, &page());
            let text = text[..text.find("Part 40").unwrap_or(text.len())].to_owned();
            Some(Output { text, calls: Vec::new(), is_cut: true })
        }
    }
}

impl Form {
    /// A call that writes a file. Nothing in the content is escaped.
    fn write_raw(self, path: &str, content: &str) -> String {
        let json =
            format!(r#"{{"name": "write_file", "arguments": {{"path": "{path}", "content": "{content}"}}}}"#);
        match self {
            Form::HermesJson => format!("<tool_call>\n{json}\n</tool_call>"),
            Form::FencedJson => format!("```json\n{json}\n```"),
            Form::RawJson => json,
            Form::FunctionTags => format!(
                "<tool_call>\n<function=write_file>\n<parameter=path>\n{path}\n</parameter>\n<parameter=content>\n{content}\n</parameter>\n</function>\n</tool_call>"
            ),
            Form::Gemma => format!(
                "<|tool_call>call:write_file{{path:<|\"|>{path}<|\"|>,content:<|\"|>{content}<|\"|>}}<tool_call|>"
            ),
            Form::NameInTag => {
                format!(
                    "<tool_write_file>\n<path>{path}</path>\n<content>{content}</content>\n</tool_write_file>"
                )
            }
        }
    }

    /// What closes the whole call; in JSON, its last brace.
    fn closer(self) -> &'static str {
        match self {
            Form::HermesJson => "</tool_call>",
            Form::FunctionTags => "</function>\n</tool_call>",
            Form::Gemma => "<tool_call|>",
            Form::FencedJson => "}\n```",
            Form::RawJson => "}",
            Form::NameInTag => "</tool_write_file>",
        }
    }

    fn start_of_value(self) -> Option<&'static str> {
        match self {
            Form::Gemma => Some("<|\"|>"),
            Form::HermesJson | Form::FencedJson | Form::RawJson => Some("\""),
            Form::FunctionTags | Form::NameInTag => None,
        }
    }

    fn end_of_value(self) -> Option<&'static str> {
        match self {
            Form::FunctionTags => Some("\n</parameter>"),
            other => other.start_of_value(),
        }
    }

    fn write_double_braces(self) -> Option<String> {
        let json = r#"{"name": "get_weather", "arguments": {{"city": "Rome", "days": 3}}}"#;
        Some(match self {
            Form::HermesJson => format!("<tool_call>\n{json}\n</tool_call>"),
            Form::FencedJson => format!("```json\n{json}\n```"),
            Form::RawJson => json.to_owned(),
            Form::Gemma => {
                "<|tool_call>call:get_weather{{city:<|\"|>Rome<|\"|>,days:3}}<tool_call|>".to_owned()
            }
            Form::FunctionTags | Form::NameInTag => return None,
        })
    }

    fn write_two(self) -> String {
        let calls = ["Rome", "Oslo"];
        let list = || {
            let calls =
                calls.map(|city| json!({"name": "get_weather", "arguments": {"city": city, "days": 3}}));
            json!(calls).to_string()
        };
        let each = |write: &dyn Fn(&str) -> String| calls.map(write).join("\n");
        match self {
            Form::HermesJson => format!("<tool_call>\n{}\n</tool_call>", list()),
            Form::FencedJson => format!("```json\n{}\n```", list()),
            Form::RawJson => list(),
            Form::FunctionTags => each(&|city| {
                format!(
                    "<tool_call>\n<function=get_weather>\n<parameter=city>\n{city}\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
                )
            }),
            Form::Gemma => each(&|city| {
                format!("<|tool_call>call:get_weather{{city:<|\"|>{city}<|\"|>,days:3}}<tool_call|>")
            }),
            Form::NameInTag => each(&|city| {
                format!("<tool_get_weather>\n<city>{city}</city>\n<days>3</days>\n</tool_get_weather>")
            }),
        }
    }

    fn write_without_name(self) -> Option<String> {
        let json = r#"{"city": "Rome", "days": 3}"#;
        Some(match self {
            Form::HermesJson => format!("<tool_call>\n{json}\n</tool_call>"),
            Form::FencedJson => format!("```json\n{json}\n```"),
            Form::RawJson => json.to_owned(),
            Form::FunctionTags | Form::Gemma | Form::NameInTag => return None,
        })
    }
}
