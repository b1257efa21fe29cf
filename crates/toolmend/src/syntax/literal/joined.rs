//! Literals side by side: `"a" "b"` on one line or several, and `"a" + "b"`.
//!
//! Python, C and JavaScript join them, and a model that writes them means one string. In an array they are joined only by a
//! plus sign, because a lost comma is likelier there. A plus sign beside anything else is an expression, which is not
//! evaluated: the string before it is contested.

use std::ops::Range;

use crate::repair::RepairKind;
use crate::syntax::lookahead::EndEvidence;
use crate::syntax::reader::Reader;
use crate::syntax::reading::Step;
use crate::syntax::string_end::Scan;
use crate::syntax::token::{Punctuation, Quote};

/// What the first quote of a string leads to, if more than one literal makes up the value.
#[derive(Debug, Clone, Copy)]
pub(in crate::syntax) enum Expression {
    /// Literals that are joined: where the last one is closed, and by how long a quote.
    Joined { at: usize, len: usize },
    /// An expression that is not read.
    Unreadable,
}

/// What joins a string with something else, or chooses between them, in the languages that models write.
const OPERATORS: [&str; 8] = ["+", "*", "%", "||", "&&", "??", "?", "."];

/// One literal after another.
#[derive(Debug)]
struct Piece {
    quote: Quote,
    /// The opening quote.
    open: Range<usize>,
    body: Range<usize>,
    close: usize,
    /// Whether a plus sign is before it.
    added: bool,
}

impl Piece {
    fn end(&self) -> usize {
        self.body.end + self.close
    }
}

