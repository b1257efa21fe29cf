//! String literals in the notations of other languages, and backslashes whose notation is in doubt.
//!
//! A literal is written in one notation: `escapes` knows those of Python and JavaScript, `backslashes` decides between
//! escapes and raw text. A notation explains the whole literal or it is not the one; a literal that is explained only in part
//! is refused; `depth` notices where escaping stops, and `source_escapes` where it never began. `joined` reads literals side by side, `prefixed` those of Python with a letter before the quote, and
//! `document` a whole document inside a literal.

pub(super) mod backslashes;
pub(super) mod depth;
pub(super) mod document;
pub(super) mod escapes;
mod joined;
pub(super) mod prefixed;
pub(super) mod source_escapes;

pub(super) use joined::Expression;
