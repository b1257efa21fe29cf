//! Rows that a user adds to the table, and ids of models.
//!
//! A row says how calls are written. What its markers mean follows from their position in its templates. Compiling a
//! row checks its templates; `stream::custom_check` then checks that the row reads back the calls that it writes,
//! because only the stream can read.

mod json_shape;
mod marker_roles;
mod template;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use regex::bytes::Regex;
use serde::Deserialize;

pub(crate) use self::json_shape::{JsonShape, ShapedCall};
use self::marker_roles::{Markers, Templates};
pub(crate) use self::template::hole;
use super::models;
use super::table::{self, Dialect, Form, Values};
use super::tag::Tag;
use super::token::{self, Role, Word};

/// Dialects that you define, which are read before the built-in ones.
///
/// They are deserialised from a file with rows and model ids. In the templates of a row, `{name}`, `{arguments}`,
/// `{parameters}`, `{id}`, `{index}`, `{key}`, `{value}`, `{string}` and `{type}` are filled in. A row needs a marker
/// that no other row has: a token that begins with `<`, `[` or `✿`, or the name of a tag, with or without a namespace. A row is accepted if it reads back the calls that it
/// writes: the same names and arguments, without a repair. Otherwise deserialisation fails with a [`DialectError`].
///
/// ```
/// use toolmend::{Finish, Mender, CustomDialects, TurnOptions};
/// // The same keys as in a TOML file, under `[[dialect]]` and `[[model]]`.
/// let custom: CustomDialects = serde_json::from_value(serde_json::json!({
///     "dialect": [{
///         "name": "acme",
///         "families": "Acme 7B",
///         "models": ["acme-[0-9]+b"],
///         "call": "<|acme|>{name}<|with|>{arguments}<|done|>",
///         "reasoning": ["<ponder>", "</ponder>"],
///     }],
///     "model": [{"id": "our-finetune", "dialect": "qwen3_xml"}],
/// })).unwrap();
///
/// let mender = Mender::builder().tools(&serde_json::json!(["get_time"])).dialects(custom).build().unwrap();
/// let text = "<ponder>What time is it?</ponder>One moment.<|acme|>get_time<|with|>{zone: 'CET'}<|done|>";
/// let turn = mender.turn(text, &TurnOptions::new(), Finish::Stop);
/// assert_eq!((turn.content.as_str(), turn.calls[0].dialect), ("One moment.", "acme"));
/// assert_eq!(turn.calls[0].arguments(), Some(r#"{"zone": "CET"}"#));
/// ```
#[derive(Clone, Default)]
pub struct CustomDialects {
    inner: Arc<CustomTable>,
}

/// Why a row or an id of [`CustomDialects`] cannot be used.
///
/// It names the row or the id, what was expected and what was found. Deserialisation reports it as its error.
///
/// ```
/// use toolmend::CustomDialects;
/// let row = serde_json::json!({"dialect": [{"name": "acme", "call": "<fn:{name}>{arguments}</fn>"}]});
/// let error = serde_json::from_value::<CustomDialects>(row).unwrap_err();
/// assert!(error.to_string().starts_with(r#"dialect "acme": expected a tag such as <word={name}>"#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectError {
    place: String,
    message: String,
}

impl DialectError {
    /// An error about the row of this name.
    pub(crate) fn of_row(name: &str, message: String) -> Self {
        DialectError { place: format!("dialect {name:?}"), message }
    }
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for DialectError {}

/// The content of a file of custom dialects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DialectFile {
    #[serde(default)]
    dialect: Vec<Row>,
    #[serde(default)]
    model: Vec<ModelEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    #[serde(default)]
    families: String,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    section: (String, String),
    call: String,
    #[serde(default)]
    join: String,
    #[serde(default)]
    parameter: String,
    #[serde(default)]
    values: ValueNotation,
    #[serde(default)]
    reasoning: (String, String),
    #[serde(default)]
    prompt_opens_reasoning: bool,
    #[serde(default)]
    stop: Vec<String>,
}

/// How strings are written as values in tags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ValueNotation {
    /// Unchanged.
    #[default]
    Raw,
    /// In quotes, with the escapes of JSON.
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    id: String,
    dialect: String,
    /// The prompt of these models opens the reasoning.
    #[serde(default)]
    reasoning_open: bool,
}

