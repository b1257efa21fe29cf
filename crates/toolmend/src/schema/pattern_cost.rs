//! Which regular expressions could take time that grows without bound.
//!
//! A pattern without look-around and back-references is matched in linear time, whatever it looks like. With them it is
//! matched by backtracking, and a repetition of a repetition then tries every way to split the text between the two.
//! Such a pattern is found here, before it meets a text. What is not found is stopped by [`BACKTRACK_LIMIT`].

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Steps back that one match may take.
pub(super) const BACKTRACK_LIMIT: usize = 20_000;

/// Whether matching this pattern could try exponentially many ways.
pub(super) fn is_hopeless(pattern: &str) -> bool {
    needs_backtracking(pattern) && repeats_repetition(pattern.as_bytes())
}

/// The most that the patterns of a schema may cost to compile, in microseconds or so.
const MAX_TO_COMPILE: usize = 24_000;

/// Whether the patterns of a schema would take too long to compile. The same pattern counts once.
pub(super) fn are_too_many(schema: &Value) -> bool {
    let mut patterns: HashSet<&str> = HashSet::new();
    let mut cost = 0;
    let mut pending = vec![schema];
    while let Some(part) = pending.pop() {
        let map = match part {
            Value::Array(parts) => {
                pending.extend(parts);
                continue;
            }
            Value::Object(map) => map,
            _ => continue,
        };
        let own = map.get("pattern").and_then(Value::as_str);
        let keys = map.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        for pattern in own.into_iter().chain(keys.map(String::as_str)) {
            if patterns.insert(pattern) {
                cost += cost_to_compile(pattern);
            }
        }
        if cost > MAX_TO_COMPILE {
            return true;
        }
        pending.extend(map.values());
    }
    false
}

/// An estimate: classes of letters have hundreds of ranges, and what is counted is written out as often.
fn cost_to_compile(pattern: &str) -> usize {
    const PATTERN: usize = 16;
    const CLASS: usize = 48;
    // The compiler gives up on patterns that become too large.
    const MOST_COPIES: usize = 4000;
    const COPIES_PER_UNIT: usize = 4;
    let bytes = pattern.as_bytes();
    let classes = bytes.windows(2).filter(|pair| pair[0] == b'\\' && pair[1].is_ascii_alphabetic()).count();
    let counted = pattern.split('{').skip(1).filter_map(|rest| {
        let bounds = rest.split('}').next()?;
        bounds.rsplit(',').next()?.parse::<usize>().ok()
    });
    let copies = counted.fold(0usize, usize::saturating_add).min(MOST_COPIES);
    PATTERN + bytes.len() + classes * CLASS + copies * (1 + classes) / COPIES_PER_UNIT
}

/// Whether the pattern has look-around, a back-reference or an atomic group.
fn needs_backtracking(pattern: &str) -> bool {
    const GROUPS: [&str; 5] = ["(?=", "(?!", "(?<=", "(?<!", "(?>"];
    let mut escaped = false;
    let refers = pattern.bytes().any(|byte| {
        let refers = escaped && matches!(byte, b'1'..=b'9' | b'k' | b'g');
        escaped = !escaped && byte == b'\\';
        refers
    });
    refers || GROUPS.iter().any(|group| pattern.contains(group))
}

/// An alternative of a group, as far as it was read.
#[derive(Debug, Clone, Default)]
struct Alternative {
    /// How it begins.
    first: Vec<u8>,
    /// Its last part, if that is repeated without bound.
    last_repeated: Vec<u8>,
    /// Whether a part of it is repeated without bound.
    repeats: bool,
    /// Whether a part of it must occur exactly as often as the group itself. It keeps two repetitions apart.
    separated: bool,
}

#[derive(Debug, Default)]
struct Group {
    done: Vec<Alternative>,
    current: Alternative,
}

impl Group {
    /// Whether repeating this group repeats a repetition, or has two ways to begin alike.
    fn is_ambiguous(&self) -> bool {
        let all: Vec<&Alternative> = self.done.iter().chain([&self.current]).collect();
        let splits = all.iter().any(|one| one.repeats && !one.separated);
        let alike = all.iter().enumerate().any(|(index, one)| {
            !one.first.is_empty() && all[..index].iter().any(|other| other.first == one.first)
        });
        splits || alike
    }
}

