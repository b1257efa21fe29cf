//! How names are compared by their spelling: without case and separators, or by similarity.
//!
//! Similarity feeds suggestions in messages, and the rule for keys with a typing error. It never decides which tool is
//! meant.

/// Longer names are compared by their first characters, so that the cost does not depend on what a model makes up.
const MAX_COMPARED_CHARS: usize = 64;

/// Returns a name without case and separators. One separator between digits stays: `v1_2` is not `v12`.
pub(crate) fn fold_name(name: &str) -> String {
    fold_name_within(name, usize::MAX).unwrap_or_default()
}

/// The same, if the result has at most this many bytes.
pub(crate) fn fold_name_within(name: &str, most: usize) -> Option<String> {
    let mut out = String::with_capacity(name.len().min(most));
    let mut separated = false;
    for ch in name.chars() {
        if is_separator(ch) {
            separated = true;
            continue;
        }
        let before = out.chars().next_back();
        if separated && ch.is_numeric() && before.is_some_and(char::is_numeric) {
            out.push('_');
        }
        separated = false;
        if ch.is_ascii() {
            out.push(ch.to_ascii_lowercase());
        } else {
            out.extend(ch.to_lowercase());
        }
        if out.len() > most {
            return None;
        }
    }
    Some(out)
}

fn is_separator(ch: char) -> bool {
    matches!(ch, '-' | '_' | '.' | ':' | '/' | '\u{200b}'..='\u{200d}' | '\u{feff}') || ch.is_whitespace()
}

/// Returns at most `count` of the known names, the most similar to `name` first. Names that share nothing with it are
/// left out.
pub(crate) fn closest_names<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str>,
    count: usize,
) -> Vec<&'n str> {
    let wanted = letters(name);
    let mut ranked: Vec<(usize, &str)> = known
        .filter_map(|candidate| {
            let letters = letters(candidate);
            let distance = edit_distance(&wanted, &letters);
            let is_similar = distance * 2 <= wanted.len().max(letters.len()) || share_a_word(name, candidate);
            is_similar.then_some((distance, candidate))
        })
        .collect();
    ranked.sort_by_key(|&(distance, _)| distance);
    ranked.into_iter().take(count).map(|(_, name)| name).collect()
}

fn letters(name: &str) -> Vec<char> {
    fold_name(name).chars().take(MAX_COMPARED_CHARS).collect()
}

fn share_a_word(one: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        name.split(|ch: char| !ch.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .take(MAX_COMPARED_CHARS)
            .map(str::to_lowercase)
            .collect()
    };
    let known = words(other);
    words(one).iter().any(|word| known.contains(word))
}

/// Returns the number of letters to insert, delete, replace or swap with their neighbour to get from one to the other.
pub(crate) fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut two_above: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut row = Vec::with_capacity(other.len() + 1);
        row.push(i);
        for j in 1..=other.len() {
            let replaced = above[j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(two_above[j - 2] + 1);
            }
            row.push(least);
        }
        two_above = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_insertions_deletions_substitutions_and_swaps() {
        for (one, other, expected) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("abc", "abc", 0), ("ab", "ba", 1)]
        {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(edit_distance(&chars(one), &chars(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn closest_names_come_first_and_unrelated_names_are_left_out() {
        let tools = ["write_file", "read_file", "bash", "read_files_batch"];
        assert_eq!(closest_names("read_fil", tools.into_iter(), 2), ["read_file", "read_files_batch"]);
        assert_eq!(closest_names("qqqqqqqq", tools.into_iter(), 3), [""; 0]);
        assert_eq!(closest_names("file", tools.into_iter(), 3), ["read_file", "write_file"]);
    }
}
