//! Rows whose arguments are in their own tags.

use super::{Dialect, Form, INFERRED, INVOKE, PAIRS, PARAMETER, Recognition, TAGGED, Values};

pub(super) const ROWS: &[Dialect] = &[
    Dialect {
        name: "seed_oss",
        families: "Seed-OSS",
        reasoning: "seed",
        marks: &["<seed:tool_call>"],
        call: "<seed:tool_call>\n<function={name}>\n{parameters}</function>\n</seed:tool_call>",
        join: "\n",
        parameter: "<parameter={key}>{value}</parameter>\n",
        has_verbatim_values: true,
        ..TAGGED
    },
    Dialect {
        name: "minimax_m3",
        families: "MiniMax M3",
        reasoning: "mm",
        marks: &["]<]minimax[>["],
        section: ("]<]minimax[>[<tool_call>\n", "]<]minimax[>[</tool_call>"),
        call: "]<]minimax[>[<invoke name=\"{name}\">{parameters}]<]minimax[>[</invoke>\n",
        parameter: "]<]minimax[>[<{key}>{value}]<]minimax[>[</{key}>",
        ..TAGGED
    },
    Dialect {
        name: "minimax_m2",
        families: "MiniMax M2",
        reasoning: "think",
        marks: &["<minimax:tool_call>", "<minimax:toolcall>"],
        section: ("<minimax:tool_call>\n", "\n</minimax:tool_call>"),
        call: INVOKE,
        join: "\n",
        parameter: PARAMETER,
        ..TAGGED
    },
    Dialect {
        name: "dsml_v32",
        families: "DeepSeek V3.2",
        reasoning: "think",
        marks: &["<DSML|function_calls>"],
        section: ("<｜DSML｜function_calls>\n", "\n</｜DSML｜function_calls>"),
        call: "<｜DSML｜invoke name=\"{name}\">\n{parameters}</｜DSML｜invoke>",
        join: "\n",
        parameter: "<｜DSML｜parameter name=\"{key}\" string=\"{string}\">{value}</｜DSML｜parameter>\n",
        values: Values::Flagged,
        ..TAGGED
    },
    Dialect {
        name: "dsml_v41",
        families: "DeepSeek V4.1",
        reasoning: "think",
        marks: &["<DSML|calls>"],
        section: ("<｜DSML｜ calls>\n", "\n</｜DSML｜ calls>"),
        call: "<｜DSML｜ invoke name=\"{name}\">\n{parameters}</｜DSML｜ invoke>",
        join: "\n",
        parameter: "<｜DSML｜ parameter name=\"{key}\" string=\"{string}\">{value}</｜DSML｜ parameter>\n",
        values: Values::Flagged,
        ..TAGGED
    },
    Dialect {
        name: "dsml_v4",
        families: "DeepSeek V4",
        reasoning: "think",
        marks: &["<DSML|tool_calls>", "<DSML|invoke>"],
        section: ("<｜DSML｜tool_calls>\n", "\n</｜DSML｜tool_calls>"),
        call: "<｜DSML｜invoke name=\"{name}\">\n{parameters}</｜DSML｜invoke>",
        join: "\n",
        parameter: "<｜DSML｜parameter name=\"{key}\" string=\"{string}\">{value}</｜DSML｜parameter>\n",
        values: Values::Flagged,
        unsayable: &["<\u{200B}"],
        escaped_words: &["think>", "/think>", "reasoning>", "/reasoning>", "｜DSML｜", "/｜DSML｜"],
        ..TAGGED
    },
    Dialect {
        name: "gcml",
        families: "GigaChat 3.5",
        reasoning: "think",
        marks: &["<GCML|tool_calls>", "<GCML|invoke>"],
        section: ("<｜GCML｜tool_calls>\n", "\n</｜GCML｜tool_calls>"),
        call: "<｜GCML｜invoke name=\"{name}\">\n{parameters}</｜GCML｜invoke>",
        join: "\n",
        parameter: "<｜GCML｜parameter name=\"{key}\" string=\"{string}\">{value}</｜GCML｜parameter>\n",
        values: Values::Flagged,
        ..TAGGED
    },
    Dialect {
        name: "dots",
        families: "dots",
        reasoning: "think",
        marks: &["<dots_function_call>"],
        section: ("<dots_function_call>\n", "\n</dots_function_call>"),
        call: INVOKE,
        join: "\n",
        parameter: PARAMETER,
        ..TAGGED
    },
    Dialect {
        name: "atem",
        families: "Muse Glimmer",
        reasoning: "muse",
        marks: &["<atem:function_calls>", "<atem:invoke>"],
        section: ("<atem:function_calls>\n", "\n</atem:function_calls>"),
        call: "<atem:invoke name=\"{name}\">\n{parameters}</atem:invoke>",
        join: "\n",
        parameter: "<atem:parameter name=\"{key}\">{value}</atem:parameter>\n",
        namespace_shown_to_user: "atem:",
        ..TAGGED
    },
    Dialect {
        name: "step3",
        families: "Step 3",
        reasoning: "think",
        marks: &["<steptml:invoke>"],
        section: ("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"),
        call: "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"{name}\">{parameters}</steptml:invoke><｜tool_call_end｜>",
        parameter: "<steptml:parameter name=\"{key}\">{value}</steptml:parameter>",
        ..TAGGED
    },
    Dialect {
        name: "minicpm5",
        families: "MiniCPM 5",
        reasoning: "think",
        marks: &["<param>"],
        call: "<function name=\"{name}\">{parameters}</function>",
        join: "\n",
        parameter: "<param name=\"{key}\">{value}</param>",
        ..TAGGED
    },
    Dialect {
        name: "qwen3_xml",
        families: "Qwen 3 Coder, Qwen 3.5, Nemotron 3, Step 3.5, MiMo 2",
        reasoning: "think",
        marks: &["<function>"],
        call: "<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>",
        join: "\n",
        parameter: "<parameter={key}>\n{value}\n</parameter>\n",
        recognised_by: &[Recognition::HeadlessTag],
        ..TAGGED
    },
    Dialect {
        name: "anthropic_xml",
        families: "Claude, and others in its harnesses",
        reasoning: "thinking_alias",
        marks: &["<function_calls>", "<invoke>"],
        section: ("<function_calls>\n", "\n</function_calls>"),
        call: INVOKE,
        join: "\n",
        parameter: PARAMETER,
        is_fallback: true,
        recognised_by: &[Recognition::TaggedArguments],
        ..TAGGED
    },
    Dialect {
        name: "kimi_k3",
        families: "Kimi K3",
        reasoning: "kimi_k3",
        marks: &["<|open|>"],
        section: ("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
        call: "<|open|>call tool=\"{name}\" index=\"{count}\"<|sep|>{parameters}<|close|>call<|sep|>",
        parameter: "<|open|>argument key=\"{key}\" type=\"{type}\"<|sep|>{value}<|close|>argument<|sep|>",
        values: Values::Typed,
        recognised_by: &[Recognition::Section],
        prompt_opens_reasoning: true,
        ..TAGGED
    },
    Dialect {
        name: "hy3",
        families: "Hunyuan 3",
        reasoning: "think_suffix",
        marks: &["<tool_sep>"],
        section: ("<tool_calls:opensource>\n", "\n</tool_calls:opensource>"),
        call: "<tool_call:opensource>{name}<tool_sep:opensource>\n{parameters}</tool_call:opensource>",
        join: "\n",
        parameter: "<arg_key:opensource>{key}</arg_key:opensource>\n<arg_value:opensource>{value}</arg_value:opensource>\n",
        ..PAIRS
    },
    Dialect {
        name: "longcat2",
        families: "LongCat 2",
        reasoning: "longcat",
        marks: &["<longcat_tool_call>"],
        call: "<longcat_tool_call>{name}{parameters}</longcat_tool_call>",
        parameter: "<longcat_arg_key>{key}</longcat_arg_key><longcat_arg_value>{value}</longcat_arg_value>",
        ..PAIRS
    },
    Dialect {
        name: "k2_horizon_typed",
        families: "K2 Horizon with types",
        reasoning: "ifm",
        marks: &["<ifm|arg_type>"],
        section: ("<ifm|tool_calls>\n", "\n</ifm|tool_calls>"),
        call: "<ifm|tool_call>{name}\n{parameters}</ifm|tool_call>",
        join: "\n",
        parameter: "<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_type>{type}</ifm|arg_type>\n<ifm|arg_value>{value}</ifm|arg_value>\n",
        values: Values::Typed,
        has_models: false,
        ..PAIRS
    },
    Dialect {
        name: "k2_horizon",
        families: "K2 Horizon, K2 V3",
        reasoning: "ifm",
        marks: &["<ifm|tool_calls>", "<ifm|tool_call>"],
        section: ("<ifm|tool_calls>\n", "\n</ifm|tool_calls>"),
        call: "<ifm|tool_call>{name}\n{parameters}</ifm|tool_call>",
        join: "\n",
        parameter: "<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_value>{value}</ifm|arg_value>\n",
        ..PAIRS
    },
    Dialect {
        name: "solar_open2",
        families: "Solar Open 2, Solar Pro 4",
        reasoning: "solar2",
        marks: &["<|tool_call:start|>"],
        call: "<|tool_call:start|>{name}\n{parameters}<|tool_call:end|>",
        join: "\n",
        parameter: "<|tool_arg:start|>{key}<|tool_arg:value|>{value}<|tool_arg:end|>\n",
        ..PAIRS
    },
    Dialect {
        name: "iquest",
        families: "IQuest Coder 2, IQuest Q1",
        reasoning: "think",
        marks: &["<iquestcoder_tool_call>", "<iquest_tool_call>"],
        call: "<iquestcoder_tool_call>{name}\n{parameters}</iquestcoder_tool_call>",
        join: "\n",
        parameter: "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
        ..PAIRS
    },
    Dialect {
        name: "param_key",
        families: "TeleChat 3 Coder, Xing 4",
        reasoning: "think",
        marks: &["<param_key>"],
        parameter: "<param_key>{key}</param_key><param_value>{value}</param_value>",
        ..PAIRS
    },
    Dialect {
        name: "glm47",
        families: "GLM 4.7, GLM 5, Ling 3, Ring 2.6",
        reasoning: "think",
        marks: &["<tool_call>"],
        is_fallback: true,
        ..PAIRS
    },
    Dialect {
        name: "glm45",
        families: "GLM 4.5, GLM 4.6",
        reasoning: "think",
        call: "<tool_call>{name}\n{parameters}</tool_call>",
        join: "\n",
        parameter: "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
        ..PAIRS
    },
    Dialect {
        name: "poolside",
        families: "Laguna",
        reasoning: "think",
        call: "<tool_call>{name}\n{parameters}</tool_call>",
        join: "\n",
        parameter: "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
        ..PAIRS
    },
    Dialect {
        name: "agent_tags",
        families: "Cline, Roo, Kilo prompts",
        form: Form::Element,
        source: INFERRED,
        call: "<{name}>\n{parameters}</{name}>",
        join: "\n",
        parameter: "<{key}>{value}</{key}>\n",
        is_fallback: true,
        has_models: false,
        ..TAGGED
    },
];
