//! What the markers of a custom row mean, judged by where they are in its templates.
//!
//! This module reads templates. It never reads model output.

use super::template::{Piece, misplaced_hole, pieces};
use crate::dialect::token::{self, NextPart, Role, TextKind, Word};

/// The markers of a row that the built-in table does not have.
#[derive(Debug, Default)]
pub(super) struct Markers {
    pub(super) tokens: Vec<(String, Role)>,
    pub(super) words: Vec<(String, Word)>,
}

/// The templates of a row.
pub(super) struct Templates<'t> {
    pub(super) section: (&'t str, &'t str),
    pub(super) call: &'t str,
    pub(super) parameter: &'t str,
    pub(super) reasoning: (&'t str, &'t str),
}

impl Markers {
    /// Finds the meaning of each marker.
    ///
    /// # Errors
    /// If a marker looks like text, or has another meaning in the built-in table.
    pub(super) fn of(templates: &Templates<'_>) -> Result<Self, String> {
        for template in [templates.call, templates.parameter] {
            if let Some((marker, in_the_way)) = misplaced_hole(template) {
                return Err(format!(
                    "expected a tag such as <word={{name}}> or <word name=\"{{name}}\">, or a marker of fixed text, \
                     found {marker:?} with {in_the_way:?} before what is filled in"
                ));
            }
        }
        let mut markers = Markers::default();
        markers.around(templates.section.0, Role::Open(NextPart::Body), Word::Frame)?;
        markers.call(templates.call)?;
        markers.around(templates.section.1, Role::Close, Word::Frame)?;
        markers.parameter(templates.parameter)?;
        markers.around(templates.reasoning.0, Role::Begin(TextKind::Reasoning), Word::Think)?;
        markers.around(templates.reasoning.1, Role::End, Word::Think)?;
        Ok(markers)
    }

    fn around(&mut self, template: &str, role: Role, word: Word) -> Result<(), String> {
        for piece in pieces(template) {
            match piece {
                Piece::Token(spelling) => self.token(spelling, role)?,
                Piece::Open(name, None) | Piece::Close(name) => self.word(name, word)?,
                Piece::Text(_) => {}
                Piece::Hole(name) | Piece::Open(_, Some(name)) => {
                    return Err(format!("expected no {{{name}}} around the calls, found {template:?}"));
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, template: &str) -> Result<(), String> {
        let pieces = pieces(template);
        let is_hole = |piece: &Piece<'_>| matches!(piece, Piece::Hole(_));
        let first = pieces.iter().position(is_hole).unwrap_or(pieces.len());
        let last = pieces.iter().rposition(is_hole).unwrap_or(0);
        for (at, piece) in pieces.iter().enumerate() {
            let next = pieces.get(at + 1);
            match *piece {
                Piece::Token(spelling) if at > last => self.token(spelling, Role::Close)?,
                Piece::Token(spelling) => {
                    let then = match next {
                        Some(Piece::Hole("name")) => NextPart::Name,
                        Some(Piece::Hole("id")) => NextPart::Id,
                        Some(Piece::Hole("arguments")) => NextPart::Arguments,
                        _ => NextPart::Body,
                    };
                    self.token(spelling, if at < first { Role::Open(then) } else { Role::Part(then) })?;
                }
                Piece::Open(word, Some("name")) => self.word(word, Word::Call)?,
                Piece::Open(word, None) => {
                    let closed = matches!(pieces.get(at + 2), Some(Piece::Close(close)) if *close == word);
                    let meaning = match next {
                        Some(Piece::Hole("name")) if closed => Word::Name,
                        Some(Piece::Hole("arguments")) if closed && first < at => Word::Arguments,
                        _ => Word::Frame,
                    };
                    self.word(word, meaning)?;
                }
                Piece::Open(_, Some(hole)) => {
                    return Err(format!(
                        "expected {{name}} in the tag of a call, found {{{hole}}} in {template:?}"
                    ));
                }
                Piece::Close(_) | Piece::Text(_) | Piece::Hole(_) => {}
            }
        }
        Ok(())
    }

    fn parameter(&mut self, template: &str) -> Result<(), String> {
        let pieces = pieces(template);
        for (at, piece) in pieces.iter().enumerate() {
            let meaning = match (piece, pieces.get(at + 1)) {
                (Piece::Open(_, Some("key")), _) => Word::Parameter,
                (Piece::Open(_, None), Some(Piece::Hole("key"))) => Word::Key,
                (Piece::Open(_, None), Some(Piece::Hole("value"))) => Word::Value,
                (Piece::Open(..) | Piece::Token(_), _) => {
                    return Err(format!(
                        "expected tags around, or with, {{key}} and {{value}} in the parameter, found {template:?}"
                    ));
                }
                _ => continue,
            };
            if let Piece::Open(word, _) = *piece {
                self.word(word, meaning)?;
            }
        }
        Ok(())
    }

    fn token(&mut self, spelling: &str, role: Role) -> Result<(), String> {
        // Markup begins with one of these bytes.
        if !matches!(spelling.as_bytes(), [b'<' | b'[' | 0xE2, _, _, ..]) {
            return Err(format!("expected a marker that begins with `<`, `[` or `✿`, found {spelling:?}"));
        }
        let known = token::TOKENS.iter().find(|(known, _)| *known == spelling);
        let known_here = self.tokens.iter().find(|(known, _)| known == spelling);
        match known.map(|(_, role)| role).or(known_here.map(|(_, role)| role)) {
            Some(known) if *known == role => Ok(()),
            Some(_) => Err(format!(
                "expected a marker without a meaning, but {spelling:?} has another one already; choose another marker"
            )),
            None => {
                self.tokens.push((spelling.to_owned(), role));
                Ok(())
            }
        }
    }

    fn word(&mut self, word: &str, meaning: Word) -> Result<(), String> {
        let known_here = self.words.iter().find(|(known, _)| known == word).map(|&(_, meaning)| meaning);
        match token::word(word).or(known_here) {
            Some(known) if known == meaning => Ok(()),
            Some(_) => Err(format!(
                "expected a tag without a meaning, but <{word}> has another one already; choose another word"
            )),
            None => {
                self.words.push((word.to_owned(), meaning));
                Ok(())
            }
        }
    }
}