impl Reader<'_> {
    /// Looks whether the first quote of a string, before `after`, ends the first of several literals.
    // Case: syntax/adjacent-literals
    // Case: syntax/added-literals
    // Case: syntax/added-variable
    #[inline]
    pub(in crate::syntax) fn judge_expression(&mut self, scan: &Scan, after: usize) -> Option<Expression> {
        let next = self.text.skip_whitespace(after);
        match self.text.byte(next)? {
            b'+' | b'\\' | b'*' | b'%' | b'|' | b'&' | b'?' | b'.' => {}
            b'"' | b'\'' | b'`' if next > after => {}
            _ => return None,
        }
        if self.stack.is_empty() || scan.quote == Quote::Marker {
            return None;
        }
        // After one escaped quote, this one may be the other of a pair: only the whole chain shows it.
        let paired = scan.seen.escaped_quotes.is_multiple_of(2);
        self.judge_chain(after).filter(|found| paired || matches!(found, Expression::Joined { .. }))
    }

    #[inline(never)]
    fn judge_chain(&mut self, after: usize) -> Option<Expression> {
        let in_array = self.stack.last().is_some_and(|frame| !frame.kind.is_object());
        let mut last: Option<Piece> = None;
        let mut end = after;
        let mut joins = true;
        while let Some(piece) = self.next_literal(end) {
            joins &= piece.added || !in_array;
            end = piece.end();
            last = Some(piece);
        }
        if let Some(piece) = last.filter(|_| joins) {
            let evidence = self.end_evidence_at(end, false);
            if evidence >= EndEvidence::Fair
                || evidence == EndEvidence::Weak && self.is_chain_of_members(end, false)
            {
                return Some(Expression::Joined { at: piece.body.end, len: piece.close });
            }
        }
        self.is_expression_at(after).then_some(Expression::Unreadable)
    }

    /// Whether an operator and its operand follow, or the call of a method.
    // Case: syntax/method-after-string
    fn is_expression_at(&mut self, after: usize) -> bool {
        let operator = self.after_trivia(after);
        let Some(sign) = OPERATORS.iter().find(|sign| self.text.starts_with(operator, sign.as_bytes()))
        else {
            return false;
        };
        let len = sign.len();
        let next = self.after_trivia(operator + len);
        if *sign == "." && next == operator + 1 {
            // `"…".format(`
            let name = self.text.word_end(next);
            return operator == after && name > next && self.text.byte(name) == Some(&b'(');
        }
        self.text.byte(next).is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'_' | b'$')
        })
    }

    /// The literal that follows the one before `after`, with a plus sign or white space between them.
    fn next_literal(&mut self, after: usize) -> Option<Piece> {
        let mut at = self.after_trivia(after);
        let added = self.text.byte(at) == Some(&b'+');
        if added {
            at = self.after_trivia(at + 1);
        }
        let Some((Punctuation::Quote(quote), len)) = self.text.punctuation_at(at) else {
            return None;
        };
        if at == after || !matches!(quote, Quote::Double | Quote::Single) && !quote.spans_lines() {
            return None;
        }
        let open = at..at + len;
        let mut end = open.end;
        loop {
            end = self.text.plain_run(quote, end);
            let close = self.text.closer_at(quote, end);
            match self.text.byte(end)? {
                _ if close > 0 => {
                    let body = open.end..end;
                    let holes = quote == Quote::Backtick && self.text.str(body.clone()).contains("${");
                    return (!self.fuel.is_empty() && !holes).then_some(Piece {
                        quote,
                        open,
                        body,
                        close,
                        added,
                    });
                }
                b'\\' => end = (end + 2).min(self.text.len()),
                0..0x20 if !quote.spans_lines() => return None,
                _ => end += 1,
            }
        }
    }

    /// Reads the literals that start with the one in `scan`, which were found to be one string.
    pub(in crate::syntax) fn read_joined(&mut self, scan: &Scan) -> Step {
        let mut piece = Piece {
            quote: scan.quote,
            open: scan.open.0..scan.open.1,
            body: scan.open.1..scan.at,
            close: self.text.closer_at(scan.quote, scan.at),
            added: false,
        };
        if let Some(kind) = piece.quote.repair() {
            self.edit(piece.open.clone(), "\"", kind);
        }
        self.repair_body(piece.quote, piece.body.clone());
        let mut inner_quotes = 0;
        while let Some(next) = self.next_literal(piece.end()) {
            inner_quotes += memchr::memmem::find_iter(self.text.bytes(piece.body.clone()), b"\\\"").count();
            self.contest_seam(&piece, &next, inner_quotes % 2 == 1);
            self.edit(piece.body.end..next.open.end, "", RepairKind::LiteralsJoined);
            self.repair_body(next.quote, next.body.clone());
            piece = next;
        }
        if let Some(kind) = piece.quote.repair() {
            self.edit(piece.body.end..piece.end(), "\"", kind);
        }
        self.state.last_string = (piece.body.start, piece.body.end);
        self.finish_value(piece.end())
    }

    /// Contests a seam that may be text: a quoted plus sign (`use "+" here`), two words in quotes, a key that lost its
    /// colon, or two quotes of program text that lost their backslashes (`within`: an escaped quote before it is open).
    // Case: syntax/quoted-plus-sign
    fn contest_seam(&mut self, left: &Piece, right: &Piece, within: bool) {
        let seam = left.body.end..right.open.end;
        let same_line = memchr::memchr(b'\n', self.text.bytes(seam.clone())).is_none();
        let left_text = self.text.str(left.body.clone());
        let right_text = self.text.str(right.body.clone());
        let broken = left_text.ends_with("\\n");
        let opens = left_text.ends_with([' ', '(', '[', '{', '=', ',', ':']) || left_text.is_empty();
        let closes =
            right_text.starts_with([' ', ')', ']', '}', ',', ';', ':', '.']) || right_text.is_empty();
        let fused = !right.added
            && !broken
            && left_text.ends_with(|ch: char| ch.is_alphanumeric())
            && right_text.starts_with(|ch: char| ch.is_alphanumeric());
        let key = self.stack.last().is_some_and(|frame| self.guide.declares_key(frame.position, right_text));
        let program = within && right.added && right_text.contains("\\\"");
        // A literal that is written twice is one that the model began again.
        // Case: syntax/literal-written-twice
        let is_repeated = left_text == right_text && !right.added && !left_text.is_empty();
        // `"key" ":" "value"` has its colon in quotes.
        let is_mark = matches!(left_text.trim(), ":" | "," | "=");
        if same_line && (opens && closes || fused || program) || key || is_repeated || is_mark {
            self.contest(seam.start);
        }
    }
}