/// What readers ask about custom rows.
#[derive(Debug, Default)]
pub(crate) struct CustomTable {
    source: DialectFile,
    rows: Vec<&'static Dialect>,
    models: Vec<(Regex, &'static Dialect)>,
    /// Models whose prompt opens the reasoning, or does not. The first that matches counts.
    reasoning_starts: Vec<(Regex, bool)>,
    pub(crate) tokens: Vec<(&'static str, Role)>,
    /// Some of the tokens are in the position of tags.
    pub(crate) has_tag_tokens: bool,
    /// Words of tags, with their namespaces.
    words: Vec<(&'static str, &'static str, Word)>,
    namespaces: Vec<&'static str>,
    barred_namespaces: Vec<&'static str>,
}

impl CustomTable {
    /// The row of this name, custom or built-in.
    pub(crate) fn by_name(&self, name: &str) -> Option<&'static Dialect> {
        self.rows.iter().copied().find(|row| row.name == name).or_else(|| table::by_name(name))
    }

    /// The row that models with this id write.
    pub(crate) fn of_model(&self, id: &str) -> Option<&'static Dialect> {
        let plain = models::plain(id);
        let custom =
            self.models.iter().find(|(pattern, _)| pattern.is_match(plain.as_bytes())).map(|&(_, row)| row);
        custom.or_else(|| models::dialect_of(id).and_then(table::by_name))
    }

    /// Whether the user says that the prompt of this model opens the reasoning.
    pub(crate) fn opens_reasoning(&self, id: &str) -> bool {
        let plain = models::plain(id);
        let known = self.reasoning_starts.iter().find(|(pattern, _)| pattern.is_match(plain.as_bytes()));
        known.is_some_and(|&(_, open)| open)
    }

    /// The row for a call of this form after these markers.
    pub(crate) fn row_of(&self, seen: &[String], form: Form) -> &'static Dialect {
        self.custom_row(seen).unwrap_or_else(|| table::row_of(seen, form))
    }

    /// The meaning of a word without a namespace, in a custom row or in the built-in table.
    pub(crate) fn meaning(&self, word: &str) -> Option<Word> {
        self.custom_word("", word).or_else(|| token::word(word))
    }

    /// The meaning of a tag, in a custom row or in the built-in table.
    pub(crate) fn meaning_of(&self, tag: &Tag<'_>) -> Option<Word> {
        self.custom_word(tag.space, tag.word).or_else(|| token::word(tag.word))
    }

    /// Whether the word of a tag is spelt letter by letter as a row spells it.
    pub(crate) fn is_spelt(&self, tag: &Tag<'_>) -> bool {
        self.custom_word(tag.space, tag.word).is_some() || token::is_spelt(tag.word)
    }

    fn custom_word(&self, space: &str, word: &str) -> Option<Word> {
        let same = |(known_space, known, _): &&(&str, &str, Word)| {
            *known_space == space && known.eq_ignore_ascii_case(word)
        };
        self.words.iter().find(same).map(|&(_, _, meaning)| meaning)
    }

    /// Namespaces of custom rows that end in a colon or a full stop.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &&'static str> {
        self.namespaces.iter()
    }

    /// Namespaces of custom rows that end in a bar.
    pub(crate) fn barred_namespaces(&self) -> impl Iterator<Item = &&'static str> {
        self.barred_namespaces.iter()
    }

    /// The custom row that one of these markers belongs to.
    fn custom_row(&self, seen: &[String]) -> Option<&'static Dialect> {
        let marked = |row: &&Dialect| row.marks.iter().any(|mark| seen.iter().any(|seen| seen == mark));
        self.rows.iter().copied().find(marked)
    }

    /// Where the parts of a call are in the JSON after these markers, if a custom row says so.
    pub(crate) fn json_shape(&self, seen: &[String]) -> Option<JsonShape> {
        self.custom_row(seen).and_then(|row| row.json_shape)
    }

    /// The fixed words before the name of a call after these markers.
    pub(crate) fn lead(&self, seen: &[String]) -> &'static str {
        self.custom_row(seen).map_or("", |row| row.lead)
    }

    /// The fixed words that a built-in row may have before the name, with the mark of that row. Other rows have the same
    /// markers, so the words only count before the name of a declared tool.
    pub(crate) fn optional_lead(&self, seen: &[String]) -> Option<(&'static str, &'static str)> {
        if self.custom_row(seen).is_some() { None } else { table::optional_lead(seen) }
    }

    /// Whether calls after this marker are always closed.
    pub(crate) fn is_closed(&self, mark: &str) -> bool {
        self.rows.iter().any(|row| row.marks.contains(&mark)) || table::is_closed(mark)
    }

    /// A table without rows.
    pub(crate) fn empty() -> &'static Self {
        static EMPTY: CustomTable = CustomTable {
            source: DialectFile { dialect: Vec::new(), model: Vec::new() },
            rows: Vec::new(),
            models: Vec::new(),
            reasoning_starts: Vec::new(),
            tokens: Vec::new(),
            has_tag_tokens: false,
            words: Vec::new(),
            namespaces: Vec::new(),
            barred_namespaces: Vec::new(),
        };
        &EMPTY
    }

    fn add(&mut self, row: &Row) -> Result<(), DialectError> {
        let place = format!("dialect {:?}", row.name);
        let error = |message: String| DialectError { place: place.clone(), message };
        if row.name.is_empty() || self.by_name(&row.name).is_some() {
            return Err(error("expected a name that no other row has".to_owned()));
        }
        let form = form(row).map_err(&error)?;
        let templates = Templates {
            form,
            section: (&row.section.0, &row.section.1),
            call: &row.call,
            parameter: &row.parameter,
            reasoning: (&row.reasoning.0, &row.reasoning.1),
            stop: &row.stop,
        };
        let markers = Markers::of(&templates).map_err(&error)?;
        let marks = marks_of_calls(&markers);
        if marks.is_empty() {
            let advice = "expected a marker that no other row has; if a built-in row fits, give it the model's id \
                          under [[model]]";
            return Err(error(advice.to_owned()));
        }
        let shape = if form == Form::Json { JsonShape::of(&row.call) } else { None };
        let kept = keep_row(&Dialect {
            name: keep_text(&row.name),
            families: keep_text(&row.families),
            reasoning: if row.reasoning.0.is_empty() { "none" } else { keep_text(&row.reasoning.0) },
            marks: keep_list(marks),
            section: (keep_text(&row.section.0), keep_text(&row.section.1)),
            call: keep_text(&row.call),
            join: keep_text(&row.join),
            parameter: keep_text(&row.parameter),
            form,
            values: values(form, row),
            lead: keep_text(&markers.lead),
            json_shape: shape,
            prompt_opens_reasoning: row.prompt_opens_reasoning,
            ..table::ROW
        });
        self.rows.push(kept);
        self.keep_markers(&markers);
        row.models.iter().try_for_each(|id| self.add_model(id, &row.name))
    }

    fn keep_markers(&mut self, markers: &Markers) {
        self.tokens.extend(markers.tokens.iter().map(|(spelling, role)| (keep_text(spelling), *role)));
        let tags = |(_, role): &(&str, Role)| matches!(role, Role::OpenTag(_) | Role::CloseTag(_));
        self.has_tag_tokens = self.tokens.iter().any(tags);
        let words = markers.words.iter();
        self.words.extend(words.map(|(space, word, meaning)| (keep_text(space), keep_text(word), *meaning)));
        for space in &markers.namespaces {
            let list = if space.ends_with('|') { &mut self.barred_namespaces } else { &mut self.namespaces };
            list.push(keep_text(space));
        }
    }

    fn add_model(&mut self, id: &str, dialect: &str) -> Result<(), DialectError> {
        let error = |message: String| DialectError { place: format!("model {id:?}"), message };
        let row = self.by_name(dialect).ok_or_else(|| {
            error(format!(
                "expected the name of a dialect, found {dialect:?}; `toolmend dialects` lists them"
            ))
        })?;
        let pattern = models::compile_pattern(id).map_err(|problem| error(problem.to_string()))?;
        self.models.push((pattern, row));
        Ok(())
    }
}

