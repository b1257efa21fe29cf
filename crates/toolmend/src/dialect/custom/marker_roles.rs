//! What the markers of a custom row mean, judged by where they are in its templates.
//!
//! This module reads templates. It never reads model output.

use super::template::{Piece, TagName, pieces};
use crate::dialect::table::Form;
use crate::dialect::tag::{BARRED, NAMESPACES};
use crate::dialect::token::{self, NextPart, Role, TextKind, Word};

/// The markers of a row that the built-in table does not have.
#[derive(Debug, Default)]
pub(super) struct Markers {
    pub(super) tokens: Vec<(String, Role)>,
    /// Words of tags, with their namespaces.
    pub(super) words: Vec<(String, String, Word)>,
    pub(super) namespaces: Vec<String>,
    /// The fixed words between the opening marker and the name.
    pub(super) lead: String,
}

/// The templates of a row.
pub(super) struct Templates<'t> {
    pub(super) form: Form,
    pub(super) section: (&'t str, &'t str),
    pub(super) call: &'t str,
    pub(super) parameter: &'t str,
    pub(super) reasoning: (&'t str, &'t str),
    pub(super) stop: &'t [String],
}

impl Markers {
    /// Finds the meaning of each marker.
    ///
    /// # Errors
    /// If a marker looks like text, or has another meaning in the built-in table.
    pub(super) fn of(templates: &Templates<'_>) -> Result<Self, String> {
        let mut markers = Markers::default();
        markers.around(templates.section.0, Role::Open(NextPart::Body), Word::Frame)?;
        match templates.form {
            Form::Attributes => markers.attributes(templates.call)?,
            form => markers.call(templates.call, form)?,
        }
        markers.around(templates.section.1, Role::Close, Word::Frame)?;
        if matches!(templates.form, Form::Tagged | Form::Pairs) {
            markers.parameter(templates.parameter)?;
        }
        markers.around(templates.reasoning.0, Role::Begin(TextKind::Reasoning), Word::Think)?;
        markers.around(templates.reasoning.1, Role::End, Word::Think)?;
        for stop in templates.stop {
            markers.stop(stop)?;
        }
        Ok(markers)
    }

