//! Writes a compact JSON text in other styles and finds its structural marks.

/// How much white space there is between tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Compact,
    Spaced,
    Indented,
}

impl Style {
    pub(crate) const ALL: [Style; 3] = [Style::Compact, Style::Spaced, Style::Indented];
}

/// A JSON text with the places that can be damaged.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// The places of brackets, commas and colons, and of the quotes around strings.
    pub(crate) marks: Vec<usize>,
    /// The places of all quotes, also of those inside strings (there, of their backslash).
    pub(crate) quotes: Vec<usize>,
}

/// Renders a text that has no white space between its tokens.
pub(crate) fn render(compact: &str, style: Style) -> Rendered {
    let mut out = Rendered { text: String::new(), marks: Vec::new(), quotes: Vec::new() };
    let mut depth = 0;
    let mut in_string = false;
    let mut characters = compact.chars().peekable();
    while let Some(ch) = characters.next() {
        let here = out.text.len();
        if in_string && ch != '"' {
            out.text.push(ch);
            if ch == '\\' {
                let escaped = characters.next().unwrap();
                out.text.push(escaped);
                if escaped == '"' {
                    out.quotes.push(here);
                }
            }
            continue;
        }
        match ch {
            '"' => {
                in_string = !in_string;
                out.quotes.push(here);
                out.mark(ch);
            }
            '{' | '[' => {
                out.mark(ch);
                // Empty containers stay on one line, as every serializer writes them.
                if !matches!(characters.peek(), Some('}' | ']')) {
                    depth += 1;
                    out.line(style, depth);
                } else if let Some(closer) = characters.next() {
                    out.mark(closer);
                }
            }
            '}' | ']' => {
                depth -= 1;
                out.line(style, depth);
                out.mark(ch);
            }
            ',' => {
                out.mark(ch);
                if style == Style::Spaced {
                    out.text.push(' ');
                }
                out.line(style, depth);
            }
            ':' => {
                out.mark(ch);
                if style != Style::Compact {
                    out.text.push(' ');
                }
            }
            other => out.text.push(other),
        }
    }
    out
}

impl Rendered {
    fn mark(&mut self, ch: char) {
        self.marks.push(self.text.len());
        self.text.push(ch);
    }

    fn line(&mut self, style: Style, depth: usize) {
        if style == Style::Indented {
            self.text.push('\n');
            self.text.push_str(&"  ".repeat(depth));
        }
    }
}

#[test]
fn a_rendering_keeps_the_value_and_knows_its_marks() {
    let compact = r#"{"a":[],"b":{"c \" d":[1,"x, {y}"]}}"#;
    let rendered = Style::ALL.map(|style| render(compact, style));
    assert_eq!(rendered[0].text, compact);
    assert_eq!(rendered[1].text, r#"{"a": [], "b": {"c \" d": [1, "x, {y}"]}}"#);
    assert_eq!(
        rendered[2].text,
        "{\n  \"a\": [],\n  \"b\": {\n    \"c \\\" d\": [\n      1,\n      \"x, {y}\"\n    ]\n  }\n}"
    );
    for Rendered { text, marks, quotes } in rendered {
        let found: String = marks.iter().map(|&at| char::from(text.as_bytes()[at])).collect();
        assert_eq!(found, r#"{"":[],"":{"":[,""]}}"#);
        let found: String = quotes.iter().map(|&at| char::from(text.as_bytes()[at])).collect();
        assert_eq!(found, "\"\"\"\"\"\\\"\"\"");
    }
}
