//! The table of dialects: one row for each way of writing a call.
//!
//! A row says how its family writes: what stands around the calls, how one call looks, how one argument looks. The readers
//! know forms, not families; the row names what they read, and renders calls back.

use crate::turn::Source;

/// The notations that calls are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// A JSON object that holds the name.
    Json,
    /// A name, then arguments as JSON.
    Named,
    /// Tags with the name in the call's tag and the key in the argument's.
    Tagged,
    /// Tags around key and value each.
    Pairs,
    /// Tags named after the tool and its keys.
    Element,
    /// Everything in the attributes of one tag.
    Attributes,
    /// `name(key=value)`
    Python,
    /// `call:name{key:value}`
    Gemma,
    /// Messages with a header.
    Channel,
    /// Lines of words.
    Lines,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// All arguments as one JSON object.
    Json,
    /// Strings as they are, everything else as JSON.
    Raw,
    /// The same, and the tag says which: `{string}` is `true` or `false`.
    Flagged,
    /// The same, and the tag names the type: `{type}`.
    Typed,
    /// The same, with objects and arrays as tags in tags.
    Nested,
    /// Python literals.
    Python,
    /// Gemma's notation, with this token for quotes.
    Quoted(&'static str),
}

/// One way of writing calls.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    pub(crate) name: &'static str,
    pub(crate) families: &'static str,
    pub(crate) form: Form,
    pub(crate) source: Source,
    /// Whether it is read without being asked for.
    pub(crate) on: bool,
    pub(crate) reasoning: &'static str,
    /// Markers that tell it from others of its form, as the readers spell them.
    pub(crate) marks: &'static [&'static str],
    /// What stands around all calls.
    pub(crate) section: (&'static str, &'static str),
    /// One call: `{name}`, `{arguments}` or `{parameters}`, `{id}`, `{index}`.
    pub(crate) call: &'static str,
    /// What stands between two calls.
    pub(crate) join: &'static str,
    /// One argument: `{key}`, `{value}`.
    pub(crate) parameter: &'static str,
    pub(crate) values: Values,
}

impl Dialect {
    /// The stable name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The model families that write it.
    pub fn families(&self) -> &'static str {
        self.families
    }

    /// The markers that it is known by.
    pub fn markers(&self) -> &'static [&'static str] {
        self.marks
    }

    /// The reasoning form of these families.
    pub fn reasoning(&self) -> &'static str {
        self.reasoning
    }

    /// Whether it is read without being asked for.
    pub fn on_by_default(&self) -> bool {
        self.on
    }

    /// Whether its markers mean a call and nothing else.
    pub fn source(&self) -> Source {
        self.source
    }
}

const EXPLICIT: Source = Source::Explicit;
const INFERRED: Source = Source::Inferred;

/// What most rows share.
const ROW: Dialect = Dialect {
    name: "",
    families: "",
    form: Form::Json,
    source: EXPLICIT,
    on: true,
    reasoning: "none",
    marks: &[],
    section: ("", ""),
    call: r#"{"name": "{name}", "arguments": {arguments}}"#,
    join: "",
    parameter: "",
    values: Values::Json,
};
const NAMED: Dialect = Dialect { form: Form::Named, call: "{name}\n{arguments}", ..ROW };
const TAGGED: Dialect = Dialect { form: Form::Tagged, values: Values::Raw, ..ROW };
const PAIRS: Dialect = Dialect {
    form: Form::Pairs,
    values: Values::Raw,
    call: "<tool_call>{name}{parameters}</tool_call>",
    parameter: "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
    ..ROW
};
const PYTHON: Dialect = Dialect {
    form: Form::Python,
    values: Values::Python,
    call: "{name}({parameters})",
    join: ", ",
    parameter: "{key}={value}",
    ..ROW
};
const WILD: Dialect = Dialect { source: INFERRED, families: "any", ..ROW };
const INVOKE: &str = "<invoke name=\"{name}\">\n{parameters}</invoke>";
const PARAMETER: &str = "<parameter name=\"{key}\">{value}</parameter>\n";

