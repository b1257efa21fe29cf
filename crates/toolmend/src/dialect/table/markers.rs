//! The markers of a row as its family writes them.

use super::Dialect;
use crate::dialect::custom::CustomTable;
use crate::dialect::input::Step;
use crate::dialect::token::{self, MINIMAX, Markup, Role};

impl Dialect {
    /// The markers that it is known by, as its family writes them: what opens a call and its parts.
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

/// The opening markup of a template, up to its first hole.
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

/// How long the markup at the start of a text is, and whether it opens something.
fn marker(text: &str) -> (usize, bool) {
    if text.starts_with(MINIMAX) {
        return (MINIMAX.len(), true);
    }
    if let Step::Got(Markup::Token { role, len, .. }) = token::read(text, true, CustomTable::empty()) {
        let ends = matches!(role, Role::Close | Role::End | Role::MessageEnd | Role::Stop | Role::Noise);
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
    use crate::dialect::table::dialects;

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
