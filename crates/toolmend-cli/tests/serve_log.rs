//! The log of `toolmend serve`, as an operator sees it in a file.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

/// Starts a server that gives these answers, one for each connection.
fn serve_answers(answers: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut answers = answers.into_iter();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            if !read_request(&mut stream) {
                // The gateway looks whether the server is there.
                continue;
            }
            let body = answers.next().unwrap_or_default();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let _ = write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len());
        }
    });
    address
}

/// Reads a request with a body. Returns whether there was one.
fn read_request(stream: &mut TcpStream) -> bool {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            return true;
        }
        line.clear();
    }
    false
}

/// Starts the gateway. Returns it, the lines of its log and its address.
fn start_gateway(upstream: &str) -> (Child, BufReader<std::process::ChildStderr>, String) {
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_toolmend"))
        .args(["serve", "--listen", "127.0.0.1:0", "--journal", "off", "--upstream", upstream])
        .env("RUST_LOG", "tool_repair=info,tool_input_invalid=info")
        .env_remove("NO_COLOR")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(gateway.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("toolmend listens on ") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the gateway did not start");
    }
    let address = line.split(' ').nth(3).unwrap().trim_start_matches("http://").to_owned();
    (gateway, log, address)
}

/// Asks as a client that gives up at tools that it does not have.
fn ask(address: &str) {
    let body = r#"{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}},{"type":"function","function":{"name":"anything","parameters":{"type":"object","properties":{}}}}]}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\nuser-agent: Agents/Python\r\n"
    );
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn answer(calls: &[(&str, &str, &str)]) -> String {
    let calls: Vec<String> = calls
        .iter()
        .map(|(id, name, arguments)| {
            let arguments = arguments.replace('\\', "\\\\").replace('"', "\\\"");
            format!(r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#)
        })
        .collect();
    let calls = calls.join(",");
    format!(
        r#"{{"choices":[{{"index":0,"finish_reason":"tool_calls","message":{{"role":"assistant","content":null,"tool_calls":[{calls}]}}}}]}}"#
    )
}

#[test]
fn one_filter_shows_every_repair_every_refusal_and_the_summary() {
    let calls = [
        ("good", "get_weather", r#"{"city":"Rome"}"#),
        ("mended", "get_weather", r#"{"city":"Rome",,}"#),
        ("stubbed", "get_weather", r#"{"city": ]["#),
        ("passed", "get_weather", r#"{"town":"Rome"}"#),
        ("text", "anything", r#"{"city": ]["#),
    ];
    let upstream = serve_answers(vec![answer(&calls)]);
    let (mut gateway, mut log, address) = start_gateway(&upstream);
    ask(&address);
    Command::new("kill").args(["-TERM", &gateway.id().to_string()]).status().unwrap();
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    assert!(gateway.wait().unwrap().success());
    assert!(!text.contains('\u{1b}'), "no colours in a file: {text:?}");
    let lines =
        |words: &[&str]| text.lines().filter(|line| words.iter().all(|word| line.contains(word))).count();
    for (id, recovery) in
        [("mended", "local-salvage"), ("stubbed", "re-prompt"), ("passed", "re-prompt"), ("text", "gave-up")]
    {
        let id = format!("call_id=\"{id}\"");
        assert_eq!(lines(&["tool.call_repaired", &id]), 1, "{text}");
        assert_eq!(lines(&["tool.call_repaired", &id, &format!("outcome=\"{recovery}\"")]), 1, "{text}");
        let is_refused = recovery != "local-salvage";
        assert_eq!(
            lines(&["tool_input_invalid:", &id, "surface=\"chat\""]),
            usize::from(is_refused),
            "{text}"
        );
    }
    assert_eq!(lines(&["tool_input_repaired", "call_id=\"mended\"", "tool=\"get_weather\""]), 2, "{text}");
    assert_eq!(lines(&["call_id=\"good\""]), 0, "{text}");
    assert_eq!(lines(&["repair summary", "calls=5", "mended=1", "invalid=3"]), 1, "{text}");
}
