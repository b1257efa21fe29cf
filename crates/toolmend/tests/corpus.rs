//! Runs every case under `corpus/syntax` and `corpus/shape`; the README of the corpus describes the format and what is checked.

use std::path::Path;

use toolmend::{Finish, FixOptions, Mender, Outcome, Schema, Tool, Verdict, fix_with};

type Checked = Result<(), Box<dyn std::error::Error>>;

/// One case, as written in its file.
#[derive(Default)]
struct Case<'f> {
    schema: Option<Schema>,
    tool: Option<&'f str>,
    finish: Finish,
    outcome: &'f str,
    repairs: Vec<&'f str>,
    reason: Option<&'f str>,
    cut: Option<&'f str>,
    input: &'f str,
    output: Option<&'f str>,
}

const INPUT: &str = "--- input\n";
const OUTPUT: &str = "\n--- output\n";

impl<'f> Case<'f> {
    fn read(file: &'f str) -> Result<Self, Box<dyn std::error::Error>> {
        let (head, body) = file.split_once(INPUT).ok_or("there is no line `--- input`")?;
        let body = body.strip_suffix('\n').unwrap_or(body);
        let mut case = Case::default();
        (case.input, case.output) = match body.rsplit_once(OUTPUT) {
            Some((input, output)) => (input, Some(output)),
            None => (body, None),
        };
        for line in head.lines() {
            let (name, text) = line.split_once(": ").ok_or_else(|| format!("no header: {line:?}"))?;
            match name {
                "what" => {}
                "schema" => case.schema = Some(Schema::new(&serde_json::from_str(text)?)?),
                "tool" => case.tool = Some(text),
                "finish" => case.finish = Finish::from_reason(text),
                "outcome" => case.outcome = text,
                "repairs" => case.repairs = text.split(", ").collect(),
                "reason" => case.reason = Some(text),
                "cut" => case.cut = Some(text),
                _ => return Err(format!("unknown header {name:?}").into()),
            }
        }
        Ok(case)
    }

    /// Mends the text as the case says: as the arguments of its tool, or as JSON alone.
    fn mend<'t>(&self, text: &'t str) -> Result<Verdict<'t>, Box<dyn std::error::Error>> {
        let Some(name) = self.tool else {
            let options = FixOptions::new().finish(self.finish);
            let options = match &self.schema {
                Some(schema) => options.schema(schema.clone()),
                None => options,
            };
            return Ok(fix_with(text, &options));
        };
        let tool = match &self.schema {
            Some(schema) => Tool::new(name, schema.source())?,
            None => Tool::unconstrained(name),
        };
        Ok(Mender::builder().tool(tool).build()?.mend_finished(name, text, self.finish))
    }
}

fn run(path: &Path) -> Checked {
    let file = std::fs::read_to_string(path)?;
    let case = Case::read(&file)?;
    let verdict = case.mend(case.input)?;
    check_expected(&case, &verdict)?;
    check_promises(&case, &verdict)
}

/// Checks what the case asks for.
fn check_expected(case: &Case<'_>, verdict: &Verdict<'_>) -> Checked {
    let mut kinds: Vec<_> = Vec::new();
    for repair in verdict.repairs() {
        if !kinds.contains(&repair.kind.name()) {
            kinds.push(repair.kind.name());
        }
    }
    same("outcome", verdict.outcome().name(), case.outcome)?;
    same("output", &verdict.json(), &case.output)?;
    same("repairs", &kinds, &case.repairs)?;
    same("reason", &verdict.reason().map(toolmend::Reason::name), &case.reason)?;
    same("cut", &verdict.refusal().and_then(|refusal| refusal.cut.as_deref()), &case.cut)
}

/// Checks what holds for every verdict.
fn check_promises(case: &Case<'_>, verdict: &Verdict<'_>) -> Checked {
    for repair in verdict.repairs() {
        let at = repair.at.clone().ok_or("a repair of text without its range")?;
        case.input.get(at).ok_or_else(|| format!("{repair:?} is not in the input"))?;
    }
    let Some(json) = verdict.json() else { return Ok(()) };
    serde_json::from_str::<serde::de::IgnoredAny>(json)?;
    if let Some(schema) = &case.schema {
        same("fits the schema", &schema.accepts(&serde_json::from_str(json)?), &true)?;
    }
    same("repairs where something changed", &verdict.repairs().is_empty(), &(json == case.input))?;
    let again = case.mend(json)?;
    same("outcome of mending it again", &again.outcome(), &Outcome::Clean)?;
    same("output of mending it again", &again.json(), &Some(json))
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, found: &T, expected: &T) -> Checked {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}\n   expected: {expected:?}\n      found: {found:?}").into())
}

datatest_stable::harness! {
    { test = run, root = "../../corpus/syntax", pattern = r"\.case$" },
    { test = run, root = "../../corpus/shape", pattern = r"\.case$" },
}
