//! `cargo xtask bench gateway`: measures the gateway against direct access, nginx and `LiteLLM`, as ratios in one run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::builds::build_measured;
use crate::command::{TaskError, capture_output, print_line, run_command};
use crate::files::{cache_folder, create_folder, list_files, write_file};
use crate::installs::install_python_packages;
use crate::servers::{Server, free_port, start_gateway};

/// How long a measurement takes, and how often it is repeated. The routes take turns because the machine is shared.
const SECONDS: &str = "2";
const ROUNDS: usize = 5;

/// A route to the model server.
struct Route {
    name: &'static str,
    port: u16,
}

/// What was measured on one route.
#[derive(Debug, Clone, Copy, Default)]
struct Measurement {
    /// The median time of a request, in microseconds.
    median: f64,
    requests_per_second: f64,
}

/// The version that the targets refer to.
const LITELLM: &str = "litellm[proxy]==1.106.2";

/// Prints the tables. A missed target is an error.
pub(crate) fn run() -> Result<(), TaskError> {
    let folder = cache_folder("gateway-bench")?;
    let (nginx, wrk) = download_nginx_and_wrk(&folder)?;
    let litellm = install_python_packages(&folder, "litellm", &[LITELLM])?;
    let (binary, [paced_server]) = build_measured(["paced_server"])?;
    let ports: Vec<u16> = (0..4).map(|_| free_port()).collect::<Result<_, _>>()?;
    let [model, proxy, gateway, lite] = ports[..] else {
        return Err(TaskError("no port is free".to_owned()));
    };

    let mut command = Command::new(&paced_server);
    command.args(["serve", &model.to_string()]);
    let _model = Server::start("the model server", &mut command, model, Duration::from_secs(10))?;
    let _nginx = start_nginx(&folder, &nginx, proxy, model)?;
    let _gateway = start_gateway(&binary, model, gateway)?;
    let _lite = start_litellm(&folder, &litellm, lite, model)?;
    let routes = [
        Route { name: "direct", port: model },
        Route { name: "nginx", port: proxy },
        Route { name: "toolmend", port: gateway },
        Route { name: "LiteLLM", port: lite },
    ];
    let small = write_request(&folder, "small", 1, 0)?;
    let big = write_request(&folder, "big", 24, 2300)?;
    let mut missed = Vec::new();
    for (name, script, connections) in
        [("small", &small, 1), ("small", &small, 16), ("big", &big, 1), ("big", &big, 16)]
    {
        let measurements = measure_requests(&wrk, &routes, script, connections)?;
        missed.extend(print_table(name, connections, &routes, &measurements));
    }
    missed.extend(measure_first_bytes(&paced_server, &routes)?);
    TaskError::from_missed(&missed)
}

/// Returns the medians of several rounds for each route.
fn measure_requests(
    wrk: &Path,
    routes: &[Route],
    script: &Path,
    connections: usize,
) -> Result<Vec<Measurement>, TaskError> {
    let mut rounds: Vec<Vec<Measurement>> = vec![Vec::new(); routes.len()];
    for _ in 0..ROUNDS {
        for (route, measurements) in routes.iter().zip(&mut rounds) {
            let mut command = Command::new(wrk);
            command
                .args(["-t1", &format!("-c{connections}"), &format!("-d{SECONDS}s"), "--latency", "-s"])
                .arg(script)
                // It looks for its library where Debian installs it, but it was only unpacked.
                .env("LD_LIBRARY_PATH", wrk.with_file_name("../lib/x86_64-linux-gnu"))
                .args(["--timeout", "30s", &format!("http://127.0.0.1:{}/v1/chat/completions", route.port)]);
            let output = capture_output("wrk", &mut command)?;
            let text = String::from_utf8_lossy(&output.stdout);
            if text.contains("Non-2xx") || text.contains("Socket errors") {
                return Err(TaskError(format!("{} answers with errors:\n{text}", route.name)));
            }
            measurements.push(Measurement {
                median: find_value(&text, "50%").and_then(parse_microseconds).unwrap_or(0.0),
                requests_per_second: find_value(&text, "Requests/sec:")
                    .and_then(|value| value.parse().ok())
                    .unwrap_or(0.0),
            });
        }
    }
    let summarize = |rounds: &Vec<Measurement>| Measurement {
        median: median(rounds.iter().map(|round| round.median).collect()),
        requests_per_second: median(rounds.iter().map(|round| round.requests_per_second).collect()),
    };
    Ok(rounds.iter().map(summarize).collect())
}

