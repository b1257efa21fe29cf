//! Dialects learned from chat templates: one template in the style of each group of models, and some with markers that
//! no model has. The first line of a template says what is expected.

use std::fs;
use std::path::Path;

use toolmend::{ChatTemplate, Finish, LearnedDialect, Mender, TemplateError, TurnOptions};

type Learned = Result<LearnedDialect, TemplateError>;

fn templates() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/templates");
    let mut all: Vec<(String, String)> = (fs::read_dir(folder).unwrap().map(Result::unwrap))
        .map(|file| (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap()))
        .collect();
    all.sort();
    all
}

fn learn(name: &str, source: &str) -> Learned {
    let is_json = Path::new(name).extension().is_some_and(|extension| extension == "json");
    let template =
        if is_json { ChatTemplate::from_tokenizer_config(source)? } else { ChatTemplate::new(source) };
    template.learn("learned")
}

/// What the first line of a template, or a member of a configuration, expects: `built-in ROW`, `learned`, each with `, open`, or `error TEXT`.
fn expectation(source: &str) -> &str {
    let (_, rest) =
        source.split_once("expect: ").or(source.split_once("\"expect\": \"")).expect("it says so");
    let end = rest.find(" #}").or(rest.find("\",\n")).expect("it ends on the same line");
    &rest[..end]
}

fn check(expected: &str, learned: &Learned) -> Result<(), String> {
    if let Some(part) = expected.strip_prefix("error ") {
        return match learned {
            Ok(learned) => Err(format!("learned {}", learned.toml())),
            Err(error) if error.to_string().contains(part) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
    }
    let learned = learned.as_ref().map_err(ToString::to_string)?;
    let (dialect, open) = expected.strip_suffix(", open").map_or((expected, false), |rest| (rest, true));
    let found = if learned.is_built_in() {
        format!("built-in {}", learned.dialect())
    } else {
        learned.dialect().to_owned()
    };
    if (found.as_str(), learned.opens_reasoning()) == (dialect, open) {
        Ok(())
    } else {
        Err(format!("{found}, open: {}", learned.opens_reasoning()))
    }
}

/// Some servers pass on what ends a turn.
#[test]
fn what_ends_a_turn_is_not_content() {
    let source = include_str!("templates/own-json.jinja");
    let mender =
        Mender::builder().tools(&serde_json::json!(["get_time"])).template(&ChatTemplate::new(source));
    let mender = mender.unwrap().build().unwrap();
    let text = "Sure.<acme_call>{\"name\": \"get_time\", \"arguments\": {}}</acme_call><|acme_end|>";
    let turn = mender.turn(text, &TurnOptions::new(), Finish::Stop);
    assert_eq!((turn.content.as_str(), turn.calls.len()), ("Sure.", 1));
    assert_eq!(mender.turn("Sure.<|acme_end|>", &TurnOptions::new(), Finish::Stop).content, "Sure.");
}

#[test]
fn every_template_teaches_what_it_should() {
    let mut failures = Vec::new();
    for (name, source) in templates() {
        let learned = learn(&name, &source);
        if let Err(problem) = check(expectation(&source), &learned) {
            failures.push(format!("{name}: expected {}, found {problem}", expectation(&source)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
