//! Paths and addresses written as a Markdown link to themselves.
//!
//! A link whose address says more than its text is never touched.

use std::borrow::Cow;

use crate::json::text::quote;
use crate::repair::RepairKind;

use crate::schema::fault::{HintKind, Wants};
use crate::schema::hints::Semantic;
use crate::shape::mismatch::{Change, SchemaMismatch};

const SCHEMES: [&str; 3] = ["https://", "http://", "file://"];

/// `[a.md](http://a.md)` to `a.md`.
pub(super) fn unwrap_link(mismatch: &SchemaMismatch<'_>) -> Option<Change> {
    if !matches!(mismatch.fault.wants, Wants::Hint(HintKind::Link) | Wants::Other) {
        return None;
    }
    let text = mismatch.string()?;
    let semantic = mismatch.guide().semantic(mismatch.position());
    let target = link_target(&text, semantic)?;
    Some(mismatch.replace(quote(target), RepairKind::LinkUnwrapped))
}

/// What a link to itself stands for: the address if an address is wanted, otherwise the text. A link whose address says
/// more than its text is a real link.
pub(in crate::shape) fn link_target(text: &str, semantic: Option<Semantic>) -> Option<&str> {
    let (label, address) = text.trim().strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    if label.is_empty() || [label, address].iter().any(|part| part.contains(['[', ']', '(', ')'])) {
        return None;
    }
    let bare = SCHEMES.iter().find_map(|scheme| address.strip_prefix(scheme)).unwrap_or(address);
    let decoded: Cow<'_, str> =
        if bare.contains("%20") { Cow::Owned(bare.replace("%20", " ")) } else { Cow::Borrowed(bare) };
    let same = |other: &str| other == label || other.strip_suffix('/') == Some(label);
    let itself = same(address) || same(bare) || same(&decoded);
    itself.then_some(if semantic == Some(Semantic::Url) { address } else { label })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_link_to_itself_is_unwrapped() {
        let check =
            |text: &str, expected: Option<&str>| assert_eq!(link_target(text, None), expected, "{text}");
        check("[a.md](http://a.md)", Some("a.md"));
        check("[src/main.rs](https://src/main.rs/)", Some("src/main.rs"));
        check("[/tmp/a b](file:///tmp/a%20b)", Some("/tmp/a b"));
        check("[https://x.org](https://x.org)", Some("https://x.org"));
        check("[README.md](https://example.org/blob/README.md)", None);
        check("[docs](http://other.org/page)", None);
        check("a.md", None);
        check("[a.md]", None);
        check("(http://a.md)", None);
        check("[](http://)", None);
        assert_eq!(link_target("[x.org](https://x.org)", Some(Semantic::Url)), Some("https://x.org"));
    }
}
