//! Forms that no family was trained on: without markers, taught by prompts, or improvised.

use super::{Dialect, EXPLICIT, Form, INFORMAL, Recognition, Values};

pub(super) const ROWS: &[Dialect] = &[
    Dialect { name: "bare_json", is_fallback: true, ..INFORMAL },
    Dialect {
        name: "guided_named",
        families: "servers that constrain to one tool",
        call: "{arguments}",
        is_bound_to_tool: true,
        ..INFORMAL
    },
    Dialect {
        name: "guided_required",
        families: "servers that constrain to a list",
        section: ("[", "]"),
        call: "{\"name\": \"{name}\", \"parameters\": {arguments}}",
        join: ", ",
        ..INFORMAL
    },
    Dialect {
        name: "args_only",
        call: "{arguments}",
        recognised_by: &[Recognition::ArgumentsAlone],
        ..INFORMAL
    },
    Dialect { name: "fenced_json", section: ("```json\n", "\n```"), join: "\n", is_fenced: true, ..INFORMAL },
    Dialect {
        name: "named_fence",
        families: "Grok",
        form: Form::Named,
        call: "```tool {name}\n{arguments}\n```",
        join: "\n",
        is_fenced: true,
        ..INFORMAL
    },
    Dialect {
        name: "bracket",
        families: "LM Studio",
        source: EXPLICIT,
        marks: &["[TOOL_REQUEST]", "[TOOL_CALL]"],
        call: "[TOOL_REQUEST]{\"name\": \"{name}\", \"arguments\": {arguments}}[END_TOOL_REQUEST]",
        join: "\n",
        recognised_by: &[Recognition::WordInBrackets],
        ..INFORMAL
    },
    Dialect {
        name: "perl_hash",
        families: "MiniMax on hosted APIs",
        source: EXPLICIT,
        form: Form::Lines,
        marks: &["[TOOL_CALL]"],
        call: "[TOOL_CALL]{tool => \"{name}\", args => {{parameters}}}[/TOOL_CALL]",
        parameter: "--{key} {value}",
        join: "\n",
        values: Values::Json,
        recognised_by: &[Recognition::ArrowHash],
        ..INFORMAL
    },
    Dialect {
        name: "attr_tag",
        families: "ChatCLI",
        source: EXPLICIT,
        form: Form::Attributes,
        marks: &["<tool_call>", "<tool>"],
        call: "<tool_call name=\"{name}\" args='{arguments}'/>",
        join: "\n",
        is_fallback: true,
        recognised_by: &[Recognition::TruncatedTag],
        ..INFORMAL
    },
    Dialect {
        name: "calling_tool",
        families: "any, after histories that servers write as text",
        form: Form::Attributes,
        marks: &["[Calling tool=\""],
        values: Values::Attribute,
        call: "[Calling tool=\"{name}\"{parameters}]",
        parameter: " {key}=\"{value}\"",
        join: "\n",
        recognised_by: &[Recognition::AttributesInBrackets],
        ..INFORMAL
    },
    Dialect {
        name: "react",
        families: "ReAct prompts",
        form: Form::Lines,
        marks: &["Action:"],
        call: "Action: {name}\nAction Input: {arguments}",
        join: "\n",
        is_fallback: true,
        recognised_by: &[Recognition::ActionLines],
        ..INFORMAL
    },
    Dialect {
        name: "functions_prefix",
        families: "Kimi, gpt-oss without their tokens",
        form: Form::Named,
        marks: &["functions."],
        call: "functions.{name}:{index}{arguments}",
        join: "\n",
        recognised_by: &[Recognition::FunctionsPrefix],
        ..INFORMAL
    },
    Dialect {
        name: "code_agent",
        families: "smolagents",
        form: Form::Lines,
        on: false,
        call: "",
        ..INFORMAL
    },
    Dialect {
        name: "slash_shorthand",
        form: Form::Lines,
        on: false,
        call: "{name}/{arguments}",
        join: "\n",
        recognised_by: &[Recognition::SlashKeyValue],
        ..INFORMAL
    },
    Dialect {
        name: "yaml",
        form: Form::Lines,
        on: false,
        call: "tool: {name}\n{parameters}",
        parameter: "{key}: {value}\n",
        join: "---\n",
        recognised_by: &[Recognition::YamlLines],
        ..INFORMAL
    },
    Dialect {
        name: "vcp",
        families: "VCP",
        source: EXPLICIT,
        form: Form::Lines,
        marks: &["<<<[TOOL_REQUEST]>>>"],
        values: Values::Raw,
        call: "<<<[TOOL_REQUEST]>>>\ntool_name:「始」{name}「末」,\n{parameters}<<<[END_TOOL_REQUEST]>>>",
        parameter: "{key}:「始」{value}「末」,\n",
        unsayable: &["「始」", "「末」", "<<<[END_TOOL_REQUEST]>>>"],
        join: "\n",
        recognised_by: &[Recognition::CornerBrackets],
        ..INFORMAL
    },
    Dialect {
        name: "md_bold",
        form: Form::Lines,
        on: false,
        values: Values::Raw,
        call: "**Tool:** {name}{parameters}",
        parameter: "  **{key}:** {value}",
        unsayable: &["**", "\n"],
        join: "\n",
        recognised_by: &[Recognition::BoldWords],
        ..INFORMAL
    },
    Dialect {
        name: "prefix_line",
        form: Form::Named,
        marks: &["TOOL:", "CALL"],
        call: "TOOL: {name} {arguments}",
        join: "\n",
        is_fallback: true,
        ..INFORMAL
    },
];
