//! The cases under `corpus/dialects`; `corpus/README.md` describes the format.

#![allow(dead_code, reason = "each of the tests uses a part of it")]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use toolmend::{Call, Finish, Mender, Outcome, Policy, Preset, Turn, TurnOptions};

pub(crate) type Checked<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The folder of the cases.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/dialects")
}

/// One case file.
#[derive(Clone)]
pub(crate) struct Case {
    /// Its folder and its name.
    pub(crate) name: String,
    pub(crate) mender: Mender,
    pub(crate) tools: serde_json::Value,
    pub(crate) policy: Policy,
    pub(crate) options: TurnOptions,
    pub(crate) finish: Finish,
    /// How every call was recognised, if the case asks for that.
    pub(crate) source: Option<String>,
    /// Why some part of the input is in no part of the turn.
    pub(crate) dropped: Option<String>,
    pub(crate) input: String,
    pub(crate) expected: CaseTurn,
}

/// A turn in the notation of the cases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CaseTurn {
    pub(crate) content: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<CaseCall>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CaseCall {
    pub(crate) outcome: CaseOutcome,
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    /// The arguments of the call, or what is known of them if it was truncated.
    pub(crate) arguments: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseOutcome {
    Call,
    Cut,
    Rejected,
}

impl Case {
    pub(crate) fn read(path: &Path) -> Checked<Self> {
        let file = fs::read_to_string(path)?;
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = format!("{folder}/{}", path.file_stem().unwrap_or_default().to_string_lossy());
        Self::parse(name, &file)
    }

    fn parse(name: String, file: &str) -> Checked<Self> {
        let (head, body) = file.split_once("--- input\n").ok_or("there is no line `--- input`")?;
        let (input, output) = body.rsplit_once("\n--- output\n").ok_or("there is no line `--- output`")?;
        let mut tools = serde_json::json!([]);
        let mut policy = Policy::preset(Preset::Balanced);
        let mut options = TurnOptions::new();
        let mut finish = Finish::Unknown;
        let (mut source, mut dropped) = (None, None);
        for line in head.lines() {
            let (key, text) = line.split_once(": ").ok_or_else(|| format!("no header: {line:?}"))?;
            match key {
                "what" => {}
                "tools" => tools = read_tools(text)?,
                "dialect" => options = options.dialect(text),
                "model" => options = options.model(text),
                "reasoning_open" => options = options.reasoning_open(text == "true"),
                "tool_choice" => {
                    let choice = toolmend::ToolChoice::from_value(&read_value(text));
                    options = options.tool_choice(choice.ok_or_else(|| format!("no tool choice: {text:?}"))?);
                }
                "response_format" => options = options.response_format(&serde_json::json!({"type": text})),
                "parallel_tool_calls" => options = options.parallel_tool_calls(text == "true"),
                "calls" => options = options.calls(text.parse()?),
                "finish" => finish = Finish::from_reason(text),
                "policy" => policy = Policy::preset(preset(text)?),
                "source" => source = Some(text.to_owned()),
                "dropped" => dropped = Some(text.to_owned()),
                _ => return Err(format!("unknown header {key:?}").into()),
            }
        }
        let mender = Mender::builder().tools(&tools).policy(policy.clone()).build()?;
        let (input, expected) = (input.to_owned(), CaseTurn::parse(output)?);
        Ok(Case { name, mender, tools, policy, options, finish, source, dropped, input, expected })
    }

    /// The turn of the whole input.
    pub(crate) fn turn(&self) -> Turn {
        self.mender.turn(&self.input, &self.options, self.finish)
    }

    /// The dialect that the case belongs to.
    pub(crate) fn folder(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

/// A header that is JSON, or a word.
fn read_value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Every case, ordered by name.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for folder in fs::read_dir(root()).expect("the corpus") {
        let folder = folder.expect("a folder of the corpus").path();
        if !folder.is_dir() {
            continue;
        }
        for file in fs::read_dir(folder).expect("a folder of the corpus") {
            let path = file.expect("a case").path();
            if path.extension().is_some_and(|extension| extension == "case") {
                cases.push(Case::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
            }
        }
    }
    assert!(cases.len() > 400, "the cases were not found");
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

/// The plain cases of the dialects that have their own markup.
pub(crate) fn is_plain(case: &Case) -> bool {
    let shown = case.name.ends_with("/single") || case.name.ends_with("/parallel");
    shown && !["hostile", "agent_tags", "attr_tag"].contains(&case.folder())
}

/// The tags and tokens of these cases that are not part of what is expected.
pub(crate) fn markers(cases: &[Case], wanted: impl Fn(&Case) -> bool) -> Vec<String> {
    let mut markers = Vec::new();
    for case in cases.iter().filter(|case| wanted(case)) {
        let turn = case.expected.to_string();
        let tags = case.input.match_indices(['<', '[', '✿']).filter_map(|(at, _)| tag(&case.input[at..]));
        markers.extend(tags.filter(|tag| !turn.contains(tag)).map(ToOwned::to_owned));
    }
    markers.sort_unstable();
    markers.dedup();
    assert!(markers.len() > 100, "the markers were not found");
    markers
}

/// The tag or token that a text begins with: one word in brackets.
fn tag(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    let closer = match chars.next()? {
        '<' => '>',
        '[' => ']',
        other => other,
    };
    let word = chars.as_str().split_once(closer)?.0;
    let is_token = closer != ']' || word.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c == '/');
    let is_word = word.len() > 4 && !word.contains([' ', '\n', '"', '<', '[', '{']);
    let length = text.len() - chars.as_str().len() + word.len() + closer.len_utf8();
    text.get(..length).filter(|_| is_token && is_word)
}

/// Reads tools. Those that several cases share are in files; others are written in the case.
fn read_tools(text: &str) -> Checked<serde_json::Value> {
    if text.starts_with('[') {
        return Ok(serde_json::from_str(text)?);
    }
    Ok(serde_json::from_str(&fs::read_to_string(root().join("tools").join(text))?)?)
}

fn preset(name: &str) -> Checked<Preset> {
    Ok(match name {
        "off" => Preset::Off,
        "strict" => Preset::Strict,
        "balanced" => Preset::Balanced,
        "eager" => Preset::Eager,
        _ => return Err(format!("no policy is called {name:?}").into()),
    })
}

impl CaseTurn {
    fn parse(output: &str) -> Checked<Self> {
        let mut turn = CaseTurn::default();
        for line in output.lines() {
            let (word, rest) = line.split_once(' ').ok_or_else(|| format!("not understood: {line:?}"))?;
            match word {
                "content" => turn.content = serde_json::from_str(rest)?,
                "reasoning" => turn.reasoning = serde_json::from_str(rest)?,
                "call" => turn.calls.push(CaseCall::parse(CaseOutcome::Call, rest)?),
                "cut" => turn.calls.push(CaseCall::parse(CaseOutcome::Cut, rest)?),
                "rejected" => turn.calls.push(CaseCall::parse(CaseOutcome::Rejected, rest)?),
                _ => return Err(format!("not understood: {line:?}").into()),
            }
        }
        Ok(turn)
    }

    /// Writes the turn in the notation of the cases.
    pub(crate) fn of(turn: &Turn) -> Self {
        CaseTurn {
            content: turn.content.clone(),
            reasoning: turn.reasoning.clone(),
            calls: turn.calls.iter().map(CaseCall::of).collect(),
        }
    }

    /// White space at the ends belongs to the framing, if there is any.
    #[must_use]
    pub(crate) fn trimmed(mut self) -> Self {
        self.content = self.content.trim().to_owned();
        self.reasoning = self.reasoning.trim().to_owned();
        self
    }
}

impl CaseCall {
    fn parse(outcome: CaseOutcome, text: &str) -> Checked<Self> {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (id, arguments) = match rest {
            "" => (None, "{}"),
            rest if rest.starts_with('{') => (None, rest),
            rest => {
                let (id, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
                (Some(id.to_owned()), arguments)
            }
        };
        Ok(CaseCall { outcome, name: name.to_owned(), id, arguments: canonical(arguments)? })
    }

    fn of(call: &Call) -> Self {
        let outcome = match call.outcome() {
            Outcome::Clean | Outcome::Mended => CaseOutcome::Call,
            Outcome::Truncated => CaseOutcome::Cut,
            _ => CaseOutcome::Rejected,
        };
        let known = call.verdict.refusal().and_then(|refusal| refusal.partial.as_deref());
        let arguments = match outcome {
            CaseOutcome::Call => call.arguments(),
            CaseOutcome::Cut => known,
            CaseOutcome::Rejected => None,
        };
        let arguments = canonical(arguments.unwrap_or("{}")).unwrap_or_else(|error| error.to_string());
        CaseCall { outcome, name: call.name.clone(), id: call.id.clone(), arguments }
    }
}

impl fmt::Display for CaseTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, text) in [("content", &self.content), ("reasoning", &self.reasoning)] {
            if !text.is_empty() {
                writeln!(f, "{word} {}", serde_json::Value::from(text.as_str()))?;
            }
        }
        for call in &self.calls {
            writeln!(f, "{call}")?;
        }
        Ok(())
    }
}

impl fmt::Display for CaseCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.outcome {
            CaseOutcome::Call => "call",
            CaseOutcome::Cut => "cut",
            CaseOutcome::Rejected => return write!(f, "rejected {}", self.name),
        };
        write!(f, "{word} {}", self.name)?;
        if let Some(id) = &self.id {
            write!(f, " {id}")?;
        }
        write!(f, " {}", self.arguments)
    }
}

/// JSON without white space between its parts, and with one spelling of every string. Numbers and the order of members
/// must not change, so they are kept.
pub(crate) fn canonical(json: &str) -> Checked<String> {
    serde_json::from_str::<serde::de::IgnoredAny>(json)?;
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' { string_length(rest) } else { first.len_utf8() };
        let (part, after) = rest.split_at(length);
        if first == '"' {
            out.push_str(&serde_json::to_string(&serde_json::from_str::<String>(part)?)?);
        } else if !first.is_ascii_whitespace() {
            out.push(first);
        }
        rest = after;
    }
    Ok(out)
}

/// The length of the string that the text, which is JSON, begins with.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