/// Whether a group is repeated without bound that could match the same text in several ways.
fn repeats_repetition(pattern: &[u8]) -> bool {
    let mut groups = vec![Group::default()];
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        let start = at;
        let mut closed: Option<Group> = None;
        match byte {
            b'(' => {
                groups.push(Group::default());
                at += group_head(&pattern[at..]);
                continue;
            }
            b')' => {
                at += 1;
                closed = if groups.len() > 1 { groups.pop() } else { None };
            }
            b'|' => {
                if let Some(group) = groups.last_mut() {
                    let done = std::mem::take(&mut group.current);
                    group.done.push(done);
                }
                at += 1;
                continue;
            }
            b'^' | b'$' => {
                at += 1;
                continue;
            }
            b'\\' => at += 2,
            b'[' => at = class_end(pattern, at),
            _ => at += 1,
        }
        let atom = &pattern[start..at.min(pattern.len())];
        let (len, least, unbounded) = quantifier(&pattern[at.min(pattern.len())..]);
        at += len;
        if unbounded && closed.as_ref().is_some_and(Group::is_ambiguous) {
            return true;
        }
        let Some(group) = groups.last_mut() else { return false };
        // `a*a*` can be split anywhere.
        if unbounded && closed.is_none() && group.current.last_repeated == atom {
            return true;
        }
        group.current.last_repeated = if unbounded && closed.is_none() { atom.to_vec() } else { Vec::new() };
        let inner = closed.as_ref().is_some_and(|inner| {
            inner.done.iter().chain([&inner.current]).any(|one| one.repeats && !one.separated)
        });
        if group.current.first.is_empty() && closed.is_none() {
            group.current.first = atom.to_vec();
        }
        group.current.repeats |= unbounded || inner;
        group.current.separated |= least > 0 && !unbounded && !inner;
    }
    false
}

/// The length of `(`, `(?:`, `(?<name>` and the like.
fn group_head(rest: &[u8]) -> usize {
    match rest {
        [b'(', b'?', b'<', b'=' | b'!', ..] => 4,
        [b'(', b'?', b'P', b'<', ..] | [b'(', b'?', b'<', ..] => {
            rest.iter().position(|byte| *byte == b'>').map_or(rest.len(), |end| end + 1)
        }
        [b'(', b'?', b':' | b'=' | b'!' | b'>', ..] => 3,
        _ => 1,
    }
}

/// The position after the character class at `at`.
fn class_end(pattern: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    end += usize::from(pattern.get(end) == Some(&b'^'));
    end += usize::from(pattern.get(end) == Some(&b']'));
    while let Some(&byte) = pattern.get(end) {
        match byte {
            b'\\' => end += 2,
            b']' => return end + 1,
            _ => end += 1,
        }
    }
    pattern.len()
}

/// The quantifier at the start of `rest`: its length, the least number of repetitions, and whether there is no most.
fn quantifier(rest: &[u8]) -> (usize, usize, bool) {
    let (len, least, unbounded) = match rest.first() {
        Some(b'*') => (1, 0, true),
        Some(b'+') => (1, 1, true),
        Some(b'?') => (1, 0, false),
        Some(b'{') => {
            let end = rest.iter().position(|byte| *byte == b'}').unwrap_or(0);
            let body = std::str::from_utf8(rest.get(1..end).unwrap_or_default()).unwrap_or_default();
            let (least, most) =
                body.split_once(',').map_or((body, None), |(least, most)| (least, Some(most)));
            match least.parse::<usize>() {
                Ok(least) => (end + 1, least, most == Some("")),
                Err(_) => return (0, 1, false),
            }
        }
        _ => return (0, 1, false),
    };
    // Lazy and possessive ones repeat as often.
    (len + usize::from(matches!(rest.get(len), Some(b'?' | b'+'))), least, unbounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_of_repetitions_are_hopeless_with_look_around() {
        for pattern in [
            "(?<!b)(a+)+$",
            "(?=a)(a|a)*$",
            r"(\w+\s?)*\1",
            "(?!x)(?:(a*))*",
            "(?!x)([a-z]+)*$",
            "(?!x)a*a*a*b",
        ] {
            assert!(is_hopeless(pattern), "{pattern}");
        }
    }

    #[test]
    fn what_people_write_is_not() {
        for pattern in [
            "^(a+)+$",
            r"^(?!-)(?:[a-z0-9-]+\.)+[a-z]{2,}$",
            "^(?=.{1,64}$)[a-z]+(-[a-z]+)*$",
            r"^(?!.*\.\.)[a-z.]+$",
            r"^(['\x22]).*\1$",
            r"(?<!\\)(foo|bar)*",
        ] {
            assert!(!is_hopeless(pattern), "{pattern}");
        }
    }
}
