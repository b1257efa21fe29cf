//! Links and headings of Markdown pages.

use std::collections::BTreeMap;
use std::ops::Range;

/// A link or an image.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link<'t> {
    pub(crate) line: usize,
    pub(crate) target: &'t str,
    /// Where the target is in the page.
    pub(crate) at: Range<usize>,
}

/// Returns the targets of links and images, those in code left out.
pub(crate) fn find_links(page: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (line, start, text) in prose_lines(page) {
        let shown = without_code(text);
        for (at, _) in shown.match_indices("](") {
            let from = at + 2;
            let Some(length) = shown[from..].find(')') else { continue };
            // A title may follow the target.
            let target = text[from..from + length].split(' ').next().unwrap_or_default();
            let from = start + from;
            links.push(Link { line, target, at: from..from + target.len() });
        }
        // The definition of a link: `[name]: target`.
        if let Some((name, rest)) = shown.split_once("]: ")
            && name.starts_with('[')
            && !name.contains(' ')
        {
            let from = text.len() - rest.len();
            let target = text[from..].trim();
            links.push(Link { line, target, at: start + from..start + from + target.len() });
        }
    }
    links
}

/// Returns the anchors of the headings, as GitHub makes them.
pub(crate) fn find_anchors(page: &str) -> Vec<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = Vec::new();
    for (_, _, line) in prose_lines(page) {
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        if !(1..=6).contains(&hashes) || !line[hashes..].starts_with(' ') {
            continue;
        }
        let slug = slug(line[hashes..].trim());
        let count = times.entry(slug.clone()).or_default();
        anchors.push(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    anchors
}

/// The anchor of a heading: lower case, hyphens for spaces, and no other punctuation.
fn slug(heading: &str) -> String {
    // Of a link, only its text is shown.
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns the lines outside of fences: their numbers, where they begin, and their text.
fn prose_lines(page: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut fence = "";
    let mut start = 0;
    page.split_inclusive('\n').enumerate().filter_map(move |(index, line)| {
        let begin = start;
        start += line.len();
        let text = line.trim_start();
        let marks = if text.starts_with("```") { "```" } else { "~~~" };
        let length = text.len() - text.trim_start_matches(&marks[..1]).len();
        if fence.is_empty() && length >= 3 {
            fence = &text[..length];
            return None;
        }
        if !fence.is_empty() {
            // Only as many marks of the same kind end it, with nothing after them.
            if text.starts_with(fence) && text.trim_end().trim_start_matches(&fence[..1]).is_empty() {
                fence = "";
            }
            return None;
        }
        Some((index + 1, begin, line.trim_end_matches(['\n', '\r'])))
    })
}

/// Replaces code spans by blanks, so that all positions stay the same.
fn without_code(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let ticks = rest.len() - at - rest[at..].trim_start_matches('`').len();
        let marks = &rest[at..at + ticks];
        let body = at + ticks;
        shown.push_str(&rest[..at]);
        let Some(end) = find_marks(&rest[body..], marks) else {
            // Without an end they are plain characters.
            shown.push_str(marks);
            rest = &rest[body..];
            continue;
        };
        let end = body + end + ticks;
        shown.extend(std::iter::repeat_n(' ', end - at));
        rest = &rest[end..];
    }
    shown.push_str(rest);
    shown
}

/// Finds a run of exactly these backticks.
fn find_marks(text: &str, marks: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('`').map(|at| from + at) {
        let length = text.len() - at - text[at..].trim_start_matches('`').len();
        if length == marks.len() {
            return Some(at);
        }
        from = at + length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_none() {
        let page = "[a](b.md#c) ![d](e.png \"title\") `[f](g)` ``[`h](i)``\n```md\n[j](k)\n````\n~~~\n[l](m)\n~~~\n\
                    [n]: o.md\nä` [p](q)";
        let links = find_links(page);
        let found: Vec<_> = links.iter().map(|link| (link.line, link.target)).collect();
        assert_eq!(found, [(1, "b.md#c"), (1, "e.png"), (8, "o.md"), (9, "q")]);
        assert!(links.iter().all(|link| page[link.at.clone()] == *link.target));
    }

    #[test]
    fn anchors_are_those_of_github() {
        let page = "# A `code_x`: b & c\n## [Text](x.md), twice\n### Text, twice\n#no\n```\n# code\n```\n## Ärger's end";
        assert_eq!(find_anchors(page), ["a-code_x-b--c", "text-twice", "text-twice-1", "ärgers-end"]);
    }
}
