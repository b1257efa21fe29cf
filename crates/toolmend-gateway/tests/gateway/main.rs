//! The gateway between a scripted server and a plain client.

#![allow(
    clippy::format_collect,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::similar_names,
    clippy::type_complexity,
    reason = "scripts are assembled from pieces, and a failing test shows the whole stream"
)]

mod call_ids;
mod calls_in_text;
mod chat;
mod dashboard;
mod demo;
mod documented_configs;
mod extra_members;
mod fallback;
mod faults;
mod fixture;
mod history;
mod journal;
mod keys;
mod labels;
mod limits;
mod live;
mod messages;
mod ollama_and_completions;
mod other_forms;
mod policy;
mod promises;
mod proxy;
mod refusals;
mod request_ids;
mod responses;
mod security;
mod split_characters;
mod test_protocols;
mod tls;
mod traces;
mod translate;
mod unusual_servers;
mod wire;
