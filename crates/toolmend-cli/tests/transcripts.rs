//! What people see: whole runs of the command, as they look in a terminal.

#[test]
fn the_shell_itself() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}

/// These need the reader: everything in them was broken and comes out mended.
#[test]
fn mending() {
    trycmd::TestCases::new().case("tests/mended/*.trycmd");
}
