//! Whole runs of the command, as people see them in a terminal.

#[test]
fn commands_look_like_their_transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}

/// In these, broken input is mended.
#[test]
fn repairs_look_like_their_transcripts() {
    trycmd::TestCases::new().case("tests/mended/*.trycmd");
}
