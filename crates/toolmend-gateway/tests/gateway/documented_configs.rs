//! The gateway accepts the configurations in the documentation.

use std::fs;
use std::path::{Path, PathBuf};

use toolmend_gateway::Config;

#[test]
fn every_documented_configuration_is_accepted() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(docs.join("servers")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.push(docs.join("gateway.md"));
    let mut blocks = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let taken = Config::from_toml(block);
            assert!(taken.is_ok(), "{}: {}", page.display(), taken.unwrap_err());
            blocks += 1;
        }
    }
    assert!(blocks >= 3, "the pages were not found");
}