/// The markers that show that a call belongs to the row, in the spelling of the readers.
fn marks_of_calls(markers: &Markers) -> Vec<&'static str> {
    let of_calls = |role: &Role| {
        !matches!(role, Role::Begin(_) | Role::End | Role::Noise | Role::Tail | Role::CloseTag(_))
    };
    let tokens =
        markers.tokens.iter().filter(|(_, role)| of_calls(role)).map(|(spelling, _)| keep_text(spelling));
    let words = markers.words.iter().filter(|(_, _, word)| *word != Word::Think);
    let tags = words.map(|(space, word, _)| keep_text(&format!("<{space}{}>", word.to_ascii_lowercase())));
    tokens.chain(tags).collect()
}

/// The form that a row's templates show.
fn form(row: &Row) -> Result<Form, String> {
    let holds = |hole: &str| row.call.contains(&format!("{{{hole}}}"));
    if !holds("name") {
        return Err(format!("expected {{name}} in the call, found {:?}", row.call));
    }
    match (holds("arguments"), holds("parameters")) {
        (true, false) if row.call.contains("\"{name}\"") && JsonShape::of(&row.call).is_some() => {
            Ok(Form::Json)
        }
        (true, false) => Ok(Form::Named),
        (false, true) if row.call.contains("{name}({parameters})") => Ok(Form::Python),
        (false, true) if !(row.parameter.contains("{key}") && row.parameter.contains("{value}")) => {
            Err(format!("expected {{key}} and {{value}} in the parameter, found {:?}", row.parameter))
        }
        (false, true) if row.parameter.trim() == "{key}=\"{value}\"" => Ok(Form::Attributes),
        (false, true) if template::has_key_apart(&row.parameter)? => Ok(Form::Pairs),
        (false, true) => Ok(Form::Tagged),
        _ => Err(format!("expected {{arguments}} or {{parameters}} in the call, found {:?}", row.call)),
    }
}

