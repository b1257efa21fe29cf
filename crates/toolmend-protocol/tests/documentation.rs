//! The documentation lists every protocol.

use std::fs;

use toolmend_protocol::Protocol;

fn page(path: &str) -> String {
    fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn every_path_and_name_is_documented() {
    let gateway = page("docs/gateway.md");
    let settings = gateway.lines().find(|line| line.starts_with("surface = ")).unwrap();
    let servers = page("docs/servers/README.md");
    let flag = servers.lines().find_map(|line| line.split("--upstream-surface ").nth(1)).unwrap();
    let has_word =
        |text: &str, word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|found| found == word);
    for protocol in Protocol::ALL {
        for path in protocol.paths().iter().take(1) {
            let row = format!("`POST {path}`");
            assert!(gateway.contains(&row), "{protocol:?}: docs/gateway.md does not list {row}");
        }
        if let Some(name) = protocol.config_name() {
            let has_setting = has_word(settings, name);
            assert!(has_setting, "{protocol:?}: docs/gateway.md does not list `{name}` after `surface =`");
            let has_flag = has_word(flag, name);
            assert!(
                has_flag,
                "{protocol:?}: docs/servers/README.md does not list `{name}` after --upstream-surface"
            );
        }
    }
}
