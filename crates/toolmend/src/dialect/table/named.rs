//! Rows whose calls are a name followed by arguments as JSON.

use super::{BareHeader, Dialect, INFERRED, NAMED, Recognition};

pub(super) const ROWS: &[Dialect] = &[
    Dialect {
        name: "deepseek_v3",
        families: "DeepSeek V3, R1, Cogito",
        reasoning: "think",
        marks: &["```<|tool_sep|>"],
        section: ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
        call: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>",
        join: "\n",
        ..NAMED
    },
    Dialect {
        name: "deepseek_v31",
        families: "DeepSeek V3.1, V3.2-Exp",
        reasoning: "think",
        marks: &["<|tool_sep|>"],
        section: ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
        call: "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>",
        ..NAMED
    },
    Dialect {
        name: "kimi_k2",
        families: "Kimi K2, K2 Thinking, K2.5",
        reasoning: "think",
        marks: &["<|tool_call_argument_begin|>", "<|tool_calls_section_begin|>"],
        section: ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
        call: "<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>",
        ..NAMED
    },
    Dialect {
        name: "mistral_call_id",
        families: "Mistral Small 3.2",
        marks: &["[CALL_ID]"],
        call: "[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]{arguments}",
        ..NAMED
    },
    Dialect {
        name: "mistral_name_args",
        families: "Devstral, Magistral, Ministral 3, Mistral Large 3",
        reasoning: "mistral",
        marks: &["[ARGS]", "[ARGS", "[TOOL_CALLS]", "[TOOL_CALLS"],
        call: "[TOOL_CALLS]{name}[ARGS]{arguments}",
        ..NAMED
    },
    Dialect {
        name: "functionary_v31",
        families: "Functionary 3.1, Llama 3.1",
        marks: &["<function>"],
        call: "<function={name}>{arguments}</function>",
        ..NAMED
    },
    Dialect {
        name: "functionary_v32",
        families: "Functionary 3.2",
        marks: &[">>>"],
        call: ">>>{name}\n{arguments}",
        source: INFERRED,
        recognised_by: &[Recognition::RecipientLine],
        bare_header: BareHeader::AllLine,
        ..NAMED
    },
    Dialect {
        name: "functionary_v2",
        families: "Functionary 2",
        marks: &["<|recipient|>"],
        call: "<|from|>assistant\n<|recipient|>{name}\n<|content|>{arguments}",
        join: "\n",
        ..NAMED
    },
    Dialect {
        name: "solar_open",
        families: "Solar Open",
        reasoning: "solar",
        marks: &["<|tool_call:begin|>"],
        section: ("<|tool_calls|>", "<|calls|>"),
        call: "<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>{arguments}<|tool_call:end|>",
        ..NAMED
    },
    Dialect {
        name: "plamo3",
        families: "PLaMo 3",
        reasoning: "plamo",
        marks: &[
            "<|plamo:begin_tool_requests:plamo|>",
            "<|plamo:begin_tool_request:plamo|>",
            "<|plamo:begin_tool_name:plamo|>",
        ],
        section: ("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"),
        call: "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|>\
               <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{arguments}\
               <|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
        ..NAMED
    },
    Dialect {
        name: "cwm",
        families: "CWM",
        reasoning: "think",
        marks: &["<tool>"],
        call: "<tool: {name}>\n{arguments}\n</tool>",
        join: "\n",
        ..NAMED
    },
    Dialect {
        name: "step_audio2",
        families: "Step-Audio 2",
        marks: &["function<tool_call>"],
        lead: "function\n",
        call: "<tool_call>function\n{name}\n{arguments}</tool_call>",
        ..NAMED
    },
    Dialect {
        name: "hunyuan_dense",
        families: "Hunyuan 0.5B to 7B",
        reasoning: "think",
        marks: &["```<tool_call>", "<tool_call>"],
        section: ("<tool_calls>", "</tool_calls>"),
        call: "<tool_call>{name}\n```json\n{arguments}\n```</tool_call>",
        join: "\n",
        ..NAMED
    },
    Dialect {
        name: "use_mcp_tool",
        families: "Cline, Roo prompts, MiroThinker",
        reasoning: "think",
        marks: &["<use_mcp_tool>"],
        call: "<use_mcp_tool>\n<tool_name>{name}</tool_name>\n<arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>",
        join: "\n",
        server_element: "server_name",
        ..NAMED
    },
    Dialect {
        name: "glm4_legacy",
        families: "GLM-4, ChatGLM 3",
        source: INFERRED,
        recognised_by: &[Recognition::NameLine],
        ..NAMED
    },
    Dialect {
        name: "qwen_agent",
        families: "Qwen 2, Qwen-Agent",
        marks: &["✿FUNCTION✿", "✿FUNCTION✿:"],
        call: "✿FUNCTION✿: {name}\n✿ARGS✿: {arguments}",
        join: "\n",
        ..NAMED
    },
    Dialect {
        name: "harmony",
        families: "gpt-oss",
        reasoning: "harmony",
        marks: &["<|message|>"],
        call: "<|start|>assistant<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>",
        closer_is_dropped: true,
        recognised_by: &[Recognition::PlainMessage],
        bare_header: BareHeader::Channel,
        ..NAMED
    },
];
