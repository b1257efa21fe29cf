//! What people and CI run: `cargo xtask test` and its neighbours.
//!
//! No dependencies: it is built before anything can be checked.

#![forbid(unsafe_code)]

mod agents;
mod bench;
mod clients;
mod cluster;
mod docs;
mod fuzz;
mod gateway_bench;
mod journal_bench;
mod lab;
mod load;
mod matrix;
mod packages;
mod packages_bench;
mod page;
mod postgres;
mod real;
mod scale;
mod step;
mod test;
mod tidy;

use std::process::ExitCode;

use crate::step::{Failed, say};

const USAGE: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  test                 format, lints, all tests, doc tests and docs: what must be green before a commit
  tidy                 module order, file sizes, cited cases and hooks: rules that no compiler checks
  fuzz --seconds N     every fuzz target for N seconds (needs a nightly toolchain)
  bench [--gate]       speed and memory against the targets and against other repairers
  bench gateway        what the gateway costs, against direct access, nginx and LiteLLM
  bench journal        questions to a journal of 1,000,000 entries, and what writing it costs the gateway
  bench packages       the packages against json, JSON.parse and other repairers
  clients              real clients through the gateway, in front of a server that breaks every rule
  packages             the Python and the Node package, built from the tree, with real frameworks
  agents               Claude Code, Codex, OpenCode, pi, Cline and aider through the gateway, in front of a model that breaks its calls
  matrix               outputs of many model families, replayed over HTTP on every surface
  real                 a real model behind a real llama.cpp server (downloads about 150 MB once)
  load N SECONDS       N streams at once through the gateway, each checked to the last byte
  page                 the page of the gateway in a real browser (Debian's Chromium)
  scale MEGABYTES [KIND]  cleaning generated files (jsonl, parquet, chat): speed, memory, killed and resumed
  cluster              Spark, Ray, DuckDB and Polars from the registry, row by row against the command
  postgres             the tests of the journal on a real PostgreSQL, started on a free port
  docs                 write the pages that are generated from the code";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["test"] => test::run(),
        ["tidy"] => tidy::run(),
        ["fuzz", "--seconds", seconds] => match seconds.parse() {
            Ok(seconds) => fuzz::run(seconds),
            Err(_) => Err(Failed(format!("--seconds wants a whole number, found `{seconds}`"))),
        },
        ["bench"] => bench::run(false),
        ["bench", "--gate"] => bench::run(true),
        ["bench", "gateway"] => gateway_bench::run(),
        ["bench", "journal"] => journal_bench::run(),
        ["bench", "packages"] => packages_bench::run(),
        ["packages"] => packages::run(),
        ["clients"] => clients::run(),
        ["agents"] => agents::run(),
        ["matrix"] => matrix::run(),
        ["real"] => real::run(),
        ["load", streams, seconds] => load::run(streams, seconds),
        ["page"] => page::run(),
        ["scale", megabytes] => scale::run(megabytes, None),
        ["scale", megabytes, kind] => scale::run(megabytes, Some(kind)),
        ["cluster"] => cluster::run(),
        ["postgres"] => postgres::run(),
        ["docs"] => docs::run(),
        ["help" | "--help" | "-h"] => {
            say(USAGE);
            return ExitCode::SUCCESS;
        }
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed(message)) => {
            say(&format!("xtask: {message}"));
            ExitCode::FAILURE
        }
    }
}
