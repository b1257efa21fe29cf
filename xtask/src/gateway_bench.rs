//! `cargo xtask bench gateway`: what the gateway costs, as ratios in one run against direct access, nginx and `LiteLLM`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::lab::{self, Server};
use crate::step::{self, Failed, say};

/// How long each cell is measured, and how often, by turns: the machine is shared.
const SECONDS: &str = "2";
const ROUNDS: usize = 5;

/// A way to the model server.
struct Way {
    name: &'static str,
    port: u16,
}

/// What was measured on one way.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// The median time of a request, in microseconds.
    median: f64,
    requests_per_second: f64,
}

/// Prints the tables. What is over a target is said, and is a failure.
pub(crate) fn run() -> Result<(), Failed> {
    let folder = lab::cache("gateway-bench")?;
    let (nginx, wrk) = debian(&folder)?;
    let litellm = lab::python(&folder, "litellm", &["litellm[proxy]"])?;
    let (binary, [paced]) = lab::measured(["paced"])?;
    let ports: Vec<u16> = (0..4).map(|_| lab::free_port()).collect::<Result<_, _>>()?;
    let [model, proxy, gateway, lite] = ports[..] else { return Err(Failed("no ports".to_owned())) };

    let mut command = Command::new(&paced);
    command.args(["serve", &model.to_string()]);
    let _model = Server::start("the model server", &mut command, model, Duration::from_secs(10))?;
    let _nginx = start_nginx(&folder, &nginx, proxy, model)?;
    let _gateway = lab::gateway(&binary, model, gateway)?;
    let _lite = start_litellm(&folder, &litellm, lite, model)?;
    let ways = [
        Way { name: "direct", port: model },
        Way { name: "nginx", port: proxy },
        Way { name: "toolmend", port: gateway },
        Way { name: "LiteLLM", port: lite },
    ];
    let small = body(&folder, "small", 1, 0)?;
    let big = body(&folder, "big", 24, 2300)?;
    let mut missed = Vec::new();
    for (name, script, connections) in
        [("small", &small, 1), ("small", &small, 16), ("big", &big, 1), ("big", &big, 16)]
    {
        let cells = measure(&wrk, &ways, script, connections)?;
        missed.extend(told(name, connections, &ways, &cells));
    }
    missed.extend(streams(&paced, &ways)?);
    if missed.is_empty() { Ok(()) } else { Err(Failed(missed.join("; "))) }
}

/// The median cell of several rounds for each way, the ways by turns.
fn measure(wrk: &Path, ways: &[Way], script: &Path, connections: usize) -> Result<Vec<Cell>, Failed> {
    let mut rounds: Vec<Vec<Cell>> = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for (way, cells) in ways.iter().zip(&mut rounds) {
            let output = Command::new(wrk)
                .args(["-t1", &format!("-c{connections}"), &format!("-d{SECONDS}s"), "--latency", "-s"])
                .arg(script)
                // It looks for its library where Debian would have installed it.
                .env("LD_LIBRARY_PATH", wrk.with_file_name("../lib/x86_64-linux-gnu"))
                .args(["--timeout", "30s", &format!("http://127.0.0.1:{}/v1/chat/completions", way.port)])
                .stderr(Stdio::inherit())
                .output();
            let output = output.map_err(|error| Failed(format!("wrk cannot be started: {error}")))?;
            let text = String::from_utf8_lossy(&output.stdout);
            if text.contains("Non-2xx") || text.contains("Socket errors") {
                return Err(Failed(format!("{} answers with errors:\n{text}", way.name)));
            }
            cells.push(Cell {
                median: line(&text, "50%").and_then(microseconds).unwrap_or(0.0),
                requests_per_second: line(&text, "Requests/sec:")
                    .and_then(|value| value.parse().ok())
                    .unwrap_or(0.0),
            });
        }
    }
    let cell = |cells: &Vec<Cell>| Cell {
        median: middle(cells.iter().map(|cell| cell.median).collect()),
        requests_per_second: middle(cells.iter().map(|cell| cell.requests_per_second).collect()),
    };
    Ok(rounds.iter().map(cell).collect())
}

