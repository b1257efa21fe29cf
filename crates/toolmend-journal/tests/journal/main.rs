//! The journal on both databases: in a file, and on a `PostgreSQL` server.
//!
//! `cargo test` only runs the tests on files and shows the others as ignored. `cargo xtask postgres` starts a server, names
//! it in `TOOLMEND_TEST_POSTGRES`, and runs all of them.

mod behaviour;
mod killed;
mod support;
mod values;
