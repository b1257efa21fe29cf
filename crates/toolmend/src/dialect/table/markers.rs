//! The markers of a row as its family writes them, for people who want to see them.
//!
//! Readers do not use these; they use `Dialect::marks`, which has the spelling of the table of tokens.

use super::Dialect;
use crate::dialect::custom::CustomTable;
use crate::dialect::input::Step;
use crate::dialect::token::{self, MINIMAX, Markup, Role};

impl Dialect {
    /// The markers that open a call and its parts, as the family writes them.
    ///
    /// ```
    /// let row = toolmend::dialects().iter().find(|row| row.name() == "qwen3_xml").unwrap();
    /// assert_eq!(row.markers(), ["<tool_call>", "<function=", "<parameter="]);
    /// ```
    pub fn markers(&self) -> Vec<&'static str> {
        let templates = [self.section.0, self.call, self.parameter];
        let mut out = Vec::new();
        for template in templates {
            openers(template, &mut out);
        }
        let written = |mark: &str| templates.iter().any(|template| template.contains(mark));
        for mark in self.marks.iter().copied().filter(|mark| written(mark)) {
            if !out.iter().any(|known| known.contains(mark)) {
                out.push(mark);
            }
        }
        out
    }
}

/// Collects the opening markup of a template, up to its first hole.
fn openers(template: &'static str, out: &mut Vec<&'static str>) {
    let mut rest = template;
    while let Some(at) = rest.find(['<', '[', ']', '✿']) {
        rest = &rest[at..];
        let (length, opens) = marker(rest);
        if opens && !out.contains(&&rest[..length]) {
            out.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
}

/// The length of the markup at the start of `text`, and whether it opens something.
fn marker(text: &str) -> (usize, bool) {
    if text.starts_with(MINIMAX) {
        return (MINIMAX.len(), true);
    }
    if let Step::Got(Markup::Token { role, len, .. }) = token::read(text, true, CustomTable::empty()) {
        let ends = matches!(
            role,
            Role::Close | Role::End | Role::MessageEnd | Role::Stop | Role::Turn | Role::Noise
        );
        return (len, !ends);
    }
    let first = text.chars().next().map_or(1, char::len_utf8);
    let end = match text.find(['>', '{']) {
        Some(end) if text[end..].starts_with('>') => end + 1,
        Some(end) => end,
        None => return (first, false),
    };
    let tag = text.starts_with('<') && !text.starts_with("</") && end > 2;
    if tag { (end, true) } else { (first, false) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::table::{Form, dialects};

    /// The values of an example contain no markup, so everything that looks like a marker belongs to the notation.
    #[test]
    fn every_marker_of_a_row_has_a_meaning() {
        for row in dialects().iter().filter(|row| row.form != Form::Element) {
            let example = row.example().replace(MINIMAX, "");
            // Elements of that family are named after keys.
            let elements = row.section.0.starts_with(MINIMAX);
            for (at, _) in example.match_indices(['<', '✿']).filter(|_| !elements) {
                let inside = at > 0 && example[..at].ends_with(['<', '✿']);
                let known = matches!(token::read(&example[at..], true, CustomTable::empty()), Step::Got(_));
                let value = matches!(&example[at..], text if text.starts_with("<|\"|>") || text.starts_with("<escape>"));
                let ends = example[..at].ends_with(|ch: char| ch.is_ascii_uppercase());
                assert!(
                    known || inside || value || ends,
                    "{}: the marker at {:?} is not in src/dialect/token/table.rs; add it to TOKENS or WORDS",
                    row.name(),
                    example[at..].chars().take(32).collect::<String>()
                );
            }
        }
    }

    #[test]
    fn markers_are_spelt_as_models_spell_them() {
        for row in dialects() {
            let example = row.example();
            for marker in row.markers() {
                assert!(example.contains(marker), "{}: {marker:?} is not in {example:?}", row.name());
            }
        }
    }
}
