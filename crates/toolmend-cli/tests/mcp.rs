//! `toolmend mcp` between a client and servers that are plain commands.

#![cfg(unix)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Sends this to a server through the proxy and returns the output.
fn run(server: &[&str], input: &[u8]) -> Output {
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_toolmend"))
        .args(["mcp", "--explain", "--"])
        .args(server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The server may have ended already.
    let _ = proxy.stdin.take().unwrap().write_all(input);
    proxy.wait_with_output().unwrap()
}

#[test]
fn other_lines_pass_byte_for_byte() {
    let input = [
        &b"{ \"jsonrpc\" : \"2.0\",\"id\":1,\"method\":\"initialize\" }\r\n"[..],
        b"[{\"id\":2,\"method\":\"tools/call\"}]\n\n  not JSON \xff\xfe\n",
        b"{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"f\",\"arguments\":{\"a\":\"1\"}}}\n",
        b"{\"no\":\"line end\"}",
    ]
    .concat();
    let output = run(&["cat"], &input);
    assert_eq!(output.stdout, input);
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn calls_are_mended_after_the_server_has_listed_its_tools() {
    // The server answers `tools/list` and then echoes the next line.
    let server = r#"read -r line; echo '{"id":1,"result":{"tools":[{"name":"f","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}]}}'; read -r call; echo "$call"; cat > /dev/null"#;
    let requests = concat!(
        "{\"id\":1,\"method\":\"tools/list\"}\n",
        "{\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"f\",\"arguments\":{\"a\":\"7\"}}}\n",
        "{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"f\",\"arguments\":{\"a\":\"many\"}}}\n",
    );
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_toolmend"))
        .args(["mcp", "--explain", "--", "sh", "-c", server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = proxy.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(proxy.stdout.take().unwrap());
    let mut lines = requests.lines();
    let mut answers = Vec::new();
    for _ in 0..3 {
        // Like a real client: no call before the list has arrived.
        writeln!(input, "{}", lines.next().unwrap()).unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        answers.push(line);
    }
    drop(input);
    let rest = proxy.wait_with_output().unwrap();
    assert!(answers[1].contains(r#""arguments":{"a":7}"#), "{answers:?}");
    assert!(answers[2].contains(r#""isError":true"#) && answers[2].contains(r#""id":3"#), "{answers:?}");
    let explained = String::from_utf8(rest.stderr).unwrap();
    assert!(explained.contains("string_to_number") && explained.contains("refused"), "{explained}");
}

#[test]
fn the_exit_code_is_the_servers() {
    assert_eq!(run(&["sh", "-c", "exit 3"], b"").status.code(), Some(3));
    let missing = run(&["no-such-server-anywhere"], b"");
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot start no-such-server-anywhere"));
}