/// Prints one table. Returns the targets that were missed.
fn print_table(
    name: &str,
    connections: usize,
    routes: &[Route],
    measurements: &[Measurement],
) -> Vec<String> {
    print_line(&format!("\n{name} request, {connections} connection(s)"));
    let [direct, nginx, ours, lite] = [0, 1, 2, 3].map(|index| measurements[index]);
    for (route, measured) in routes.iter().zip(measurements) {
        print_line(&format!(
            "  {:<9} {:>9.0} requests/s  {:>6.3} of direct   median {:>8.0} µs, adds {:>8.0} µs",
            route.name,
            measured.requests_per_second,
            measured.requests_per_second / direct.requests_per_second,
            measured.median,
            measured.median - direct.median
        ));
    }
    let mut missed = Vec::new();
    let mut check = |target: String, is_met: bool| {
        print_line(&format!("  {} {target}", if is_met { "met:   " } else { "missed:" }));
        if !is_met {
            missed.push(format!("{name}, {connections} connection(s): {target}"));
        }
    };
    if connections == 1 {
        let most = if name == "small" { 5.0 } else { 6.0 };
        let times = (ours.median - direct.median) / (nginx.median - direct.median).max(1.0);
        check(format!("adds {times:.1} times what nginx adds (at most {most})"), times <= most);
        // On one connection the throughput is that of the client and the server as much as that of what is between them:
        // nginx does not reach 50 times LiteLLM's either. What each of them adds is their own.
        let times = (lite.median - direct.median) / (ours.median - direct.median).max(1.0);
        check(format!("LiteLLM adds {times:.0} times what toolmend adds (at least 50)"), times >= 50.0);
    }
    if connections == 16 && name == "small" {
        let share = ours.requests_per_second / direct.requests_per_second;
        check(format!("{share:.2} of direct requests per second (at least 0.3)"), share >= 0.3);
    }
    if connections == 16 {
        let times = ours.requests_per_second / lite.requests_per_second.max(0.001);
        check(format!("{times:.0} times the throughput of LiteLLM (at least 50)"), times >= 50.0);
    }
    missed
}

/// Measures the time to the first byte of streams. Returns the targets that were missed.
fn measure_first_bytes(paced_server: &Path, routes: &[Route]) -> Result<Vec<String>, TaskError> {
    print_line("\nstream, time to the first byte");
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); routes.len()];
    for _ in 0..ROUNDS {
        for (route, medians) in routes.iter().zip(&mut rounds) {
            let mut command = Command::new(paced_server);
            command.args(["first-byte", &route.port.to_string(), "9"]);
            let output = capture_output("the stream reader", &mut command)?;
            let text = String::from_utf8_lossy(&output.stdout);
            medians.push(text.trim().parse().map_err(|_| TaskError(format!("{}: {text}", route.name)))?);
        }
    }
    let medians: Vec<f64> = rounds.into_iter().map(median).collect();
    for (route, median) in routes.iter().zip(&medians) {
        print_line(&format!("  {:<9} median {median:>9.0} µs", route.name));
    }
    let added = medians[2] - medians[0];
    let is_met = added <= 1000.0;
    print_line(&format!(
        "  {} within {added:.0} µs of direct (at most 1000)",
        if is_met { "met:   " } else { "missed:" }
    ));
    Ok(if is_met { Vec::new() } else { vec![format!("the first byte of a stream is {added:.0} µs late")] })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Finds the value after a word in the report of wrk.
fn find_value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim)
}