    fn around(&mut self, template: &str, role: Role, word: Word) -> Result<(), String> {
        for piece in pieces(template)? {
            match piece {
                Piece::Token(spelling) => self.token(spelling, role)?,
                Piece::Open(name, None) | Piece::Close(name) => self.word(&name, word)?,
                Piece::Text(_) => {}
                Piece::Hole(hole) | Piece::Element(hole) | Piece::Open(_, Some(hole)) => {
                    return Err(format!("expected no {{{hole}}} around the calls, found {template:?}"));
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, template: &str, form: Form) -> Result<(), String> {
        let pieces = pieces(template)?;
        let is_hole = |piece: &Piece<'_>| matches!(piece, Piece::Hole(_));
        let first = pieces.iter().position(is_hole).unwrap_or(pieces.len());
        let last = pieces.iter().rposition(is_hole).unwrap_or(0);
        for (at, piece) in pieces.iter().enumerate() {
            // Fixed words do not change what a marker announces.
            let next = pieces[at + 1..].iter().find(|piece| !matches!(piece, Piece::Text(_)));
            match piece {
                Piece::Token(spelling) if at > last => self.token(spelling, Role::Close)?,
                Piece::Token(spelling) => {
                    let then = match next {
                        _ if form == Form::Json => NextPart::Body,
                        Some(Piece::Hole("name")) => NextPart::Name,
                        Some(Piece::Hole("id")) => NextPart::Id,
                        Some(Piece::Hole("arguments")) => NextPart::Arguments,
                        _ => NextPart::Body,
                    };
                    self.token(spelling, if at < first { Role::Open(then) } else { Role::Part(then) })?;
                }
                Piece::Open(tag, Some("name")) => self.word(tag, Word::Call)?,
                Piece::Open(tag, None) => {
                    let closed = matches!(pieces.get(at + 2), Some(Piece::Close(close)) if close == tag);
                    let meaning = match pieces.get(at + 1) {
                        Some(Piece::Hole("name")) if closed => Word::Name,
                        Some(Piece::Hole("arguments")) if closed && first < at => Word::Arguments,
                        _ => Word::Frame,
                    };
                    self.word(tag, meaning)?;
                }
                Piece::Open(_, Some(hole)) => {
                    return Err(format!(
                        "expected {{name}} in the tag of a call, found {{{hole}}} in {template:?}"
                    ));
                }
                Piece::Text(text) if form != Form::Json && matches!(next, Some(Piece::Hole("name"))) => {
                    (*text).clone_into(&mut self.lead);
                }
                Piece::Close(_) | Piece::Text(_) | Piece::Hole(_) | Piece::Element(_) => {}
            }
        }
        Ok(())
    }

    /// `[Calling tool="{name}"{parameters}]`: everything before the name is one marker.
    fn attributes(&mut self, template: &str) -> Result<(), String> {
        let opener = template.split("{name}").next().unwrap_or_default().trim_start();
        self.token(opener, Role::Open(NextPart::Attributes))
    }

    /// The parts of an argument: tags or tokens around, or with, its key and its value.
    fn parameter(&mut self, template: &str) -> Result<(), String> {
        let pieces = pieces(template)?;
        let part = |piece: Option<&Piece<'_>>| match piece {
            Some(Piece::Hole("key")) => Some(Word::Key),
            Some(Piece::Hole("value")) => Some(Word::Value),
            Some(Piece::Hole("type" | "string")) => Some(Word::Type),
            _ => None,
        };
        for (at, piece) in pieces.iter().enumerate() {
            let next = part(pieces.get(at + 1));
            match piece {
                Piece::Open(tag, Some("key")) => self.word(tag, Word::Parameter)?,
                // A tag that only contains the others.
                Piece::Open(tag, None) => self.word(tag, next.unwrap_or(Word::Arguments))?,
                Piece::Token(spelling) => {
                    let before = pieces[..at].iter().rev().find_map(|piece| part(Some(piece)));
                    let role = match (next, before) {
                        (Some(part), _) => Role::OpenTag(part),
                        (None, Some(part)) => Role::CloseTag(part),
                        (None, None) => Role::OpenTag(Word::Arguments),
                    };
                    if !spelling.starts_with('<') {
                        let first = spelling.chars().next().unwrap_or_default();
                        return Err(format!(
                            "expected tokens in the parameter that begin with '<', found {first:?} in {spelling:?}"
                        ));
                    }
                    self.token(spelling, role)?;
                }
                Piece::Open(_, Some(hole)) => {
                    return Err(format!(
                        "expected tags around, or with, {{key}} and {{value}} in the parameter, found {{{hole}}} in \
                         {template:?}"
                    ));
                }
                Piece::Close(_) | Piece::Text(_) | Piece::Hole(_) | Piece::Element(_) => {}
            }
        }
        Ok(())
    }

    /// A token that ends a turn. What the built-in table says about it stays.
    fn stop(&mut self, spelling: &str) -> Result<(), String> {
        if token::TOKENS.iter().any(|(known, _)| *known == spelling) {
            return Ok(());
        }
        // Special tokens with bars are never text. Others are only dropped at the end.
        self.token(spelling, if spelling.contains(['|', '｜']) { Role::Noise } else { Role::Tail })
    }

    fn token(&mut self, spelling: &str, role: Role) -> Result<(), String> {
        // Markup begins with one of these bytes.
        if !matches!(spelling.as_bytes(), [b'<' | b'[' | 0xE2, _, _, ..]) {
            let first = spelling.chars().next().unwrap_or_default();
            return Err(format!(
                "expected a marker that begins with `<`, `[` or `✿`, found {first:?} at the start of {spelling:?}"
            ));
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

    fn word(&mut self, tag: &TagName<'_>, meaning: Word) -> Result<(), String> {
        let TagName { space, word } = tag;
        let of_readers = NAMESPACES.iter().chain(BARRED).any(|known| known == space);
        if !space.is_empty() && !of_readers && !self.namespaces.contains(space) {
            self.namespaces.push(space.clone());
        }
        // A word in a namespace of the row means what the row says.
        let built_in = if space.is_empty() || of_readers { token::word(word) } else { None };
        let known_here =
            self.words.iter().find(|(known_space, known, _)| known_space == space && known == word);
        match built_in.or(known_here.map(|&(_, _, meaning)| meaning)) {
            Some(known) if known == meaning => Ok(()),
            Some(_) => Err(format!(
                "expected a tag without a meaning, but <{space}{word}> has another one already; choose another word"
            )),
            None => {
                self.words.push((space.clone(), (*word).to_owned(), meaning));
                Ok(())
            }
        }
    }
}
