//! What the stream and the readers ask about tools, and the verdicts on calls that were found in text.
//!
//! This is the border between `mender` and `stream`: everything the stream needs goes through these methods.

use serde_json::Value;

use super::{Inner, Mender};
use crate::dialect::tagged::ToolLookup;
use crate::intent::{self, Calls};
use crate::name::NameMatch;
use crate::pipeline::Task;
use crate::policy::Preset;
use crate::repair::RepairKind;
use crate::schema::Schema;
use crate::syntax::Finish;
use crate::verdict::{Outcome, Reason, Refusal, Verdict};

impl Mender {
    /// Whether a name means one of the declared tools.
    pub(crate) fn knows_tool(&self, name: &str) -> bool {
        !name.is_empty() && self.inner.index_of(name).is_some()
    }

    /// The declared tool that a name means.
    pub(crate) fn tool_named(&self, name: &str) -> Option<String> {
        let index = self.inner.index_of(name).filter(|_| !name.is_empty())?;
        self.tools().get(index).map(|tool| tool.name().to_owned())
    }

    /// Whether the name of a declared tool can begin like this.
    pub(crate) fn begins_name(&self, text: &str) -> bool {
        self.inner.names.begins(text)
    }

    /// The same, judged by the first letter alone.
    pub(crate) fn may_begin_name(&self, text: &str) -> bool {
        self.inner.names.may_begin(text)
    }

    /// Whether tools were declared by name.
    pub(crate) fn has_named_tools(&self) -> bool {
        !self.inner.tools.is_empty() && !self.inner.is_unnamed()
    }

    pub(crate) fn preset(&self) -> Preset {
        self.inner.policy.preset
    }

    /// The weakest evidence that makes text a call.
    pub(crate) fn lowest_evidence(&self) -> Calls {
        self.inner.policy.calls
    }

    /// Whether arguments alone can mean this tool: it needs some of them, and what it does can be undone.
    pub(crate) fn may_be_called_without_name(&self, name: &str) -> bool {
        let Some(tool) = self.inner.index_of(name).map(|index| &self.inner.tools[index]) else {
            return false;
        };
        let guide = tool.schema().map(Schema::guide);
        let needs_arguments =
            guide.is_some_and(|guide| guide.properties(guide.root()).any(|(_, _, required)| required));
        needs_arguments && !tool.is_destructive() && !intent::has_destructive_verb(tool.name())
    }

    /// The declared tool that runs code, and its argument for the code: one that is called so, or the only one that needs
    /// nothing but code.
    pub(crate) fn code_tool(&self) -> Option<(String, String)> {
        const NAMES: &[&str] = &["python", "ipython", "code_interpreter", "interpreter"];
        const CODE: &str = "code";
        let main_key = |name: &str| ToolLookup::main_key(self, name);
        let key_of = |name: &str| match self.schema_of(name) {
            Some(_) => main_key(name),
            // Nothing is known about its arguments.
            None => Some(CODE.to_owned()),
        };
        let called = NAMES.iter().filter(|name| self.knows_tool(name));
        if let Some(found) = called.into_iter().find_map(|&name| Some((name.to_owned(), key_of(name)?))) {
            return Some(found);
        }
        let takes_code = |name: &&str| main_key(name).as_deref() == Some(CODE);
        let mut takers = self.inner.tools.iter().map(crate::tools::Tool::name).filter(takes_code);
        let only = takers.next().filter(|_| takers.next().is_none())?;
        Some((only.to_owned(), CODE.to_owned()))
    }

    /// The schema of the tool that a name means.
    pub(crate) fn schema_of(&self, name: &str) -> Option<&Schema> {
        let index = if self.inner.is_unnamed() { Some(0) } else { self.inner.index_of(name) };
        index.and_then(|index| self.inner.tools[index].schema())
    }

