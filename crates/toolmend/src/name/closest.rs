//! The declared names that look most like an undeclared one. For words to the model, never for a decision.

use super::fold;

/// Longer names are compared by their first characters: the cost must not follow what a model makes up.
const LONGEST: usize = 64;

/// At most `count` names, the closest first. Names that share nothing with `name` are left out.
pub(crate) fn closest<'n>(name: &str, declared: impl Iterator<Item = &'n str>, count: usize) -> Vec<&'n str> {
    let wanted = letters(name);
    let mut ranked: Vec<(usize, &str)> = declared
        .filter_map(|candidate| {
            let known = letters(candidate);
            let apart = distance(&wanted, &known);
            let near = apart * 2 <= wanted.len().max(known.len()) || share_a_word(name, candidate);
            near.then_some((apart, candidate))
        })
        .collect();
    ranked.sort_by_key(|&(apart, _)| apart);
    ranked.into_iter().take(count).map(|(_, name)| name).collect()
}

fn letters(name: &str) -> Vec<char> {
    fold(name).chars().take(LONGEST).collect()
}

fn share_a_word(one: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        name.split(|ch: char| !ch.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .take(LONGEST)
            .map(str::to_lowercase)
            .collect()
    };
    let known = words(other);
    words(one).iter().any(|word| known.contains(word))
}

/// Levenshtein's distance.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(other) {
            let above = *cell;
            *cell = (diagonal + usize::from(a != b)).min(above + 1).min(left + 1);
            diagonal = above;
            left = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, other, expected) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("abc", "abc", 0), ("ab", "ba", 2)]
        {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&chars(one), &chars(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn closest_first_and_strangers_not_at_all() {
        let tools = ["write_file", "read_file", "bash", "read_files_batch"];
        assert_eq!(closest("read_fil", tools.into_iter(), 2), ["read_file", "read_files_batch"]);
        assert_eq!(closest("qqqqqqqq", tools.into_iter(), 3), [""; 0]);
        assert_eq!(closest("file", tools.into_iter(), 3), ["read_file", "write_file"]);
    }
}
