//! Text that agents put into arguments: words, paths, and whole files full of quotes and backslashes.

use crate::random::Random;

const WORDS: &[&str] = &[
    "river", "invoice", "module", "café", "north", "ticket", "sensor", "queue", "漢字", "report", "blue",
    "weekly",
];

/// One word.
pub(crate) fn word(random: &mut Random) -> String {
    random.pick(WORDS).to_owned()
}

/// A few words, sometimes with an apostrophe or a comma.
pub(crate) fn phrase(random: &mut Random) -> String {
    let mut words: Vec<_> = (0..random.between(2, 5)).map(|_| word(random)).collect();
    if random.once_in(4) {
        words.push("that's it".to_owned());
    }
    let separator = random.pick(&[" ", " ", " ", ", "]);
    words.join(separator)
}

/// A few words with an inch mark, an abbreviation that is written with a quote, or a quoted word.
pub(crate) fn measure(random: &mut Random) -> String {
    let (a, n) = (word(random), random.between(2, 48));
    match random.below(7) {
        0 => format!("{n}\" {a}"),
        1 => format!("a {a}, {n}\" long"),
        2 => format!("{a} {n}\""),
        3 => "צה\"ל".to_owned(),
        4 => format!("{a} ארה\"ב, {n}"),
        5 => format!("the \"{a}\""),
        _ => a,
    }
}

/// A path, a URL, a date or a time.
pub(crate) fn reference(random: &mut Random) -> String {
    let (a, b, n) = (word(random), word(random), random.between(10, 28));
    match random.below(5) {
        0 => format!("src/{a}/{b}_{n}.rs"),
        1 => format!("https://example.org/{a}?q={b}&n={n}"),
        2 => format!("2026-03-{n}"),
        3 => format!("{n}:45"),
        _ => format!("./{a}-{n}.txt"),
    }
}

/// A folder, sometimes with backslashes.
pub(crate) fn folder(random: &mut Random) -> String {
    let (a, b) = (word(random), random.pick(&["new", "table", "Users", "bin", "docs"]));
    match random.below(3) {
        0 => format!("C:\\{b}\\{a}\\{}", word(random)),
        1 => format!("/srv/{b}/{a}"),
        _ => format!("{a}/{b}"),
    }
}

/// A file of some kind, from a few lines to a few dozen.
pub(crate) fn file(random: &mut Random) -> String {
    let line: fn(&mut Random) -> String = match random.below(6) {
        0 => python,
        1 => html,
        2 => markdown,
        3 => shell,
        4 => rust,
        _ => return json(random),
    };
    let mut text: String = (0..random.between(2, 7)).map(|_| line(random) + "\n").collect();
    if random.once_in(3) {
        text.pop();
    }
    text
}

fn python(random: &mut Random) -> String {
    let (a, n) = (word(random), random.below(90));
    match random.below(6) {
        0 => format!("def part_{n}(rows, sep=\",\"):"),
        1 => format!("    print(\"{a}\", end=\"\")  # it's number {n}"),
        2 => format!("    names = [row[\"{a}\"] for row in rows if row['{a}'] != ''] "),
        3 => format!("    text = re.sub(r\"\\s+{n}\", \" \", text)"),
        4 => format!("    return {{\"{a}\": {n}, \"rest\": [\"x\", \"y\"]}}"),
        _ => format!("    \"\"\"The {a} of {n}.\"\"\""),
    }
}

fn html(random: &mut Random) -> String {
    let (a, n) = (word(random), random.below(90));
    match random.below(4) {
        0 => format!("<div class=\"{a}\" id=\"n{n}\">"),
        1 => format!("  <a href=\"/{a}?n={n}&amp;x=1\" onclick=\"go('{a}')\">{a}, {n}</a>"),
        2 => format!("  <p>He said \"{a}\" and left.</p>"),
        _ => "</div>".to_owned(),
    }
}

fn markdown(random: &mut Random) -> String {
    let (a, n) = (word(random), random.below(90));
    match random.below(6) {
        0 => format!("# The \"{a}\" chapter"),
        1 => format!("| {a} | \"{n}\" |"),
        2 => format!("- it's [{a}](https://example.org/{n}) // not a comment"),
        3 => "```json".to_owned(),
        4 => "```".to_owned(),
        _ => format!("Costs {n},50 {{net}}; see \\{a}."),
    }
}

fn shell(random: &mut Random) -> String {
    let (a, n) = (word(random), random.below(90));
    match random.below(4) {
        0 => format!("grep -E \"^{a}\\s+[0-9]{{{n}}}$\" 'in.txt' | awk '{{print $1}}'"),
        1 => format!("# {a}: \"{n}\""),
        2 => format!("echo \"{a} \\\"{n}\\\" done\" >> out.log"),
        _ => format!("export NAME_{n}=\"{a}\""),
    }
}

fn rust(random: &mut Random) -> String {
    let (a, n) = (word(random), random.below(90));
    match random.below(4) {
        0 => format!("fn step_{n}(text: &str) -> Option<&'static str> {{"),
        1 => format!("    let found = text.find(\"{a}\\n\").map(|at| at + {n});"),
        2 => format!("    println!(\"{{found:?}} \\\"{a}\\\" {{}}\", '\\'');"),
        _ => "}".to_owned(),
    }
}

fn json(random: &mut Random) -> String {
    let (a, b, n) = (word(random), word(random), random.below(90));
    match random.below(3) {
        0 => format!("{{\"name\": \"{a}\", \"version\": \"{n}\", \"files\": [\"{b}\", \"x\"]}}"),
        1 => format!("{{\n  \"name\": \"{a}\",\n  \"nested\": {{\"{b}\": [{n}, null, true]}}\n}}\n"),
        _ => format!("[{{\"id\": {n}, \"label\": \"say \\\"{a}\\\"\"}}]"),
    }
}
