//! `toolmend serve` as a process: its log, its signals, and what it says at the start.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

/// A running gateway. It is killed when this is dropped.
struct Gateway {
    child: Child,
    log: BufReader<ChildStderr>,
    address: String,
}

impl Gateway {
    fn start(args: &[&str]) -> Gateway {
        Gateway::start_on("127.0.0.1:0", args)
    }

    fn start_on(listen: &str, args: &[&str]) -> Gateway {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolmend"));
        command.args(["serve", "--listen", listen, "--journal", "off"]).args(args);
        command.env_remove("RUST_LOG").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        Gateway { child, log, address: String::new() }
    }

    /// Reads the log up to a line with this text, and returns that line.
    fn wait_for(&mut self, text: &str) -> String {
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "{text:?} is not in the log: {seen}");
            if line.contains(text) {
                return line;
            }
            seen += &line;
        }
    }

    fn wait_until_it_listens(&mut self) {
        let line = self.wait_for("toolmend listens on ");
        let rest = line.split("http://").nth(1).unwrap();
        rest.split(' ').next().unwrap().clone_into(&mut self.address);
    }

    /// Sends bytes and returns the answer.
    fn exchange(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request whose model and tool try to reach the terminal of whoever reads the log.
fn request_with_controls() -> Vec<u8> {
    let body = r#"{"model":"m\u001b[2J\nforged","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"t\u001b[31m\r\nforged","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]}"#;
    format!(
        "POST /v1/chat/completions?key=s3cret HTTP/1.1\r\nhost: localhost\r\nx-request-id: mine\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[test]
fn every_request_is_logged_on_one_line_without_control_characters() {
    for format in ["text", "json"] {
        let mut gateway = Gateway::start(&["--demo", "--access-log", "--log-format", format]);
        gateway.wait_until_it_listens();
        let answer = gateway.exchange(&request_with_controls());
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("x-request-id: mine\r\n"), "{answer}");
        gateway.signal("-TERM");
        let mut log = String::new();
        gateway.log.read_to_string(&mut log).unwrap();
        let controls = |line: &str| line.contains(char::is_control);
        assert!(!log.lines().any(controls), "{format}: {log:?}");
        assert!(!log.lines().any(|line| line.starts_with("forged")), "{format}: {log:?}");
        let line = log.lines().find(|line| line.contains("mine")).unwrap();
        for part in ["/v1/chat/completions", "200", "POST", "chat", "forged"] {
            assert!(line.contains(part), "{format}: {line}");
        }
        assert!(!log.contains("s3cret"), "queries may hold keys: {log}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_reported_at_the_start() {
    let mut gateway = Gateway::start(&["--upstream", "http://me:s3cret@127.0.0.1:1"]);
    gateway.wait_until_it_listens();
    let line = gateway.wait_for("does not answer");
    assert!(line.contains("http://127.0.0.1:1") && !line.contains("s3cret"), "{line}");
}

#[test]
fn a_hangup_before_the_configuration_is_read_does_not_end_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("config.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut gateway = Gateway::start(&["--config", pipe.to_str().unwrap()]);
    // The gateway waits for the text of its configuration as soon as both ends are open.
    let mut end = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    gateway.signal("-HUP");
    end.write_all(b"[[upstreams]]\nurl = \"http://127.0.0.1:1\"\n").unwrap();
    drop(end);
    gateway.wait_until_it_listens();
    // It reloads now, which reads the file again.
    std::fs::write(&pipe, "policy = \"nonsense\"").unwrap();
    gateway.wait_for("the configuration stays as it was");
    assert!(gateway.exchange(b"GET /healthz HTTP/1.0\r\nhost: localhost\r\n\r\n").contains("ok"));
}

#[test]
fn a_reload_that_cannot_be_used_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    let server = "[[upstreams]]\nurl = \"http://127.0.0.1:1\"\n";
    write(&format!("api_keys = [\"k\"]\n{server}"));
    let mut gateway = Gateway::start(&["--config", path_of(&file)]);
    gateway.wait_until_it_listens();
    let asks = |gateway: &Gateway| {
        let answer = gateway.exchange(b"GET /v1/models HTTP/1.0\r\nhost: localhost\r\n\r\n");
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(asks(&gateway), "401");
    for broken in
        ["policy = 1", "tls = { cert = \"/nowhere\", key = \"/nowhere\" }", "[[keys]]\nname = \"x\""]
    {
        write(&format!("{broken}\n{server}"));
        gateway.signal("-HUP");
        gateway.wait_for("the configuration stays as it was");
        assert_eq!(asks(&gateway), "401", "{broken}");
    }
    write(server);
    gateway.signal("-HUP");
    gateway.wait_for("the configuration was reloaded");
    assert_eq!(asks(&gateway), "502");
}

#[test]
fn a_reload_never_opens_the_gateway_to_others_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let server = "[[upstreams]]\nurl = \"http://127.0.0.1:1\"\n";
    std::fs::write(&file, format!("api_keys = [\"k\"]\n{server}")).unwrap();
    let mut gateway = Gateway::start_on("0.0.0.0:0", &["--config", path_of(&file)]);
    gateway.wait_until_it_listens();
    gateway.address = gateway.address.replace("0.0.0.0", "127.0.0.1");
    let ask = b"GET /v1/models HTTP/1.0\r\nhost: localhost\r\n\r\n";
    // A file that listens on this machine only changes nothing either: the address stays.
    for text in [server.to_owned(), format!("listen = \"127.0.0.1:0\"\n{server}")] {
        std::fs::write(&file, text).unwrap();
        gateway.signal("-HUP");
        let line = gateway.wait_for("the configuration stays as it was");
        assert!(line.contains("TOOLMEND_API_KEY"), "{line}");
        assert!(gateway.exchange(ask).starts_with("HTTP/1.0 401"), "{}", gateway.exchange(ask));
    }
    std::fs::write(&file, format!("insecure = true\n{server}")).unwrap();
    gateway.signal("-HUP");
    gateway.wait_for("anyone who can reach");
    gateway.wait_for("the configuration was reloaded");
    assert!(gateway.exchange(ask).starts_with("HTTP/1.0 502"));
}

#[test]
fn a_collector_that_does_not_answer_is_reported_without_its_password() {
    let mut gateway = Gateway::start(&["--demo", "--otlp-endpoint", "http://me:s3cret@127.0.0.1:1"]);
    gateway.wait_until_it_listens();
    gateway.exchange(&request_with_controls());
    gateway.signal("-TERM");
    let mut log = String::new();
    gateway.log.read_to_string(&mut log).unwrap();
    assert!(!log.contains("s3cret"), "{log}");
}

fn path_of(path: &Path) -> &str {
    path.to_str().unwrap()
}