/// Parses a time as wrk writes it.
fn parse_microseconds(text: &str) -> Option<f64> {
    let (number, factor) = [("us", 1.0), ("ms", 1e3), ("s", 1e6)]
        .into_iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|number| (number, factor)))?;
    Some(number.parse::<f64>().ok()? * factor)
}

/// Writes a script for wrk. Its request has this many tools, each with a description of this length.
fn write_request(folder: &Path, name: &str, tools: usize, length: usize) -> Result<PathBuf, TaskError> {
    let mut list = String::new();
    for tool in 0..tools {
        let comma = if tool == 0 { "" } else { "," };
        let description = "Reads, writes and looks for things in files. ".repeat(length / 45);
        let _ = write!(
            list,
            r#"{comma}{{"type":"function","function":{{"name":"tool_{tool}","description":"{description}","parameters":{{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{{"city":{{"type":"string","description":"{}"}},"days":{{"type":"integer","minimum":1}},"tags":{{"type":"array","items":{{"type":"string"}}}}}},"required":["city"],"additionalProperties":false}}}}}}"#,
            &description[..description.len() / 4]
        );
    }
    let request =
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],"tools":[{list}]}}"#);
    print_line(&format!("the {name} request has {} bytes", request.len()));
    let script = format!(
        "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\nwrk.headers[\"Authorization\"] = \"Bearer x\"\nwrk.body = [==[{request}]==]\n"
    );
    let path = folder.join(format!("{name}.lua"));
    write_file(&path, script)?;
    Ok(path)
}

/// Downloads nginx and wrk from Debian and unpacks them without installing them.
fn download_nginx_and_wrk(folder: &Path) -> Result<(PathBuf, PathBuf), TaskError> {
    let unpacked = folder.join("debian");
    let (nginx, wrk) = (unpacked.join("usr/sbin/nginx"), unpacked.join("usr/bin/wrk"));
    if !nginx.exists() || !wrk.exists() {
        let packages = folder.join("packages");
        create_folder(&packages)?;
        run_command(
            Command::new("apt-get")
                .args(["download", "nginx", "wrk", "libluajit-5.1-2"])
                .current_dir(&packages),
        )?;
        for file in list_files(&packages)? {
            run_command(Command::new("dpkg-deb").arg("-x").arg(file).arg(&unpacked))?;
        }
    }
    Ok((nginx, wrk))
}

fn start_nginx(folder: &Path, nginx: &Path, port: u16, to: u16) -> Result<Server, TaskError> {
    let folder_name = folder.display();
    let config = format!(
        "daemon off; master_process off; pid {folder_name}/nginx.pid; error_log {folder_name}/nginx.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ access_log off; client_max_body_size 10m; client_body_buffer_size 1m;\n\
         client_body_temp_path {folder_name}/t1; proxy_temp_path {folder_name}/t2; fastcgi_temp_path {folder_name}/t3; uwsgi_temp_path {folder_name}/t4; scgi_temp_path {folder_name}/t5;\n\
         upstream model {{ server 127.0.0.1:{to}; keepalive 64; }}\n\
         server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off; }} }} }}\n"
    );
    let file = folder.join("nginx.conf");
    write_file(&file, config)?;
    let mut command = Command::new(nginx);
    command.arg("-c").arg(&file).arg("-p").arg(folder).stderr(Stdio::null());
    Server::start("nginx", &mut command, port, Duration::from_secs(10))
}

fn start_litellm(folder: &Path, python: &Path, port: u16, to: u16) -> Result<Server, TaskError> {
    let file = folder.join("litellm.yaml");
    let config = format!(
        "model_list:\n  - model_name: m\n    litellm_params:\n      model: hosted_vllm/m\n      api_base: http://127.0.0.1:{to}/v1\n      api_key: x\n"
    );
    write_file(&file, config)?;
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
fn times_of_wrk_are_parsed() {
    assert_eq!(parse_microseconds("41.00us"), Some(41.0));
    assert_eq!(parse_microseconds("1.50ms"), Some(1500.0));
    assert_eq!(parse_microseconds("2.00s"), Some(2e6));
    assert_eq!(find_value("  50%   41.00us\n", "50%"), Some("41.00us"));
}
