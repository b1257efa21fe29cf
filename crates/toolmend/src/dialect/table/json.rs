//! Rows whose calls are JSON objects with a name.

use super::{Dialect, INFERRED, INFORMAL, ROW};

pub(super) const ROWS: &[Dialect] = &[
    Dialect {
        name: "hermes_json",
        families: "Hermes, Qwen 2.5, QwQ, Qwen 3, MiMo-VL, EXAONE 4, Falcon 3, SmolLM3, Arcee, most fine-tunes",
        reasoning: "think",
        marks: &["<tool_call>"],
        call: "<tool_call>\n{\"name\": \"{name}\", \"arguments\": {arguments}}\n</tool_call>",
        join: "\n",
        code_element: "code",
        ..ROW
    },
    Dialect {
        name: "granite4_json",
        families: "Granite 4",
        reasoning: "think",
        call: "<tool_call>\n{\"name\": \"{name}\", \"arguments\": {arguments}}\n</tool_call>",
        join: "\n",
        ..ROW
    },
    Dialect {
        name: "ernie45",
        families: "ERNIE 4.5 thinking, ERNIE X1",
        reasoning: "think",
        call: "<tool_call>\n{\"name\": \"{name}\", \"arguments\": {arguments}}\n</tool_call>",
        join: "\n",
        ..ROW
    },
    Dialect {
        name: "k2_horizon_json",
        families: "K2 Horizon with JSON",
        reasoning: "ifm",
        marks: &["<ifm|tool_calls>", "<ifm|tool_call>"],
        section: ("<ifm|tool_calls>\n", "\n</ifm|tool_calls>"),
        call: "<ifm|tool_call>{\"name\": \"{name}\", \"arguments\": {arguments}}</ifm|tool_call>",
        join: "\n",
        has_models: false,
        ..ROW
    },
    Dialect {
        name: "pangu",
        families: "openPangu 1",
        reasoning: "pangu",
        marks: &["[unused11]"],
        section: ("[unused11][", "][unused12]"),
        join: ", ",
        ..ROW
    },
    Dialect {
        name: "pangu2",
        families: "openPangu 2",
        reasoning: "think",
        marks: &["<|tool_call_start|>"],
        section: ("<|tool_call_start|>[", "]<|tool_call_end|>"),
        join: ", ",
        ..ROW
    },
    Dialect {
        name: "hyperclova",
        families: "HyperCLOVA X SEED 14B",
        marks: &["<|im_start|>assistant -> tool/function_call"],
        section: ("<|im_start|>assistant -> tool/function_call\n[", "]<|im_end|>"),
        join: ", ",
        heading: "-> tool/function_call",
        ..ROW
    },
    Dialect {
        name: "longcat_json",
        families: "LongCat Flash",
        reasoning: "longcat",
        marks: &["<longcat_tool_call>"],
        call: "<longcat_tool_call>{\"name\": \"{name}\", \"arguments\": {arguments}}</longcat_tool_call>",
        ..ROW
    },
    Dialect {
        name: "granite3_json",
        families: "Granite 3",
        reasoning: "granite",
        marks: &["<|tool_call|>"],
        section: ("<|tool_call|>[", "]"),
        join: ", ",
        ..ROW
    },
    Dialect {
        name: "granite20b_fc",
        families: "Granite 20B function calling",
        marks: &["<function_call>"],
        call: "<function_call> {\"name\": \"{name}\", \"arguments\": {arguments}}",
        join: "\n",
        ..ROW
    },
    Dialect {
        name: "tool_calls_array",
        families: "Jamba, Apriel, Hunyuan A13B",
        reasoning: "think",
        marks: &["<tool_calls>"],
        section: ("<tool_calls>[", "]</tool_calls>"),
        join: ", ",
        ..ROW
    },
    Dialect {
        name: "minimax_m1",
        families: "MiniMax M1",
        reasoning: "think",
        section: ("<tool_calls>\n", "\n</tool_calls>"),
        join: "\n",
        ..ROW
    },
    Dialect {
        name: "nemotron_toolcall",
        families: "Llama Nemotron, Nemotron Nano 2",
        reasoning: "think",
        marks: &["<toolcall>"],
        section: ("<TOOLCALL>[", "]</TOOLCALL>"),
        join: ", ",
        ..ROW
    },
    Dialect {
        name: "functools",
        families: "FireFunction 2, Phi-4 mini",
        marks: &["functools["],
        section: (" functools[", "]"),
        join: ", ",
        ..ROW
    },
    Dialect {
        name: "internlm2",
        families: "InternLM 2 and 3, Intern-S1",
        reasoning: "think",
        marks: &["<|action_start|>"],
        call: "<|action_start|><|plugin|>\n{\"name\": \"{name}\", \"parameters\": {arguments}}<|action_end|>",
        code_token: "<|interpreter|>",
        ..ROW
    },
    Dialect {
        name: "doubao",
        families: "Doubao",
        marks: &["<|FunctionCallBegin|>"],
        section: ("<|FunctionCallBegin|>[", "]<|FunctionCallEnd|>"),
        call: "{\"name\": \"{name}\", \"parameters\": {arguments}}",
        join: ", ",
        ..ROW
    },
    Dialect {
        name: "rwkv",
        families: "RWKV 7",
        source: INFERRED,
        reasoning: "think",
        call: "**Tool Call:**\n```json\n{\"name\": \"{name}\", \"arguments\": {arguments}}\n```",
        join: "\n",
        heading: "**Tool Call:**",
        ..ROW
    },
    Dialect {
        name: "mistral_array",
        families: "Mistral 7B, Nemo, Large 2, Mixtral, Pixtral",
        marks: &["[TOOL_CALLS]", "[TOOL_CALLS"],
        section: ("[TOOL_CALLS] [", "]"),
        call: "{\"name\": \"{name}\", \"arguments\": {arguments}, \"id\": \"{id}\"}",
        join: ", ",
        id_after_arguments: true,
        ..ROW
    },
    Dialect {
        name: "apertus",
        families: "Apertus",
        reasoning: "apertus",
        marks: &["<|tools_prefix|>"],
        section: ("<|tools_prefix|>[", "]<|tools_suffix|>"),
        call: "{\"{name}\": {arguments}}",
        join: ", ",
        name_is_key: true,
        ..ROW
    },
    Dialect {
        name: "cohere_action",
        families: "Command A, Command R7B, North",
        reasoning: "cohere",
        marks: &["<|START_ACTION|>"],
        section: ("<|START_ACTION|>[\n    ", "\n]<|END_ACTION|>"),
        call: "{\"tool_call_id\": \"{index}\", \"tool_name\": \"{name}\", \"parameters\": {arguments}}",
        join: ",\n    ",
        ..ROW
    },
    Dialect {
        name: "command_r_action",
        families: "Command R, Command R+, Aya",
        source: INFERRED,
        marks: &["Action:"],
        section: ("Action:\n```json\n[\n    ", "\n]```"),
        call: "{\"tool_name\": \"{name}\", \"parameters\": {arguments}}",
        join: ",\n    ",
        no_tool_names: &["directly-answer", "directly_answer"],
        ..ROW
    },
    Dialect {
        name: "gigachat31",
        families: "GigaChat 3.1",
        marks: &["<|function_call|>"],
        call: "<|function_call|>{\"name\": \"{name}\", \"arguments\": {arguments}}<|message_sep|>\n\n",
        ..ROW
    },
    Dialect {
        name: "gigachat3",
        families: "GigaChat 3",
        marks: &["function call<|role_sep|>"],
        call: "<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"{name}\", \"arguments\": {arguments}}",
        ..ROW
    },
    Dialect {
        name: "llama3_json",
        families: "Llama 3.1 to 3.3, Llama 4",
        marks: &["<|python_tag|>"],
        call: "<|python_tag|>{\"name\": \"{name}\", \"parameters\": {arguments}}",
        join: "; ",
        ..ROW
    },
    Dialect {
        name: "sarashina",
        families: "Sarashina 2",
        marks: &["<|tool_calls|>"],
        section: ("<|tool_calls|>[", "]"),
        call: "{'name': '{name}', 'arguments': {arguments}}",
        join: ", ",
        ..ROW
    },
    Dialect {
        name: "inkling",
        families: "Inkling",
        reasoning: "inkling",
        marks: &["<|content_invoke_tool_json|>"],
        call: "<|message_model|>{name}<|content_invoke_tool_json|>{\"name\":\"{name}\",\"args\":{arguments}}<|end_message|>",
        repeats_name: true,
        ..ROW
    },
    Dialect { name: "xlam", families: "xLAM 2, Hammer", section: ("[", "]"), join: ", ", ..INFORMAL },
    Dialect {
        name: "wire_json",
        families: "any, as an echo of an API",
        marks: &["\"tool_calls\""],
        section: ("{\"tool_calls\": [", "]}"),
        call: "{\"id\": \"{id}\", \"type\": \"function\", \"function\": {\"name\": \"{name}\", \"arguments\": {arguments}}}",
        join: ", ",
        ..INFORMAL
    },
];