/// Prints one table, and gives the targets that were missed.
fn told(name: &str, connections: usize, ways: &[Way], cells: &[Cell]) -> Vec<String> {
    say(&format!("\n{name} request, {connections} connection(s)"));
    let (direct, nginx, ours, lite) = (cells[0], cells[1], cells[2], cells[3]);
    for (way, cell) in ways.iter().zip(cells) {
        say(&format!(
            "  {:<9} {:>9.0} requests/s  {:>6.3} of direct   median {:>8.0} µs, adds {:>8.0} µs",
            way.name,
            cell.requests_per_second,
            cell.requests_per_second / direct.requests_per_second,
            cell.median,
            cell.median - direct.median
        ));
    }
    let mut missed = Vec::new();
    let mut check = |what: String, holds: bool| {
        say(&format!("  {} {what}", if holds { "met:   " } else { "missed:" }));
        if !holds {
            missed.push(format!("{name}, {connections} connection(s): {what}"));
        }
    };
    if connections == 1 {
        let most = if name == "small" { 5.0 } else { 6.0 };
        let times = (ours.median - direct.median) / (nginx.median - direct.median).max(1.0);
        check(format!("adds {times:.1} times what nginx adds (at most {most})"), times <= most);
    }
    if connections == 16 && name == "small" {
        let share = ours.requests_per_second / direct.requests_per_second;
        check(format!("{share:.2} of direct requests per second (at least 0.3)"), share >= 0.3);
    }
    let times = ours.requests_per_second / lite.requests_per_second.max(0.001);
    check(format!("{times:.0} times the throughput of LiteLLM (at least 50)"), times >= 50.0);
    missed
}

/// The time to the first byte of streams, the ways by turns.
fn streams(paced: &Path, ways: &[Way]) -> Result<Vec<String>, Failed> {
    say("\nstream, time to the first byte");
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for (way, medians) in ways.iter().zip(&mut rounds) {
            let output = Command::new(paced)
                .args(["first-byte", &way.port.to_string(), "9"])
                .stderr(Stdio::inherit())
                .output();
            let output =
                output.map_err(|error| Failed(format!("the stream reader cannot be started: {error}")))?;
            let text = String::from_utf8_lossy(&output.stdout);
            medians.push(text.trim().parse().map_err(|_| Failed(format!("{}: {text}", way.name)))?);
        }
    }
    let medians: Vec<f64> = rounds.into_iter().map(middle).collect();
    for (way, median) in ways.iter().zip(&medians) {
        say(&format!("  {:<9} median {median:>9.0} µs", way.name));
    }
    let added = medians[2] - medians[0];
    let met = added <= 1000.0;
    say(&format!(
        "  {} within {added:.0} µs of direct (at most 1000)",
        if met { "met:   " } else { "missed:" }
    ));
    Ok(if met { Vec::new() } else { vec![format!("the first byte of a stream comes {added:.0} µs late")] })
}

/// The value in the middle.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The value behind a word in the report of wrk.
fn line<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim)
}

/// A time as wrk writes it.
fn microseconds(text: &str) -> Option<f64> {
    let (number, factor) = [("us", 1.0), ("ms", 1e3), ("s", 1e6)]
        .into_iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|number| (number, factor)))?;
    Some(number.parse::<f64>().ok()? * factor)
}

