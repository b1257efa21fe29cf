//! Which dialect a model writes, according to its id.
//!
//! Markers in the output are stronger evidence than any id. The ids only matter for forms without a marker, and for how
//! an output begins. This module knows ids and names of rows, and nothing about notations.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// Patterns for ids, in which `-` stands for `_` and blanks as well, and the dialect of the models they match. The
/// first match counts.
const MODELS: &[(&str, &str)] = &[
    ("gpt-oss|harmony", "harmony"),
    ("muse[-.]?glimmer|glimmer", "atem"),
    ("inkling", "inkling"),
    ("kimi[-.]?k3", "kimi_k3"),
    ("kimi|moonlight", "kimi_k2"),
    (r"deepseek[-.]?v4[.-]1([-.]|$)", "dsml_v41"),
    ("deepseek[-.]?v4", "dsml_v4"),
    (r"deepseek[-.]?v3\.2[-.]?exp", "deepseek_v31"),
    (r"deepseek[-.]?v3\.2", "dsml_v32"),
    (r"deepseek[-.]?v3\.1", "deepseek_v31"),
    ("r1[-.]?distill", "hermes_json"),
    (r"deepseek[-.]?(r1|v3|v2\.5|chat)|cogito", "deepseek_v3"),
    ("qwen[-.]?3[-.]?coder|qwen3-next-coder", "qwen3_xml"),
    (r"qwen[-.]?3\.[5-9]|ornith", "qwen3_xml"),
    (r"qwen[-.]?3|qwq|qwen[-.]?2\.5|qwen2-5", "hermes_json"),
    (r"qwen[-.]?2|qwen[-.]?1\.5|qwen-(7|14|72)b", "qwen_agent"),
    ("nemotron[-.]?3|nemotron[!-~]*(nano|super)[-.]?v?3|nano[-.]?v3", "qwen3_xml"),
    (
        "nemotron[-.]?nano|nemotron[!-~]*(super|ultra)|nemotron[-.]?deci|llama[!-~]*nemotron",
        "nemotron_toolcall",
    ),
    ("nemotron[-.]?mini", "hermes_json"),
    (r"glm[-.]?(5|4\.[789])", "glm47"),
    (r"glm[-.]?4\.[56]|glm[-.]?ocr", "glm45"),
    ("glm[-.]?4|chatglm|codegeex", "glm4_legacy"),
    (r"(^|[/-])(ling[-.]?3|ring[-.]?2\.6)|bailing[-.]?v?3", "glm47"),
    ("(^|[/-])(ling|ring)[-.]|bailing", "hermes_json"),
    ("hyperclova[!-~]*14b", "hyperclova"),
    (r"spark[-.]?(x?2\.5|3)|hyperclova[!-~]*think", "glm47"),
    ("laguna|poolside", "poolside"),
    ("(^|[/-])hy[-.]?3|hunyuan[-.]?v?3", "hy3"),
    ("hunyuan[!-~]*a13b", "tool_calls_array"),
    ("hunyuan", "hunyuan_dense"),
    ("longcat[-.]?2", "longcat2"),
    ("longcat", "longcat_json"),
    ("telechat3[-.]?coder|telechat[-.]?4|xing(chen)?[-.]?4", "param_key"),
    (r"nanbeige[-.]?4\.2", "qwen3_xml"),
    ("telechat|youtu|nanbeige", "hermes_json"),
    ("minimax[-.]?m3|mm[-.]?m3", "minimax_m3"),
    ("minimax[-.]?(m1|text)", "minimax_m1"),
    ("minimax|mm[-.]?m2", "minimax_m2"),
    ("gemma[-.]?4", "gemma4"),
    ("function[-.]?gemma", "functiongemma"),
    ("gemma3[-.]pythonic", "pythonic"),
    ("gemma", "tool_code"),
    ("hermes", "hermes_json"),
    ("toolace|watt[-.]?tool", "pythonic"),
    ("xlam|(^|[/-])hammer", "xlam"),
    (r"functionary[!-~]*v3\.[2-9]", "functionary_v32"),
    (r"functionary[!-~]*v3\.1", "functionary_v31"),
    ("functionary[!-~]*v2", "functionary_v2"),
    ("firefunction", "functools"),
    ("llama[-.]?4", "pythonic"),
    ("llama[-.]?3", "llama3_json"),
    ("(^|[/-])phi[-.]?4[-.]?mini", "functools"),
    ("(^|[/-])phi[-.]?[0-9]", "bare_json"),
    (r"mistral[-.]?small[-.]?(3\.2|2506)", "mistral_call_id"),
    (
        "ministral[-.]?3|mistral[-.]?(large[-.]?3|small[-.]?4|medium[-.]?3)|devstral|magistral|voxtral",
        "mistral_name_args",
    ),
    ("mistral|mixtral|pixtral|codestral", "mistral_array"),
    (r"granite[-.]?4\.2", "qwen3_xml"),
    ("granite[-.]?4", "granite4_json"),
    ("granite[-.]?20b[-.]?functioncalling", "granite20b_fc"),
    ("granite[-.]?3", "granite3_json"),
    ("command[-.]?(r7b|a[-.0-9]|a$|4)|cohere2|(^|[/-])north[-.]", "cohere_action"),
    ("command[-.]?r|(^|[/-])aya[-.]", "command_r_action"),
    ("jamba|apriel", "tool_calls_array"),
    ("apertus", "apertus"),
    (r"gigachat[-.]?3\.1", "gigachat31"),
    (r"gigachat[-.]?3\.5", "gcml"),
    ("gigachat", "gigachat3"),
    ("intern[-.]?s1|internlm[-.]?[23]", "internlm2"),
    ("seed[-.]?oss|seedoss", "seed_oss"),
    ("doubao", "doubao"),
    ("rwkv", "rwkv"),
    ("step[-.]?audio[-.]?2", "step_audio2"),
    ("step[-.]?3[.p][5-9]", "qwen3_xml"),
    ("step[-.]?3", "step3"),
    ("mimo[-.]?vl|mimo[-.]?7b", "hermes_json"),
    ("mimo", "qwen3_xml"),
    ("minicpm[-.]?5", "minicpm5"),
    ("minicpm[-.]?v[-.]?[4-9]", "qwen3_xml"),
    ("(^|[/-])dots[.-]", "dots"),
    ("lfm[-.]?2", "lfm2"),
    ("olmo[-.]?3", "olmo3"),
    ("sarashina", "sarashina"),
    ("solar[-.]?(open[-.]?2|pro[-.]?4)", "solar_open2"),
    ("solar[-.]?open", "solar_open"),
    ("k2[-.]?(horizon|v3)", "k2_horizon"),
    ("plamo[-.]?3", "plamo3"),
    ("open[-.]?pangu[!-~]*(v2|2\\.)|pangu[-.]?2", "pangu2"),
    ("pangu", "pangu"),
    ("iquest[-.]?coder[-.]?(v?2|[!-~]*v2)|iquest[-.]?q1", "iquest"),
    ("iquest", "qwen3_xml"),
    ("(^|[/-])cwm([-.]|$)", "cwm"),
    ("kolibri|chimera", "hermes_json"),
    ("berrylm|intern[-.]?s2|intellect[-.]?3", "qwen3_xml"),
    (r"ernie[-.]?4\.5[!-~]*thinking|ernie[-.]?x1", "ernie45"),
    ("ernie|trinity|arcee|virtuoso|exaone[-.]?(4|deep)|smollm3|reka|bielik|holo2", "hermes_json"),
    ("falcon[-.]?3|velvet|tinyswallow|ui-tars|selene", "hermes_json"),
    ("(^|[/-])grok", "named_fence"),
    ("mirothinker", "use_mcp_tool"),
    ("claude", "anthropic_xml"),
    ("gemini|palm", "tool_code"),
    ("nexusraven|gorilla", "py_call"),
];