fn values(form: Form, row: &Row) -> Values {
    match form {
        Form::Json | Form::Named => Values::Json,
        Form::Python => Values::Python,
        Form::Attributes => Values::Attribute,
        _ if row.values == ValueNotation::Json => Values::Json,
        _ if row.parameter.contains("{string}") => Values::Flagged,
        _ if row.parameter.contains("{type}") => Values::Typed,
        _ => Values::Raw,
    }
}

/// Returns the stored copy of a value. Rows live as long as the program, like those of the built-in table. Equal values
/// are stored once, so that reading a file repeatedly does not leak.
fn keep_once<T: PartialEq + ?Sized>(store: &Mutex<Vec<&'static T>>, value: Box<T>) -> &'static T {
    let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = store.iter().find(|known| ***known == *value) {
        return known;
    }
    let value: &'static T = Box::leak(value);
    store.push(value);
    value
}

fn keep_text(text: &str) -> &'static str {
    static TEXTS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    keep_once(&TEXTS, text.into())
}

fn keep_list(texts: Vec<&'static str>) -> &'static [&'static str] {
    static LISTS: Mutex<Vec<&'static [&'static str]>> = Mutex::new(Vec::new());
    keep_once(&LISTS, texts.into_boxed_slice())
}

fn keep_row(row: &Dialect) -> &'static Dialect {
    static ROWS: Mutex<Vec<&'static Dialect>> = Mutex::new(Vec::new());
    keep_once(&ROWS, Box::new(*row))
}

impl CustomDialects {
    /// Compiles the rows and ids of a file, in their order. It does not check that they are read back.
    pub(crate) fn compile(source: DialectFile) -> Result<Self, DialectError> {
        let mut custom = CustomTable::default();
        source.dialect.iter().try_for_each(|row| custom.add(row))?;
        for model in &source.model {
            custom.add_model(&model.id, &model.dialect)?;
            let pattern = custom.models.last().map(|(pattern, _)| pattern.clone());
            custom.reasoning_starts.extend(pattern.map(|pattern| (pattern, model.reasoning_open)));
        }
        custom.source = source;
        Ok(CustomDialects { inner: Arc::new(custom) })
    }

    /// The custom rows, in the order of the file.
    ///
    /// ```
    /// use toolmend::CustomDialects;
    /// let file = serde_json::json!({"dialect": [{"name": "acme", "call": "<|do|>{name}<|with|>{arguments}<|done|>"}]});
    /// let dialects: CustomDialects = serde_json::from_value(file).unwrap();
    /// assert_eq!(dialects.rows().next().unwrap().name(), "acme");
    /// ```
    pub fn rows(&self) -> impl Iterator<Item = &'static Dialect> {
        self.inner.rows.iter().copied()
    }

    /// These dialects, and more. Where both say something about a model, these are right.
    ///
    /// # Errors
    /// If two rows have the same name or use a marker in different ways.
    ///
    /// ```
    /// use toolmend::CustomDialects;
    /// let file = |name: &str, open: &str| serde_json::json!({
    ///     "dialect": [{"name": name, "call": format!("<|{open}|>{{name}}<|with|>{{arguments}}<|done|>")}],
    /// });
    /// let acme: CustomDialects = serde_json::from_value(file("acme", "do")).unwrap();
    /// let zeta: CustomDialects = serde_json::from_value(file("zeta", "act")).unwrap();
    /// assert_eq!(acme.with(&zeta).unwrap().rows().count(), 2);
    /// assert!(acme.with(&acme).is_err());
    /// ```
    pub fn with(&self, more: &CustomDialects) -> Result<Self, DialectError> {
        let mut source = self.inner.source.clone();
        source.dialect.extend(more.inner.source.dialect.iter().cloned());
        source.model.extend(more.inner.source.model.iter().cloned());
        Self::compile(source)
    }

    /// These dialects, without what they say about how an output begins.
    #[cfg(feature = "template")]
    pub(crate) fn without_reasoning_starts(&self) -> Self {
        let mut source = self.inner.source.clone();
        source.model.iter_mut().for_each(|model| model.reasoning_open = false);
        Self::compile(source).unwrap_or_else(|_| self.clone())
    }

    pub(crate) fn table(&self) -> &CustomTable {
        &self.inner
    }
}

impl fmt::Debug for CustomDialects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows().map(Dialect::name)).finish()
    }
}

impl PartialEq for CustomDialects {
    fn eq(&self, other: &Self) -> bool {
        self.inner.source == other.inner.source
    }
}

impl Eq for CustomDialects {}