/// A script for wrk with a request that has this many tools, each with a description of this length.
fn body(folder: &Path, name: &str, tools: usize, length: usize) -> Result<PathBuf, Failed> {
    let mut list = String::new();
    for tool in 0..tools {
        let comma = if tool == 0 { "" } else { "," };
        let about = "Reads, writes and looks for things in files. ".repeat(length / 45);
        let _ = write!(
            list,
            r#"{comma}{{"type":"function","function":{{"name":"tool_{tool}","description":"{about}","parameters":{{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{{"city":{{"type":"string","description":"{}"}},"days":{{"type":"integer","minimum":1}},"tags":{{"type":"array","items":{{"type":"string"}}}}}},"required":["city"],"additionalProperties":false}}}}}}"#,
            &about[..about.len() / 4]
        );
    }
    let request =
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],"tools":[{list}]}}"#);
    say(&format!("the {name} request has {} bytes", request.len()));
    let script = format!(
        "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\nwrk.headers[\"Authorization\"] = \"Bearer x\"\nwrk.body = [==[{request}]==]\n"
    );
    let path = folder.join(format!("{name}.lua"));
    fs::write(&path, script).map_err(|error| Failed(format!("cannot write {}: {error}", path.display())))?;
    Ok(path)
}

/// nginx and wrk from Debian's packages, unpacked and not installed.
fn debian(folder: &Path) -> Result<(PathBuf, PathBuf), Failed> {
    let unpacked = folder.join("debian");
    let (nginx, wrk) = (unpacked.join("usr/sbin/nginx"), unpacked.join("usr/bin/wrk"));
    if !nginx.exists() || !wrk.exists() {
        let packages = folder.join("packages");
        fs::create_dir_all(&packages).map_err(|error| Failed(format!("cannot make a folder: {error}")))?;
        step::run(
            Command::new("apt-get")
                .args(["download", "nginx", "wrk", "libluajit-5.1-2"])
                .current_dir(&packages),
        )?;
        let files =
            fs::read_dir(&packages).map_err(|error| Failed(format!("cannot read a folder: {error}")))?;
        for file in files.flatten() {
            step::run(Command::new("dpkg-deb").arg("-x").arg(file.path()).arg(&unpacked))?;
        }
    }
    Ok((nginx, wrk))
}

fn start_nginx(folder: &Path, nginx: &Path, port: u16, to: u16) -> Result<Server, Failed> {
    let place = folder.display();
    let config = format!(
        "daemon off; master_process off; pid {place}/nginx.pid; error_log {place}/nginx.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ access_log off; client_max_body_size 10m; client_body_buffer_size 1m;\n\
         client_body_temp_path {place}/t1; proxy_temp_path {place}/t2; fastcgi_temp_path {place}/t3; uwsgi_temp_path {place}/t4; scgi_temp_path {place}/t5;\n\
         upstream model {{ server 127.0.0.1:{to}; keepalive 64; }}\n\
         server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off; }} }} }}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, config).map_err(|error| Failed(format!("cannot write {}: {error}", file.display())))?;
    let mut command = Command::new(nginx);
    command.arg("-c").arg(&file).arg("-p").arg(folder).stderr(Stdio::null());
    Server::start("nginx", &mut command, port, Duration::from_secs(10))
}

fn start_litellm(folder: &Path, python: &Path, port: u16, to: u16) -> Result<Server, Failed> {
    let file = folder.join("litellm.yaml");
    let config = format!(
        "model_list:\n  - model_name: m\n    litellm_params:\n      model: hosted_vllm/m\n      api_base: http://127.0.0.1:{to}/v1\n      api_key: x\n"
    );
    fs::write(&file, config).map_err(|error| Failed(format!("cannot write {}: {error}", file.display())))?;
    let program = python.with_file_name("litellm");
    let mut command = Command::new(program);
    command.arg("--config").arg(&file).args([
        "--host",
        "127.0.0.1",
        "--port",
        &port.to_string(),
        "--telemetry",
        "False",
    ]);
    command
        .env("LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY", "true")
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Server::start("LiteLLM", &mut command, port, Duration::from_mins(5))
}

#[test]
fn times_are_read_as_they_are_written() {
    assert_eq!(microseconds("41.00us"), Some(41.0));
    assert_eq!(microseconds("1.50ms"), Some(1500.0));
    assert_eq!(microseconds("2.00s"), Some(2e6));
    assert_eq!(line("  50%   41.00us\n", "50%"), Some("41.00us"));
}
