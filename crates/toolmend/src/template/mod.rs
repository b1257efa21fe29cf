//! Dialects learned from chat templates.
//!
//! A chat template writes the turns of a model, calls included, so it shows the notation that the model was trained on.
//!
//! | step | module |
//! |---|---|
//! | render as transformers does | `environment`, `json_dumps`, `python_methods` |
//! | conversations with words that can be found again | `probes` |
//! | cut out the turns of the model, and find its reasoning | `turns`, `reasoning`, `markers` |
//! | ask the built-in rows whether they read them | `candidates` |
//! | otherwise replace the words by holes: a row | `derive` |
//! | or take the turns from a declarative description | `response_template` |
//! | read every turn, whole and in pieces, and what the row writes | `proof` |
//! | a file of dialects, or what failed | `learned`, `source` |
//!
//! A row that reads only some probes is never used. A template that drops calls teaches nothing: the instructions in its
//! prompt are not evidence.

mod candidates;
mod derive;
mod environment;
mod json_dumps;
mod learned;
mod markers;
mod probes;
mod proof;
mod python_methods;
mod reasoning;
mod response_template;
mod source;
mod turns;

use std::fmt::Write;

use serde_json::Value;

use self::candidates::{Attempt, best_built_in, prove_row};
use self::derive::DerivedRow;
use self::environment::Renderer;
pub use self::learned::LearnedDialect;
use self::learned::{file_of_model, file_of_row, notes, row_as_toml, without_stop};
use self::reasoning::Start;
use self::response_template::ResponseTemplate;
pub use self::source::{ChatTemplate, TemplateError};
use self::turns::Turns;
use crate::dialect::CustomDialects;
use crate::mender::MenderBuilder;

impl ChatTemplate {
    /// Finds out how the model of this template writes calls.
    ///
    /// The template writes probes: calls of two tools, nested values, strings with markup, calls without arguments, two
    /// calls in one turn. If a built-in dialect reads them all, it is the answer. Otherwise a row with this `name` is
    /// derived from them. It is accepted if it reads every probe, whole and cut in two at every place, and reads back
    /// what it writes itself.
    ///
    /// # Errors
    /// If the template cannot be rendered, does not write calls, or writes them in a way that no row can express. The
    /// message shows the text of each probe that failed, what it means and how it was read.
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
    pub fn learn(&self, name: &str) -> Result<LearnedDialect, TemplateError> {
        let from_jinja = self.jinja.as_deref().map(|jinja| {
            let renderer = Renderer::new(jinja, &self.tokens)
                .map_err(|problem| TemplateError::new(format!("the template cannot be used: {problem}")))?;
            learn_from_turns(name, &render_presentations(&renderer)?)
        });
        // What a template writes is better evidence than a description, but some templates leave calls out.
        let from_description = self.response_template.as_ref().map(|description| {
            let described = ResponseTemplate::read(description).map_err(TemplateError::new)?;
            learn_from_turns(name, &[described.turns()])
        });
        match (from_jinja, from_description) {
            (Some(Ok(learned)), _) | (_, Some(Ok(learned))) => Ok(learned),
            (Some(Err(jinja)), Some(Err(description))) => {
                Err(TemplateError::new(format!("{jinja}\nand from `response_template`: {description}")))
            }
            (Some(Err(error)), None) | (None, Some(Err(error))) => Err(error),
            (None, None) => Err(TemplateError::new("expected a chat template or a `response_template`")),
        }
    }
}

/// Finds the dialect of turns, which may be presented in several ways.
fn learn_from_turns(name: &str, presentations: &[Turns]) -> Result<LearnedDialect, TemplateError> {
    let mut built_in: Vec<Attempt> = Vec::new();
    for turns in presentations {
        built_in.push(best_built_in(turns));
        if built_in.last().is_some_and(Attempt::is_clean) {
            break;
        }
    }
    let both = || presentations.iter().zip(&built_in);
    let clean = both().find(|(_, attempt)| attempt.is_clean());
    if let Some((turns, attempt)) = clean.or_else(|| both().find(|(_, attempt)| attempt.is_proved())) {
        let file = file_of_model(attempt.dialect, turns);
        return learned(attempt, turns, file, true);
    }
    let mut problems = String::new();
    for (turns, closest) in both() {
        match learn_row(name, turns) {
            Ok(learned) => return Ok(learned),
            Err(problem) if problems.is_empty() => problems = describe_failure(&problem, closest),
            Err(_) => {}
        }
    }
    Err(TemplateError::new(problems))
}

/// Derives a row and proves it.
fn learn_row(name: &str, turns: &Turns) -> Result<LearnedDialect, Box<RowProblem>> {
    let row = DerivedRow::new(turns).map_err(|problem| Box::new(RowProblem::Underivable(problem)))?;
    let mut file = file_of_row(name, &row, turns);
    let refused = |error: serde_json::Error| Box::new(RowProblem::Refused(row.clone(), error.to_string()));
    let mut dialects = serde_json::from_value::<CustomDialects>(file.clone());
    if dialects.is_err() {
        // What ends a turn may have a meaning already.
        file = without_stop(file);
        dialects = serde_json::from_value(file.clone());
    }
    let dialects = dialects.map_err(refused)?;
    let Some(kept) = dialects.rows().next() else {
        return Err(Box::new(RowProblem::Underivable("the row is empty".to_owned())));
    };
    let attempt = prove_row(&dialects, kept, turns);
    if !attempt.is_proved() {
        return Err(Box::new(RowProblem::Unproved(row, attempt)));
    }
    learned(&attempt, turns, file, false)
        .map_err(|error| Box::new(RowProblem::Refused(row, error.to_string())))
}

