//! Generated pages are up to date, and the examples of the pages work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Generates the page of a table and compares it with the file.
#[track_caller]
fn check_page(table: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_toolmend")).args([table, "--format", "markdown"]).output().unwrap();
    let generated = String::from_utf8(output.stdout).unwrap();
    let page = project_path("docs").join(table).with_extension("md");
    let page = fs::read_to_string(page).unwrap_or_default();
    assert!(page == generated, "docs/{table}.md is out of date: run `cargo xtask docs`");
    generated
}

#[test]
fn the_page_of_repairs_is_up_to_date() {
    let page = check_page("repairs");
    for row in toolmend::REPAIRS {
        assert!(page.contains(&format!("| `{}`", row.name)), "{} is missing", row.name);
    }
}

#[test]
fn the_page_of_dialects_is_up_to_date() {
    let page = check_page("dialects");
    for dialect in toolmend::dialects() {
        assert!(page.contains(&format!("\n## {}\n", dialect.name())), "{} is missing", dialect.name());
    }
}

/// Where a file or folder of the project is.
fn project_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The text of a page, by its path in the project.
fn read_page(path: &str) -> String {
    fs::read_to_string(project_path(path)).unwrap()
}

/// Runs every command in the blocks `console` of a page, in one folder that has the examples, and compares what it prints with the
/// page.
#[cfg(unix)]
#[track_caller]
fn check_commands(page: &str, at_least: usize) {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(project_path("examples"), folder.path().join("examples")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_toolmend"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let text = read_page(page);
    let blocks = text.split("```console\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let commands: Vec<_> = blocks.flat_map(|block| block.strip_prefix("$ ").unwrap().split("\n$ ")).collect();
    assert!(commands.len() >= at_least, "{page}: only {} commands were found", commands.len());
    for command in commands {
        let (command, expected) = command.split_once('\n').unwrap_or((command, ""));
        let expected = if expected.is_empty() { String::new() } else { format!("{expected}\n") };
        let command = command.replace("cargo run --release --", "toolmend");
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &command]).current_dir(&folder).env("PATH", &path).output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        assert!(matches(&found, &expected), "{command}\n   shows: {found}\nexpected: {expected}");
    }
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_pages_work() {
    check_commands("README.md", 5);
    check_commands("docs/coming-from.md", 15);
    check_commands("docs/cookbook.md", 15);
    check_commands("docs/index.md", 1);
}

/// The README shows the text that its first command reads.
#[test]
fn the_readme_shows_the_text_of_its_first_command() {
    let text = read_page("examples/leaked-call/answer.txt");
    assert!(read_page("README.md").contains(&format!("```text\n{text}```\n")));
}

/// The image, the service and the manifests start the gateway with flags and variables that it has.
#[test]
fn files_for_deployment_use_flags_that_exist() {
    let output = Command::new(env!("CARGO_BIN_EXE_toolmend")).args(["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let is_known = |word: &str| help.split(|c: char| !is_word(c)).any(|known| known == word);
    for (path, at_least) in [
        ("Dockerfile", 2),
        ("compose.yaml", 2),
        ("deploy/toolmend.service", 3),
        ("deploy/kubernetes/deployment.yaml", 6),
    ] {
        let text = read_page(path);
        let words = text.lines().flat_map(|line| {
            let starts_gateway = line.contains("serve");
            line.split(|c: char| !is_word(c)).filter(move |word| {
                starts_gateway && word.starts_with("--")
                    || word.starts_with("TOOLMEND_")
                    || word.starts_with("OTEL_")
            })
        });
        let words: Vec<&str> = words.collect();
        assert!(words.len() >= at_least, "{path}: only {words:?} were found");
        for word in words {
            assert!(is_known(word), "{path}: `toolmend serve` has no {word}");
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_".contains(c)
}

/// The rows of the tables with this header, as cells, and the name of the section that each is in.
fn table_rows(page: &str, header: &str) -> Vec<(String, Vec<String>)> {
    let mut rows = Vec::new();
    let (mut section, mut inside) = (String::new(), false);
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut section);
        }
        let is_row = line.starts_with("| ");
        if inside && is_row {
            let cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned());
            rows.push((section.clone(), cells.collect()));
        }
        inside = line == header || inside && (is_row || line.starts_with("|-"));
    }
    rows
}

/// What a cell says about a text: JSON in backticks, or a word.
#[track_caller]
fn check_cell(verdict: &toolmend::Verdict<'_>, input: &str, expected: &str) {
    let found = match verdict.outcome() {
        toolmend::Outcome::Rejected => "refused".to_owned(),
        toolmend::Outcome::Clean if verdict.json() == Some(input) => "unchanged".to_owned(),
        _ => format!("`{}`", verdict.json().unwrap_or("truncated")),
    };
    assert_eq!(found, expected, "{input}");
}

/// Every example in a table of the page for people who come from other systems.
#[test]
fn the_tables_of_examples_are_right() {
    let page = read_page("docs/coming-from.md");
    let texts = table_rows(&page, "| Model writes | Becomes |");
    assert!(texts.len() > 10, "the examples were not found");
    for (_, cells) in texts {
        let input = cells[0].trim_matches('`');
        check_cell(&toolmend::fix(input), input, &cells[1]);
    }
    let calls = table_rows(&page, "| Tool | Model writes | Tool gets |");
    assert!(calls.len() > 10, "the examples were not found");
    for (_, cells) in calls {
        let input = cells[1].trim_matches('`');
        for tool in cells[0].split(", ").map(|tool| tool.trim_matches('`')) {
            let mender = toolmend::Mender::new(&serde_json::json!([tool])).unwrap();
            check_cell(&mender.mend(tool, input), input, &cells[2]);
        }
    }
}

/// The table at the end of that page counts the differences that the page lists, each with the promise or law it is for.
#[test]
fn the_differences_are_counted() {
    let page = read_page("docs/coming-from.md");
    let differences = table_rows(&page, "| There | Here | Why |");
    for (_, cells) in &differences {
        assert!(cells[2].starts_with("promise ") || cells[2].starts_with("law "), "{}", cells[2]);
    }
    let counts = table_rows(&page, "| System | Statements | Works | Different on purpose |");
    let number = |cells: &[String], at: usize| cells[at].parse::<usize>().unwrap();
    let mut sums = [0; 3];
    let (total, systems) = counts.split_last().unwrap();
    for (_, cells) in systems {
        let listed = differences.iter().filter(|(section, _)| *section == cells[0]).count();
        assert_eq!(number(cells, 3), listed, "{}", cells[0]);
        assert_eq!(number(cells, 1), number(cells, 2) + listed, "{}", cells[0]);
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += number(cells, at + 1);
        }
    }
    assert_eq!([1, 2, 3].map(|at| number(&total.1, at)), sums);
    assert_eq!((sums[0], sums[2] <= 25), (219, true));
}

/// Whether the text is as expected; `[..]` matches anything.
fn matches(mut found: &str, expected: &str) -> bool {
    let mut parts = expected.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(rest) = found.strip_prefix(first) else { return false };
    found = rest;
    let mut open = false;
    for part in parts {
        let Some(at) = found.find(part) else { return false };
        found = &found[at + part.len()..];
        open = part.is_empty();
    }
    found.is_empty() || open
}
