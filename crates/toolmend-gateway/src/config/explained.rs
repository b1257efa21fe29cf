//! The explanations in a printed configuration: the documentation of the settings, from the source.
//!
//! They are read from the source so that there is one text for each setting.

/// A section of the file: its name, and the type whose members are its settings.
struct Section {
    name: &'static str,
    source: &'static str,
    type_name: &'static str,
}

const SECTIONS: &[Section] = &[
    Section { name: "", source: include_str!("mod.rs"), type_name: "Config" },
    Section { name: "tls", source: include_str!("tls.rs"), type_name: "TlsConfig" },
    Section { name: "journal", source: include_str!("journal.rs"), type_name: "JournalConfig" },
    Section { name: "repairs", source: include_str!("repairs.rs"), type_name: "RepairSettings" },
    Section { name: "limits", source: include_str!("limits.rs"), type_name: "RequestLimits" },
    Section { name: "keys", source: include_str!("keys.rs"), type_name: "ClientKey" },
    Section { name: "upstreams", source: include_str!("mod.rs"), type_name: "Upstream" },
];

/// What is written instead of sections that are not there, so that people see how to begin one.
const EXAMPLES: &[(&str, &str)] = &[
    ("tls", "[tls]\ncert = \"/etc/toolmend/cert.pem\"\nkey = \"/etc/toolmend/key.pem\"\n"),
    ("keys", "[[keys]]\nname = \"team-a\"\nkey_env = \"TEAM_A_KEY\"\n"),
    (
        "upstreams",
        "[[upstreams]]\nurl = \"http://127.0.0.1:11434\"\n\n[[upstreams]]\nurl = \"http://127.0.0.1:8080\"\nmodels = [\"qwen*\"]\n",
    ),
];

/// Puts the explanation of each setting above it, and examples of the sections that are not there at the end.
pub(super) fn explain(toml: &str) -> String {
    let mut out = String::with_capacity(toml.len() * 4);
    let mut section = "";
    for line in toml.lines() {
        if let Some(name) = line.strip_prefix('[').map(|line| line.trim_matches(['[', ']'])) {
            section = name;
            push_comment(&mut out, find_explanation("", name));
        } else if let Some((key, _)) = line.split_once(" = ")
            && !key.contains(char::is_whitespace)
        {
            push_comment(&mut out, find_explanation(section, key));
        }
        out.push_str(line);
        out.push('\n');
    }
    for (name, example) in EXAMPLES {
        if !toml.contains(&format!("[{name}]")) {
            out.push('\n');
            push_comment(&mut out, find_explanation("", name));
            out.extend(example.lines().flat_map(|line| ["#", line, "\n"]));
        }
    }
    out
}

fn push_comment<'t>(out: &mut String, lines: impl Iterator<Item = &'t str>) {
    for line in lines {
        out.extend(["# ", line, "\n"]);
    }
}

/// The lines of documentation above a member.
fn find_explanation(section: &str, key: &str) -> impl Iterator<Item = &'static str> {
    let section = SECTIONS.iter().find(|known| known.name == section);
    let body = section.and_then(|section| {
        let start = section.source.find(&format!("pub struct {} {{", section.type_name))?;
        section.source[start..].split("\n}").next()
    });
    let before =
        body.and_then(|body| body.split_once(&format!("\n    pub {key}: "))).map_or("", |(it, _)| it);
    let mut lines: Vec<&str> = before
        .lines()
        .rev()
        .map(str::trim)
        .take_while(|line| line.starts_with("///") || line.starts_with("#["))
        .filter_map(|line| line.strip_prefix("/// "))
        .collect();
    lines.reverse();
    lines.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn every_setting_is_explained() {
        let config = Config::default().to_explained_toml();
        let lines: Vec<&str> = config.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            if line.contains(" = ") && !line.starts_with('#') {
                assert!(lines[index - 1].starts_with("# "), "{line}");
            }
        }
        assert!(config.contains("# Where it listens. The default is loopback only.\nlisten = "), "{config}");
        assert_eq!(Config::from_toml(&config).unwrap(), Config::default());
    }

    /// Without their marks, the examples are a configuration.
    #[test]
    fn the_examples_are_valid() {
        let text: String = EXAMPLES.iter().map(|(_, example)| example.replace("key_env", "key")).collect();
        let config = Config::from_toml(&text).unwrap();
        assert_eq!((config.upstreams.len(), config.keys.len(), config.tls.is_some()), (2, 1, true));
        let explained = explain("");
        for (name, _) in EXAMPLES {
            assert!(
                explained.contains(&format!("\n#[{name}]")) || explained.contains(&format!("\n#[[{name}]]"))
            );
            assert!(find_explanation("", name).next().is_some(), "{name}");
        }
        // A file that has a section needs no example of it.
        assert!(
            !Config { upstreams: vec![crate::config::Upstream::new("http://a")], ..Config::default() }
                .to_explained_toml()
                .contains("#[[upstreams]]")
        );
    }
}
