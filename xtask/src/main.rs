//! The tasks that people and CI run, such as `cargo xtask test`.
//!
//! This crate has no dependencies, so that it is built quickly before anything else is checked.

#![forbid(unsafe_code)]

mod agents;
mod bench;
mod builds;
mod clients;
mod climb;
mod cluster;
mod command;
mod docs;
mod files;
mod fuzz;
mod installs;
mod load;
mod markdown;
mod matrix;
mod mutants;
mod needs;
mod packages;
mod page;
mod postgres;
mod real;
mod release;
mod scale;
mod servers;
mod siege;
mod site;
mod test;
mod tidy;
mod timings;
mod wasm;

use std::process::ExitCode;

use crate::command::{TaskError, print_line};

const USAGE: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  test [--list] [PART...]
                       format, lints, all tests and docs: everything that must pass before a commit. Leaves out what this
                       machine cannot run, except with CI=true. --list shows the parts and what they need
  tidy                 check module order, file sizes, cited cases, examples, hooks, paths and wording
  fuzz --seconds N     run every fuzz target for N seconds (needs a nightly toolchain)
  mutants [--minutes N] [--file GLOB] [--shard K/N]
                       change the core in small ways and check that a test notices each change (installs cargo-mutants)
  climb --seconds N    look for slow inputs by hill climbing for N seconds
  bench [--gate]       measure speed and memory against the targets and other repairers
  bench gateway        measure the gateway against direct access, nginx and LiteLLM
  bench journal        measure queries on a journal of 1,000,000 entries, and the cost of writing it
  bench packages       measure the packages against json, JSON.parse and other repairers
  bench wasm           measure the package for browsers against the Node package
  clients              run real clients through the gateway, with a server that breaks every rule
  packages             build the Python and Node packages and test them with real frameworks
  wasm [--build]       build the package for browsers, and test it in Node and in a browser (Debian's Chromium). --build
                       only builds it
  agents [--only AGENT] [--case CASE]
                       run real coding agents with a model that breaks its calls, directly and through the gateway, and
                       check that none gets less far through it; writes docs/agents.md, and keeps what earlier runs measured
  matrix               replay outputs of many model families over HTTP on every API surface
  real                 run a real model in a real llama.cpp server (downloads about 150 MB once)
  load N SECONDS       send N concurrent streams through the gateway and check every byte
  siege [--minutes N]  attack the gateway in many ways at once, next to streams that are checked: 20 seconds, or N minutes
                       with 500 streams
  page                 test the page of the gateway in a real browser (Debian's Chromium)
  scale MEGABYTES [KIND]
                       clean generated files (jsonl, parquet, chat): speed, memory, killed and resumed runs
  cluster              compare Spark, Ray, DuckDB and Polars with the command, row by row
  postgres             test the journal on a real PostgreSQL
  release --check      pack every crate, check dependencies, versions and the files that deploy the gateway, build and
                       install the packages for Python and Node, and build and start a static binary
  release --version X.Y.Z
                       write the version wherever it is, and begin its section in CHANGELOG.md
  binary [--quick | --target TRIPLE]
                       build the command as it is released, check that it needs no libraries, and pack it with manual pages
                       and completions. --quick only checks, with few features
  timings              measure how long it takes to build what people build, from nothing
  docs                 write the pages that are generated from the code
  site                 build the documentation as a site, and check its links";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["test", options @ ..] => test::Options::parse(options).and_then(|options| test::run(&options)),
        ["tidy"] => tidy::run(),
        ["fuzz", "--seconds", seconds] => match seconds.parse() {
            Ok(seconds) => fuzz::run(seconds),
            Err(_) => Err(TaskError(format!("--seconds: expected a whole number, found `{seconds}`"))),
        },
        ["mutants", options @ ..] => {
            mutants::Options::parse(options).and_then(|options| mutants::run(&options))
        }
        ["climb", "--seconds", seconds] => climb::run(seconds),
        ["bench"] => bench::library::run(false),
        ["bench", "--gate"] => bench::library::run(true),
        ["bench", "gateway"] => bench::gateway::run(),
        ["bench", "journal"] => bench::journal::run(),
        ["bench", "packages"] => bench::packages::run(),
        ["bench", "wasm"] => bench::wasm::run(),
        ["packages"] => packages::run(),
        ["wasm"] => wasm::run(),
        ["wasm", "--build"] => wasm::build_package().map(|_| ()),
        ["clients"] => clients::run(),
        ["agents", options @ ..] => agents::Options::parse(options).and_then(|options| agents::run(&options)),
        ["matrix"] => matrix::run(),
        ["real"] => real::run(),
        ["load", streams, seconds] => load::run(streams, seconds),
        ["siege"] => siege::run_short(),
        ["siege", "--minutes", minutes] => siege::run_long(minutes),
        ["page"] => page::run(),
        ["scale", megabytes] => scale::run(megabytes, None),
        ["scale", megabytes, kind] => scale::run(megabytes, Some(kind)),
        ["cluster"] => cluster::run(),
        ["postgres"] => postgres::run(),
        ["release", "--check"] => release::check(),
        ["release", "--version", version] => release::version::set(version),
        ["binary", options @ ..] => {
            release::binary::Options::parse(options).and_then(|options| release::binary::build(&options))
        }
        ["timings"] => timings::run(),
        ["docs"] => docs::run(),
        ["site"] => site::run(),
        ["help" | "--help" | "-h"] => {
            print_line(USAGE);
            return ExitCode::SUCCESS;
        }
        _ => {
            print_line(USAGE);
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(TaskError(message)) => {
            print_line(&format!("xtask: {message}"));
            ExitCode::FAILURE
        }
    }
}
