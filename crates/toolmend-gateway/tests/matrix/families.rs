//! How model families write calls, with the mistakes that each is known for.

use serde_json::{Value, json};

/// One output of a model, and what it means.
pub(crate) struct Case {
    pub(crate) family: &'static str,
    pub(crate) model: &'static str,
    pub(crate) text: &'static str,
    pub(crate) content: &'static str,
    pub(crate) calls: Vec<(&'static str, Value)>,
}

#[expect(clippy::too_many_lines, reason = "a table with one row per family")]
pub(crate) fn cases() -> Vec<Case> {
    let weather = || vec![("get_weather", json!({"city": "Rome", "days": 3}))];
    let write = |content: &str| vec![("write_file", json!({"path": "a.html", "content": content}))];
    let case = |family, model, text, content, calls| Case { family, model, text, content, calls };
    vec![
        case(
            "hermes",
            "Qwen/Qwen3-8B",
            "Let me look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": 3}}\n</tool_call>",
            "Let me look.",
            weather(),
        ),
        case(
            "hermes",
            "Qwen/Qwen3-8B",
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": \"3\",}}\n</tool_call>",
            "",
            weather(),
        ),
        case(
            "hermes",
            "NousResearch/Hermes-3",
            "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a.html\", \"content\": \"<a href=\"x\">hi</a>\"}}\n</tool_call>",
            "",
            write("<a href=\"x\">hi</a>"),
        ),
        case(
            "qwen-coder",
            "Qwen/Qwen3-Coder-30B",
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
            "",
            weather(),
        ),
        case(
            "qwen-coder",
            "Qwen/Qwen3-Coder-30B",
            "I write it.\n<function=write_file>\n<parameter=path>\na.html\n</parameter>\n<parameter=content>\n<b>\"hi\"</b>\n</parameter>\n</function>\n</tool_call>",
            "I write it.",
            write("<b>\"hi\"</b>"),
        ),
        case(
            "mistral",
            "mistralai/Mistral-Small-3.2",
            "[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": 3}}]",
            "",
            weather(),
        ),
        case(
            "mistral",
            "mistralai/Devstral-Small",
            "[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Rome\", \"days\": 3}",
            "",
            weather(),
        ),
        case(
            "llama",
            "meta-llama/Llama-3.1-8B-Instruct",
            "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Rome\", \"days\": \"3\"}}",
            "",
            weather(),
        ),
        case(
            "llama",
            "meta-llama/Llama-3.2-3B-Instruct",
            "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Rome\", \"days\": 3}}",
            "",
            weather(),
        ),
        case("llama-4", "meta-llama/Llama-4-Scout", "[get_weather(city=\"Rome\", days=3)]", "", weather()),
        case(
            "deepseek",
            "deepseek-ai/DeepSeek-V3.1",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": \"Rome\", \"days\": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "",
            weather(),
        ),
        case(
            "deepseek",
            "deepseek-ai/DeepSeek-R1-0528",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{\"city\": \"Rome\", \"days\": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "",
            weather(),
        ),
        case(
            "glm",
            "zai-org/GLM-4.6",
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
            "",
            weather(),
        ),
        case(
            "kimi",
            "moonshotai/Kimi-K2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{\"city\": \"Rome\", \"days\": 3}<|tool_call_end|><|tool_calls_section_end|>",
            "",
            weather(),
        ),
        case(
            "minimax",
            "MiniMaxAI/MiniMax-M2",
            "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Rome</parameter>\n<parameter name=\"days\">3</parameter>\n</invoke>\n</minimax:tool_call>",
            "",
            weather(),
        ),
        case(
            "harmony",
            "openai/gpt-oss-20b",
            "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\":\"Rome\",\"days\":3}<|call|>",
            "",
            weather(),
        ),
        case(
            "granite",
            "ibm-granite/granite-3.3-8b",
            "<|tool_call|>[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": 3}}]",
            "",
            weather(),
        ),
        case(
            "two calls",
            "Qwen/Qwen3-8B",
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": 3}}\n</tool_call>\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>",
            "",
            vec![weather().remove(0), ("get_weather", json!({"city": "Oslo"}))],
        ),
        case(
            "plain",
            "any",
            "Rome is warm, I think: 25 °C.\n\nIs <that> fine?",
            "Rome is warm, I think: 25 °C.\n\nIs <that> fine?",
            Vec::new(),
        ),
    ]
}
