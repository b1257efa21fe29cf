//! The journal, on every database that is at hand: always in a file, and in `PostgreSQL` where
//! `TOOLMEND_TEST_POSTGRES` has the URL of a server (`cargo xtask postgres` brings one along).

mod behaviour;
mod killed;
mod rig;
mod values;
