//! What was learned from a template, as a file of dialects.

use std::fmt::Write;

use serde_json::{Value, json};

use super::candidates::Attempt;
use super::derive::DerivedRow;
use super::markers::{is_marker, pieces};
use super::reasoning::Start;
use super::turns::Turns;
use crate::dialect::CustomDialects;

/// The dialect of a chat template.
///
/// ```
/// use toolmend::ChatTemplate;
/// let template = ChatTemplate::new(concat!(
///     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
///     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
///     "{% endfor %}<|im_end|>\n{% endfor %}",
///     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
/// ));
/// let learned = template.learn("acme").unwrap();
/// // There is a row for this notation already.
/// assert_eq!((learned.dialect(), learned.is_built_in()), ("hermes_json", true));
/// assert!(!learned.opens_reasoning());
/// ```
#[derive(Debug, Clone)]
pub struct LearnedDialect {
    pub(super) dialect: String,
    pub(super) file: Value,
    pub(super) dialects: CustomDialects,
    pub(super) is_built_in: bool,
    pub(super) opens_reasoning: bool,
    pub(super) stop: String,
    pub(super) probes: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl LearnedDialect {
    /// The name of the dialect: that of a built-in row if one reads what the template writes, and otherwise the name that
    /// was given.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// assert_eq!(learned.dialect(), "hermes_json");
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    pub fn dialect(&self) -> &str {
        &self.dialect
    }

    /// Whether a built-in row reads everything that the template writes.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// assert!(learned.is_built_in());
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    pub fn is_built_in(&self) -> bool {
        self.is_built_in
    }

    /// Whether the prompt opens the reasoning, so that the output begins inside it.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// assert!(!learned.opens_reasoning());
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    pub fn opens_reasoning(&self) -> bool {
        self.opens_reasoning
    }

    /// The text that ends a turn, or an empty text.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// assert_eq!(learned.stop(), "<|im_end|>");
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    pub fn stop(&self) -> &str {
        &self.stop
    }

    /// The probes that the template wrote and the dialect read.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// assert!(!learned.probes().is_empty());
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    pub fn probes(&self) -> &[String] {
        &self.probes
    }

    /// What the template cannot write, and what its notation loses and the schema of a tool restores.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// for note in learned.notes() {
    ///     println!("{note}");
    /// }
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The row, and an entry that selects it for every model.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// let mender = toolmend::Mender::builder().dialects(learned.dialects().clone()).build();
    /// # assert!(mender.is_ok());
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    pub fn dialects(&self) -> &CustomDialects {
        &self.dialects
    }

    /// The same for output that comes from a server. It may have set the reasoning aside already, so nothing is assumed
    /// about how the output begins.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// let mender = toolmend::Mender::builder().dialects(learned.dialects_of_server()).build();
    /// # assert!(mender.is_ok());
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    #[must_use]
    pub fn dialects_of_server(&self) -> CustomDialects {
        self.dialects.without_reasoning_starts()
    }

    /// The same as a TOML file for `--dialects`.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// # let template = concat!(
    /// #     "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}",
    /// #     "{% for call in message.tool_calls or [] %}\n<tool_call>\n{{ call.function | tojson }}\n</tool_call>",
    /// #     "{% endfor %}<|im_end|>\n{% endfor %}",
    /// #     "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    /// # );
    /// let learned = ChatTemplate::new(template).learn("acme")?;
    /// assert!(learned.toml().contains("hermes_json"));
    /// # Ok::<(), toolmend::TemplateError>(())
    /// ```
    pub fn toml(&self) -> String {
        let mut out = String::new();
        for (table, entries) in self.file.as_object().into_iter().flatten() {
            for entry in entries.as_array().into_iter().flatten() {
                let _ = writeln!(out, "{}[[{table}]]", if out.is_empty() { "" } else { "\n" });
                write_fields(&mut out, entry);
            }
        }
        out
    }
}

/// A string, a list of strings or a truth value. All of them are written in TOML as in JSON.
fn toml_value(value: &Value) -> String {
    let text = |value: &Value| value.to_string().replace('\u{7f}', "\\u007f");
    match value.as_array() {
        Some(list) => format!("[{}]", list.iter().map(text).collect::<Vec<_>>().join(", ")),
        None => text(value),
    }
}

/// The order in which the fields of a row are written.
const FIELDS: &[&str] = &[
    "name",
    "families",
    "models",
    "id",
    "dialect",
    "section",
    "call",
    "join",
    "parameter",
    "reasoning",
    "stop",
    "reasoning_open",
];

fn write_fields(out: &mut String, entry: &Value) {
    for (field, value) in FIELDS.iter().filter_map(|field| Some((field, entry.get(field)?))) {
        let _ = writeln!(out, "{field} = {}", toml_value(value));
    }
}

/// The templates of a row, as in a file.
pub(super) fn row_as_toml(row: &DerivedRow) -> String {
    let mut out = String::new();
    write_fields(&mut out, &templates(row));
    out
}

/// The file with a derived row, and with what selects it.
pub(super) fn file_of_row(name: &str, row: &DerivedRow, turns: &Turns) -> Value {
    let mut entry = templates(row);
    entry["name"] = json!(name);
    if let Some(stop) = pieces(&turns.stop).into_iter().find(|piece| is_marker(piece)) {
        entry["stop"] = json!([stop]);
    }
    let mut file = file_of_model(name, turns);
    file["dialect"] = json!([entry]);
    file
}

/// The same file without the marker that ends a turn.
pub(super) fn without_stop(mut file: Value) -> Value {
    if let Some(entry) = file["dialect"].get_mut(0).and_then(Value::as_object_mut) {
        entry.remove("stop");
    }
    file
}

fn templates(row: &DerivedRow) -> Value {
    let mut entry = json!({"call": row.call});
    for (field, (first, second)) in [("section", &row.section), ("reasoning", &row.reasoning)] {
        if !(first.is_empty() && second.is_empty()) {
            entry[field] = json!([first, second]);
        }
    }
    for (field, text) in [("join", &row.join), ("parameter", &row.parameter)] {
        if !text.is_empty() {
            entry[field] = json!(text);
        }
    }
    entry
}

/// The file that selects a dialect for every model.
pub(super) fn file_of_model(dialect: &str, turns: &Turns) -> Value {
    let mut model = json!({"id": ".*", "dialect": dialect});
    if turns.reasoning.start == Start::InReasoning {
        model["reasoning_open"] = json!(true);
    }
    json!({"model": [model]})
}

/// What an attempt says about the template.
pub(super) fn notes(turns: &Turns, attempt: &Attempt) -> Vec<String> {
    let unwritten = turns.unwritten.iter().map(|(probe, problem)| format!("{probe}: {problem}"));
    let mended = attempt.read.iter().filter(|(_, reading)| !reading.repairs.is_empty());
    let mended = mended
        .map(|(probe, reading)| format!("{probe}: read with a repair ({})", reading.repairs.join(", ")));
    unwritten.chain(mended).collect()
}