/// Patterns for the ids of models whose template opens the reasoning in the prompt, so that their output starts inside
/// it and only its closing marker is there.
const OPENED: &[&str] = &[
    "minimax[-.]?m2|mm[-.]?m2",
    "nemotron[-.]?nano[!-~]*v?2|nemotron[-.]?3|nano[-.]?v3",
    "step[-.]?3[.p][5-9]",
    "r1[-.]?distill|deepseek[-.]?r1",
    "qwq",
    "qwen[-.]?3[!-~]*thinking",
    r"qwen[-.]?3\.[5-9]",
    r"glm[-.]?(5|4\.[789])",
    "laguna[-.]?s",
    r"(^|[/-])(ling[-.]?3|ring[-.]?2\.6)",
    "iquest",
    r"gigachat[-.]?3\.5[!-~]*reasoning",
    "(^|[/-])cwm([-.]|$)",
    r"ernie[-.]?4\.5[!-~]*thinking|ernie[-.]?x1",
    r"granite[-.]?4\.2",
    "xing[-.]?4",
    r"kimi[-.]?k2[-.]?thinking|kimi[-.]?k2\.[5-9]",
    "olmo[-.]?3[!-~]*think",
    r"lfm[-.]?2\.5[!-~]*thinking",
    "openpangu[-.]?2",
    "k2[-.]?horizon",
    "plamo[-.]?3",
    "solar[-.]?(open[-.]?2|pro[-.]?4)",
    r"apriel[-.]?1\.6",
];

/// What a model writes around its reasoning instead of markers.
#[derive(Debug)]
pub(crate) struct ReasoningWords {
    /// With one of these the output begins.
    pub(crate) openers: &'static [&'static str],
    /// One of these ends the reasoning: at the start of a line, or a special token.
    pub(crate) closers: &'static [&'static str],
    /// Tags that open reasoning anywhere in the text, and not only at the start of a line.
    pub(crate) tags: &'static [&'static str],
}