    /// The verdict on a call that was found in text. A tool that is not declared is unconstrained.
    pub(crate) fn mend_found_call<'t>(&self, name: &str, arguments: &'t str, finish: Finish) -> Verdict<'t> {
        let declared = self.inner.is_unnamed()
            || !matches!(self.inner.names.resolve_tool_name(name), NameMatch::Unknown);
        if declared {
            return self.judge_text(name, arguments, finish);
        }
        if name.is_empty() || !is_name(name) {
            return self.judge_text(name, arguments, finish);
        }
        if is_call_id(name) && self.names_a_tool(arguments) {
            return self.judge_text("", arguments, finish);
        }
        // Nothing is known about the tool, so its arguments only have to be an object.
        let task = Task { explains: true, ..self.unconstrained_task(finish) };
        let mut verdict = super::arguments::mend_or_fill(&task, self.inner.object.as_ref(), arguments);
        self.label(&mut verdict, None, name, arguments);
        verdict
    }

    /// The verdict on a truncated call. `cut` points to the member in which it stops.
    pub(crate) fn truncated_verdict<'t>(
        &self,
        name: &str,
        arguments: &'t str,
        cut: &str,
        partial: Option<String>,
    ) -> Verdict<'t> {
        let refusal = Refusal {
            message: "the output ended before the call did".to_owned(),
            cut: Some(cut.to_owned()),
            partial,
            ..Refusal::default()
        };
        let mut verdict = Verdict::refused(arguments, Outcome::Truncated, refusal);
        self.label(&mut verdict, self.inner.index_of(name), name, arguments);
        verdict
    }

    /// The verdict on a call that must not run, for this reason.
    pub(crate) fn refused_verdict<'t>(
        &self,
        name: &str,
        written: &'t str,
        reason: Reason,
        why: &str,
    ) -> Verdict<'t> {
        let refusal = Refusal { reason: Some(reason), message: why.to_owned(), ..Refusal::default() };
        let mut verdict = Verdict::refused(written, Outcome::Rejected, refusal);
        self.label(&mut verdict, self.inner.index_of(name), name, written);
        verdict
    }

    /// Whether the policy allows a repair for the tool of this name.
    pub(crate) fn allows(&self, name: &str, kind: RepairKind) -> bool {
        let policy =
            self.inner.index_of(name).map_or(&self.inner.policy, |index| &self.inner.policies[index]);
        policy.allows(kind)
    }

    /// The complete members of truncated arguments, as the tool would get them.
    pub(crate) fn mend_partial(&self, name: &str, object: &str) -> Option<String> {
        let index = if self.inner.is_unnamed() { Some(0) } else { self.inner.index_of(name) };
        let (schema, policy) = match index {
            Some(index) => (self.inner.tools[index].schema(), &self.inner.policies[index]),
            None => (None, &self.inner.policy),
        };
        let schema = match schema {
            Some(schema) => Some(schema.partial()?),
            None => None,
        };
        let task = Task { schema, policy, explains: true, ..self.unconstrained_task(Finish::Unknown) };
        let verdict = task.run(object);
        let json = verdict.json().filter(|json| json.trim_start().starts_with('{'));
        json.map(str::to_owned)
    }

    /// The only reading of a text without a schema, as strict JSON.
    pub(crate) fn read_strict(&self, text: &str) -> Option<String> {
        let verdict = self.unconstrained_task(Finish::Unknown).run(text);
        verdict.json().map(str::to_owned)
    }

    /// The only declared tool whose arguments these can be, if arguments alone can mean it. A marker shows that there is a
    /// call, but not which.
    // Case: dialects/kimi_k2/nameless
    pub(crate) fn tool_by_keys(&self, arguments: &str) -> Option<String> {
        let value: Value = serde_json::from_str(arguments).ok()?;
        let object = value.as_object().filter(|object| !object.is_empty())?;
        let name = self.inner.by_keys(object).map(|index| self.inner.tools[index].name().to_owned())?;
        self.may_be_called_without_name(&name).then_some(name)
    }
}

/// Whether a text can be the name of a tool that is not declared.
fn is_name(name: &str) -> bool {
    !name.contains(|ch: char| ch.is_control() || "{}[]()<>".contains(ch))
}

/// Whether a text is the id of a call, as hosts make them up: `call_abc123`. Models copy such ids into the place of names.
// Case: dialects/hermes_json/id-for-name
fn is_call_id(name: &str) -> bool {
    const PREFIXES: &[&str] = &["call_", "call-", "toolu_", "tooluse_", "chatcmpl-tool-", "fc_"];
    PREFIXES.iter().filter_map(|prefix| name.strip_prefix(prefix)).any(|rest| {
        rest.len() > 3
            && rest.contains(|ch: char| ch.is_ascii_digit())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
}

impl Inner {
    fn index_of(&self, name: &str) -> Option<usize> {
        match self.names.resolve_tool_name(name) {
            NameMatch::One(resolved) => Some(resolved.index),
            NameMatch::Several(_) | NameMatch::Unknown => None,
        }
    }
}
