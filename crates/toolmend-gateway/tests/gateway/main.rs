//! The gateway between a scripted server and a plain client.

#![allow(
    clippy::format_collect,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::similar_names,
    clippy::type_complexity,
    reason = "scripts are put together from pieces, and a failing test shows the whole stream"
)]

mod chat;
mod demo;
mod faults;
mod history;
mod journal;
mod leaks;
mod live;
mod messages;
mod odd;
mod others;
mod page;
mod pages;
mod policy;
mod proxy;
mod responses;
mod rig;
mod sides;
mod tls;
mod traces;
mod translate;