/// Why there is no row.
enum RowProblem {
    /// What the template writes is no notation that a row can have.
    Underivable(String),
    /// The row has markers that mean something else, or is not read back.
    Refused(DerivedRow, String),
    /// The row does not read every probe.
    Unproved(DerivedRow, Attempt),
}

/// What the template writes if arguments are objects, and if they are text.
fn render_presentations(renderer: &Renderer) -> Result<Vec<Turns>, TemplateError> {
    let mut found: Vec<Turns> = Vec::new();
    let mut problem = None;
    for shape in probes::shapes() {
        if found.iter().any(|turns| turns.shape.text_arguments == shape.text_arguments) {
            continue;
        }
        match Turns::render(renderer, shape) {
            Ok(turns) => found.push(turns),
            Err(error) => _ = problem.get_or_insert(error),
        }
    }
    match problem {
        Some(problem) if found.is_empty() => Err(TemplateError::new(format!(
            "the template shows no calls: {problem}. What its prompt says about calls is no evidence of how they are \
             written"
        ))),
        _ => Ok(found),
    }
}

fn learned(
    attempt: &Attempt,
    turns: &Turns,
    file: Value,
    is_built_in: bool,
) -> Result<LearnedDialect, TemplateError> {
    let dialects =
        serde_json::from_value(file.clone()).map_err(|error| TemplateError::new(error.to_string()))?;
    Ok(LearnedDialect {
        dialect: attempt.dialect.to_owned(),
        file,
        dialects,
        is_built_in,
        opens_reasoning: turns.reasoning.start == Start::InReasoning,
        stop: turns.stop.clone(),
        probes: turns.written.iter().map(|turn| turn.probe.name.to_owned()).collect(),
        notes: notes(turns, attempt),
    })
}

/// How many failed probes are shown in full.
const SHOWN_FAILURES: usize = 3;

fn describe_failure(problem: &RowProblem, closest: &Attempt) -> String {
    let mut out = String::from("no dialect reads everything that the template writes\n");
    let row = match problem {
        RowProblem::Underivable(problem) => {
            let _ = writeln!(out, "no row can be derived: {problem}");
            None
        }
        RowProblem::Refused(row, problem) => {
            let _ = writeln!(out, "the derived row is refused: {problem}");
            Some(row)
        }
        RowProblem::Unproved(row, attempt) => {
            let _ = writeln!(out, "the derived row does not read every probe");
            write_failures(&mut out, attempt);
            Some(row)
        }
    };
    if let Some(row) = row {
        out.push_str("the derived row:\n");
        for line in row_as_toml(row).lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    if closest.read.is_empty() {
        out.push_str("no built-in dialect reads any probe\n");
    } else {
        let all = closest.read.len() + closest.failed.len();
        let _ = writeln!(
            out,
            "the built-in dialect {:?} reads {} of {all} probes",
            closest.dialect,
            closest.read.len()
        );
    }
    write_failures(&mut out, closest);
    out.truncate(out.trim_end().len());
    out
}

fn write_failures(out: &mut String, attempt: &Attempt) {
    for (probe, mismatch) in attempt.failed.iter().take(SHOWN_FAILURES) {
        let _ = writeln!(out, "  {probe}");
        let _ = writeln!(out, "    written:  {:?}", mismatch.text);
        let _ = writeln!(out, "    expected: {}", mismatch.expected);
        let _ = writeln!(out, "    found:    {}", mismatch.found);
    }
    let more = attempt.failed.len().saturating_sub(SHOWN_FAILURES);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more");
    }
}

impl MenderBuilder {
    /// Adds the dialect of a chat template: learns it, and selects it for outputs whose dialect nothing else tells.
    ///
    /// ```
    /// use toolmend::{ChatTemplate, Finish, Mender, TurnOptions};
    /// let template = ChatTemplate::new(concat!(
    ///     "{% for message in messages %}<|{{ message.role }}|>{{ message.content or '' }}",
    ///     "{% for call in message.tool_calls or [] %}",
    ///     "<|act|>{{ call.function.name }}<|with|>{{ call.function.arguments | tojson }}<|done|>",
    ///     "{% endfor %}<|end|>{% endfor %}",
    ///     "{% if add_generation_prompt %}<|assistant|>{% endif %}",
    /// ));
    /// let mender = Mender::builder().tools(&serde_json::json!(["get_time"])).template(&template)?.build()?;
    /// let turn = mender.turn("<|act|>get_time<|with|>{zone: 'CET'}<|done|>", &TurnOptions::new(), Finish::Stop);
    /// assert_eq!(turn.calls[0].arguments(), Some(r#"{"zone": "CET"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If nothing can be learned from the template.
    pub fn template(self, template: &ChatTemplate) -> Result<Self, TemplateError> {
        let learned = template.learn("learned")?;
        let dialects = self.custom_dialects().with(learned.dialects());
        Ok(self.dialects(dialects.map_err(|error| TemplateError::new(error.to_string()))?))
    }
}
