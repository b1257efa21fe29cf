//! JSON pointers (RFC 6901).

/// Appends one reference token.
pub(crate) fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    if !token.contains(['~', '/']) {
        pointer.push_str(token);
        return;
    }
    for ch in token.chars() {
        match ch {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(ch),
        }
    }
}

/// The reference tokens, unescaped.
pub(crate) fn tokens(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_they_were_pushed() {
        let mut pointer = String::new();
        for token in ["a", "", "b/c", "~1", "0"] {
            push(&mut pointer, token);
        }
        assert_eq!(pointer, "/a//b~1c/~01/0");
        assert_eq!(tokens(&pointer).collect::<Vec<_>>(), ["a", "", "b/c", "~1", "0"]);
        assert_eq!(tokens("").count(), 0);
    }
}