/// Every dialect. Among rows of one form the first whose marker was seen gives its name, so special ones stand first.
pub(crate) const DIALECTS: &[Dialect] = &[
    // JSON objects that hold the name.
    Dialect {
        name: "hermes_json",
        families: "Hermes, Qwen 2.5, QwQ, Qwen 3, MiMo-VL, EXAONE 4, Falcon 3, SmolLM3, Arcee, most fine-tunes",
        reasoning: "think",
        marks: &["<tool_call>"],
        call: "<tool_call>\n{\"name\": \"{name}\", \"arguments\": {arguments}}\n</tool_call>",
        join: "\n",
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
        ..ROW
    },
    Dialect {
        name: "mistral_array",
        families: "Mistral 7B, Nemo, Large 2, Mixtral, Pixtral",
        marks: &["[TOOL_CALLS]", "[TOOL_CALLS"],
        section: ("[TOOL_CALLS] [", "]"),
        call: "{\"name\": \"{name}\", \"arguments\": {arguments}, \"id\": \"{id}\"}",
        join: ", ",
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
        ..ROW
    },
    Dialect { name: "xlam", families: "xLAM 2, Hammer", section: ("[", "]"), join: ", ", ..WILD },
    Dialect {
        name: "wire_json",
        families: "any, as an echo of an API",
        marks: &["\"tool_calls\""],
        section: ("{\"tool_calls\": [", "]}"),
        call: "{\"id\": \"{id}\", \"type\": \"function\", \"function\": {\"name\": \"{name}\", \"arguments\": {arguments}}}",
        join: ", ",
        ..WILD
    },
    // A name, then arguments as JSON.
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
        name: "glm4_legacy",
        families: "GLM-4, ChatGLM 3",
        source: INFERRED,
        join: "<|assistant|>",
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
        ..NAMED
    },
    // Tags.
    Dialect {
        name: "seed_oss",
        families: "Seed-OSS",
        reasoning: "seed",
        marks: &["<seed:tool_call>"],
        call: "<seed:tool_call>\n<function={name}>\n{parameters}</function>\n</seed:tool_call>",
        join: "\n",
        parameter: "<parameter={key}>{value}</parameter>\n",
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
        values: Values::Nested,
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
        ..TAGGED
    },
    Dialect {
        name: "anthropic_xml",
        families: "Claude, and others in its harnesses",
        reasoning: "thinking_alias",
        marks: &["<function_calls>", "<invoke>", "<invoke>", "<function_calls>"],
        section: ("<function_calls>\n", "\n</function_calls>"),
        call: INVOKE,
        join: "\n",
        parameter: PARAMETER,
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
        ..TAGGED
    },
    // Tags around key and value each.
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
        ..TAGGED
    },
    // Python.
    Dialect {
        name: "lfm2",
        families: "LFM2, LFM2.5",
        reasoning: "think",
        marks: &["<|tool_call_start|>"],
        section: ("<|tool_call_start|>[", "]<|tool_call_end|>"),
        ..PYTHON
    },
    Dialect {
        name: "olmo3",
        families: "OLMo 3",
        reasoning: "think",
        marks: &["<function_calls>"],
        section: ("<function_calls>\n", "\n</function_calls>"),
        join: "\n",
        ..PYTHON
    },
    Dialect {
        name: "llama_builtin",
        families: "Llama 3 built-in tools",
        marks: &["<|python_tag|>"],
        call: "<|python_tag|>{name}.call({parameters})",
        join: "\n",
        ..PYTHON
    },
    Dialect {
        name: "tool_code",
        families: "Gemma 3, Gemini",
        source: INFERRED,
        marks: &["tool_code"],
        section: ("```tool_code\n", "\n```"),
        call: "print(default_api.{name}({parameters}))",
        join: "\n",
        ..PYTHON
    },
    Dialect {
        name: "py_call",
        families: "NexusRaven, Gorilla, any",
        source: INFERRED,
        marks: &["<<function>>", "Call:"],
        join: "\n",
        ..PYTHON
    },
    Dialect {
        name: "pythonic",
        families: "Llama 4, Llama 3.2, ToolACE, Gemma 3",
        source: INFERRED,
        section: ("[", "]"),
        ..PYTHON
    },
    // Gemma.
    Dialect {
        name: "gemma4",
        families: "Gemma 4",
        form: Form::Gemma,
        reasoning: "gemma4",
        marks: &["<|tool_call>", "call:"],
        call: "<|tool_call>call:{name}{{parameters}}<tool_call|>",
        parameter: "{key}:{value}",
        values: Values::Quoted("<|\"|>"),
        ..ROW
    },
    Dialect {
        name: "functiongemma",
        families: "FunctionGemma",
        form: Form::Gemma,
        marks: &["<start_function_call>"],
        call: "<start_function_call>call:{name}{{parameters}}<end_function_call>",
        parameter: "{key}:{value}",
        values: Values::Quoted("<escape>"),
        ..ROW
    },
    // Without markers, taught by prompts, or wild.
    Dialect { name: "bare_json", ..WILD },
    Dialect {
        name: "guided_named",
        families: "servers that constrain to one tool",
        call: "{arguments}",
        ..WILD
    },
    Dialect {
        name: "guided_required",
        families: "servers that constrain to a list",
        section: ("[", "]"),
        call: "{\"name\": \"{name}\", \"parameters\": {arguments}}",
        join: ", ",
        ..WILD
    },
    Dialect { name: "args_only", call: "{arguments}", ..WILD },
    Dialect { name: "fenced_json", section: ("```json\n", "\n```"), join: "\n", ..WILD },
    Dialect {
        name: "named_fence",
        families: "Grok",
        form: Form::Named,
        call: "```tool {name}\n{arguments}\n```",
        join: "\n",
        ..WILD
    },
    Dialect {
        name: "bracket",
        families: "LM Studio",
        source: EXPLICIT,
        marks: &["[TOOL_REQUEST]", "[TOOL_CALL]"],
        call: "[TOOL_REQUEST]{\"name\": \"{name}\", \"arguments\": {arguments}}[END_TOOL_REQUEST]",
        join: "\n",
        ..WILD
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
        ..WILD
    },
    Dialect {
        name: "attr_tag",
        families: "ChatCLI",
        source: EXPLICIT,
        form: Form::Attributes,
        marks: &["<tool_call>", "<tool>"],
        call: "<tool_call name=\"{name}\" args='{arguments}'/>",
        join: "\n",
        ..WILD
    },
    Dialect {
        name: "react",
        families: "ReAct prompts",
        form: Form::Lines,
        marks: &["Action:"],
        call: "Action: {name}\nAction Input: {arguments}",
        join: "\n",
        ..WILD
    },
    Dialect {
        name: "functions_prefix",
        families: "Kimi, gpt-oss without their tokens",
        form: Form::Named,
        marks: &["functions."],
        call: "functions.{name}:{index}{arguments}",
        join: "\n",
        ..WILD
    },
    Dialect { name: "code_agent", families: "smolagents", form: Form::Lines, on: false, call: "", ..WILD },
    Dialect {
        name: "slash_shorthand",
        form: Form::Lines,
        on: false,
        call: "{name}/{arguments}",
        join: "\n",
        ..WILD
    },
    Dialect {
        name: "yaml",
        form: Form::Lines,
        on: false,
        values: Values::Raw,
        call: "tool: {name}\n{parameters}",
        parameter: "{key}: {value}\n",
        join: "---\n",
        ..WILD
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
        join: "\n",
        ..WILD
    },
    Dialect {
        name: "md_bold",
        form: Form::Lines,
        on: false,
        values: Values::Raw,
        call: "**Tool:** {name}{parameters}",
        parameter: "  **{key}:** {value}",
        join: "\n",
        ..WILD
    },
    Dialect {
        name: "prefix_line",
        form: Form::Named,
        marks: &["TOOL:", "CALL"],
        call: "TOOL: {name} {arguments}",
        join: "\n",
        ..WILD
    },
];

