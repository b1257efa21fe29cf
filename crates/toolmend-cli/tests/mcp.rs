//! `toolmend mcp` between a client and servers made of plain commands: what it does not change passes byte for byte.

#![cfg(unix)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Says this to the server behind the shim and gives what came back.
fn run(server: &[&str], said: &[u8]) -> Output {
    let mut shim = Command::new(env!("CARGO_BIN_EXE_toolmend"))
        .args(["mcp", "--explain", "--"])
        .args(server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A server that is gone already does not listen.
    let _ = shim.stdin.take().unwrap().write_all(said);
    shim.wait_with_output().unwrap()
}

#[test]
fn everything_else_passes_byte_for_byte() {
    let said = [
        &b"{ \"jsonrpc\" : \"2.0\",\"id\":1,\"method\":\"initialize\" }\r\n"[..],
        b"[{\"id\":2,\"method\":\"tools/call\"}]\n\n  not JSON \xff\xfe\n",
        b"{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"f\",\"arguments\":{\"a\":\"1\"}}}\n",
        b"{\"no\":\"line end\"}",
    ]
    .concat();
    let output = run(&["cat"], &said);
    assert_eq!(output.stdout, said);
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn calls_are_mended_once_the_list_was_seen() {
    // The server answers the list, then says back what reaches it.
    let server = r#"read -r line; echo '{"id":1,"result":{"tools":[{"name":"f","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}]}}'; read -r call; echo "$call"; cat > /dev/null"#;
    let said = concat!(
        "{\"id\":1,\"method\":\"tools/list\"}\n",
        "{\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"f\",\"arguments\":{\"a\":\"7\"}}}\n",
        "{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"f\",\"arguments\":{\"a\":\"many\"}}}\n",
    );
    let mut shim = Command::new(env!("CARGO_BIN_EXE_toolmend"))
        .args(["mcp", "--explain", "--", "sh", "-c", server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = shim.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(shim.stdout.take().unwrap());
    let mut lines = said.lines();
    let mut told = Vec::new();
    for _ in 0..3 {
        // As clients do: nothing is called before the list has come back.
        writeln!(input, "{}", lines.next().unwrap()).unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        told.push(line);
    }
    drop(input);
    let rest = shim.wait_with_output().unwrap();
    assert!(told[1].contains(r#""arguments":{"a":7}"#), "{told:?}");
    assert!(told[2].contains(r#""isError":true"#) && told[2].contains(r#""id":3"#), "{told:?}");
    let explained = String::from_utf8(rest.stderr).unwrap();
    assert!(explained.contains("string_to_number") && explained.contains("refused"), "{explained}");
}

#[test]
fn the_exit_code_is_that_of_the_server() {
    assert_eq!(run(&["sh", "-c", "exit 3"], b"").status.code(), Some(3));
    let missing = run(&["no-such-server-anywhere"], b"");
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot start no-such-server-anywhere"));
}