/// Patterns for the ids of models that reason in words.
const WORDS: &[(&str, ReasoningWords)] = &[
    (
        r"granite[-.]?3\.[23]",
        ReasoningWords {
            openers: &["Here is my thought process:", "Here's my thought process:"],
            closers: &["Here is my response:", "Here's my response:"],
            tags: &[],
        },
    ),
    (
        "apriel",
        ReasoningWords { openers: &["Here are my reasoning steps:\n"], closers: &[], tags: &["thinking"] },
    ),
    (
        "hyperclova[!-~]*14b",
        ReasoningWords { openers: &["/think\n"], closers: &["<|im_end|>\n<|im_start|>assistant"], tags: &[] },
    ),
];

/// The words with which this model begins and ends its reasoning.
// Case: dialects/granite3_json/thought-process
pub(crate) fn reasoning_words(model: &str) -> Option<&'static ReasoningWords> {
    static PATTERNS: LazyLock<Vec<(Regex, &'static ReasoningWords)>> = LazyLock::new(|| {
        WORDS.iter().filter_map(|(pattern, words)| Some((compile_pattern(pattern).ok()?, words))).collect()
    });
    let id = plain(model);
    PATTERNS.iter().find(|(regex, _)| regex.is_match(id.as_bytes())).map(|&(_, words)| words)
}

/// Whether the template of this model opens the reasoning in the prompt.
// Case: dialects/hermes_json/opened-by-the-template
pub(crate) fn opens_reasoning(model: &str) -> bool {
    static OPENS: LazyLock<Vec<Regex>> =
        LazyLock::new(|| OPENED.iter().filter_map(|pattern| compile_pattern(pattern).ok()).collect());
    let id = plain(model);
    OPENS.iter().any(|regex| regex.is_match(id.as_bytes()))
}

static PATTERNS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let compiled =
        MODELS.iter().filter_map(|&(pattern, dialect)| Some((compile_pattern(pattern).ok()?, dialect)));
    compiled.collect()
});

/// Compiles a pattern for ids. Case does not matter.
///
/// Patterns match bytes. The `regex` crate is built without its Unicode tables; without them `.` can match a part of a
/// character, which patterns for `str` do not allow.
pub(super) fn compile_pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).case_insensitive(true).unicode(false).build()
}

/// The id in the spelling of the patterns.
pub(super) fn plain(id: &str) -> String {
    id.replace(['_', ' '], "-")
}

/// Returns the name of the dialect that a model writes, if its id is known.
///
/// Case does not matter, and neither does an organisation in front of the id.
///
/// ```
/// assert_eq!(toolmend::dialect_of("Qwen/Qwen3-Coder-30B-A3B-Instruct"), Some("qwen3_xml"));
/// assert_eq!(toolmend::dialect_of("my-own-model"), None);
/// ```
pub fn dialect_of(model: &str) -> Option<&'static str> {
    let id = plain(model);
    PATTERNS.iter().find(|(regex, _)| regex.is_match(id.as_bytes())).map(|&(_, dialect)| dialect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::table;

    #[test]
    fn every_pattern_compiles_and_names_a_dialect() {
        assert_eq!(PATTERNS.len(), MODELS.len());
        for (pattern, dialect) in MODELS {
            let known = table::by_name(dialect).is_some();
            assert!(
                known,
                "src/dialect/models.rs: {pattern:?} names {dialect:?}, which src/dialect/table does not have"
            );
        }
    }

    #[test]
    fn templates_that_open_the_reasoning_are_known() {
        assert!(OPENED.iter().all(|pattern| compile_pattern(pattern).is_ok()));
        assert!(WORDS.iter().all(|(pattern, _)| compile_pattern(pattern).is_ok()));
        for id in
            ["Qwen/QwQ-32B", "zai-org/GLM-4.7", "Qwen/Qwen3.5-4B", "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"]
        {
            assert!(opens_reasoning(id), "{id}");
        }
        for id in ["Qwen/Qwen3-8B", "zai-org/GLM-4.6", "deepseek-ai/DeepSeek-V3", "openai/gpt-oss-20b"] {
            assert!(!opens_reasoning(id), "{id}");
        }
    }

    #[test]
    fn every_dialect_of_a_model_family_has_an_id() {
        for row in table::dialects().iter().filter(|row| row.has_models) {
            let name = row.name();
            assert!(
                MODELS.iter().any(|(_, dialect)| *dialect == name),
                "no id in src/dialect/models.rs leads to {name:?}; add one, or set `has_models: false` in its row in \
                 src/dialect/table"
            );
        }
    }

    #[test]
    fn ids_are_known_as_people_write_them() {
        for (id, dialect) in [
            ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes_json"),
            ("llama-3-firefunction-v2", "functools"),
            ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek_v31"),
            ("Qwen/Qwen3.5-4B", "qwen3_xml"),
            ("zai-org/GLM-4.6", "glm45"),
            ("mistralai/Mistral-Nemo-Instruct-2407", "mistral_array"),
            ("google/gemma-3-12b-it", "tool_code"),
            ("openai/gpt-oss-20b", "harmony"),
        ] {
            assert_eq!(dialect_of(id), Some(dialect), "{id}");
        }
        assert_eq!(dialect_of("cognitivecomputations/dolphin"), None, "not a phi");
        assert_eq!(dialect_of("starling-lm"), None, "not a ling");
    }
}