/// Every dialect, in the order of the table.
pub fn dialects() -> &'static [Dialect] {
    DIALECTS
}

/// The row of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|row| row.name == name)
}

/// Markers that are always closed: without the closer the output was cut.
const CLOSED: &[&str] = &[
    "<|tool_call_begin|>",
    "<|tool_calls_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_start|>",
    "<|tool_call>",
    "<|tool_call:begin|>",
    "<start_function_call>",
    "<|action_start|>",
    "<|START_ACTION|>",
    "<|tools_prefix|>",
    "[TOOL_REQUEST]",
    "<|message|>",
    "<tool_call>",
    "<tool_calls>",
    "<toolcall>",
    "<seed:tool_call>",
    "<longcat_tool_call>",
    "<minimax:tool_call>",
    "<dots_function_call>",
    "<function_calls>",
];

/// Whether calls behind this marker are always closed.
pub(crate) fn is_closed(mark: &str) -> bool {
    CLOSED.contains(&mark)
}

/// The name for a call of this form behind these markers.
pub(crate) fn name_of(seen: &[String], form: Form) -> &'static str {
    let marked = DIALECTS.iter().filter(|row| row.form == form);
    let best = marked
        .filter(|row| row.marks.iter().any(|mark| seen.iter().any(|seen| seen == mark)))
        .map(|row| row.name);
    best.last_or_first(form)
}

trait LastOrFirst {
    fn last_or_first(self, form: Form) -> &'static str;
}

impl<I: Iterator<Item = &'static str>> LastOrFirst for I {
    fn last_or_first(mut self, form: Form) -> &'static str {
        self.next().unwrap_or(match form {
            Form::Json => "bare_json",
            Form::Named => "prefix_line",
            Form::Tagged => "anthropic_xml",
            Form::Pairs => "glm47",
            Form::Element => "agent_tags",
            Form::Attributes => "attr_tag",
            Form::Python => "pythonic",
            Form::Gemma => "gemma4",
            Form::Channel => "harmony",
            Form::Lines => "react",
        })
    }
}
