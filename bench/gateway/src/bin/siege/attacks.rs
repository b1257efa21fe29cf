//! The attacks. Each is made again and again by several attackers, and each ends by itself or when the siege is over.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Siege;
use super::noise::Noise;

type Attack = fn(Arc<Siege>, Noise) -> Pin<Box<dyn Future<Output = std::io::Result<()>> + Send>>;

/// All attacks, by their names.
pub(crate) const ATTACKS: [(&str, Attack); 13] = [
    ("schema that multiplies", |siege, noise| Box::pin(send_schema_bomb(siege, noise))),
    ("pattern that backtracks", |siege, noise| Box::pin(send_pattern(siege, noise))),
    ("head that never ends", |siege, noise| Box::pin(send_slow_head(siege, noise))),
    ("body that never ends", |siege, noise| Box::pin(send_unfinished_body(siege, noise))),
    ("client that reads nothing", |siege, noise| Box::pin(read_nothing(siege, noise))),
    ("call that never ends", |siege, noise| Box::pin(hold_call(siege, noise))),
    ("random bytes as a request", |siege, noise| Box::pin(send_noise(siege, noise))),
    ("random bytes instead of HTTP", |siege, noise| Box::pin(send_raw_noise(siege, noise))),
    ("random bytes as an answer", |siege, noise| Box::pin(ask_for_noise(siege, noise))),
    ("request that becomes large", |siege, noise| Box::pin(send_compressed(siege, noise))),
    ("request of millions of values", |siege, noise| Box::pin(send_values(siege, noise))),
    ("tools of thousands of objects", |siege, noise| Box::pin(send_tools(siege, noise))),
    ("text full of openers", |siege, noise| Box::pin(send_openers(siege, noise))),
];

const SURFACES: [&str; 8] = [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/completions",
    "/api/chat",
    "/api/generate",
    "/v1/models",
    "/toolmend/api/mend",
];
/// The longest that one attack holds its connection.
const PATIENCE: Duration = Duration::from_secs(20);
/// The pause between two attacks of one attacker, so that the machine has time for the gateway.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes one kind of attack until the siege is over.
pub(crate) async fn repeat(siege: Arc<Siege>, attack: usize, attacker: u64) {
    let (_, make) = ATTACKS[attack];
    let mut round = 0;
    while !siege.is_over() {
        round += 1;
        let noise = Noise::new(round * 1_000_003 + attacker * 101 + attack as u64);
        let left = siege.until.saturating_duration_since(std::time::Instant::now());
        // A gateway that disconnects is within its rights.
        let _ = tokio::time::timeout(left.min(PATIENCE), make(Arc::clone(&siege), noise)).await;
        siege.attacks[attack].fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(PAUSE).await;
    }
}

fn head_of(path: &str, length: usize) -> Vec<u8> {
    head_with(path, length, "")
}

/// Returns the head of a request with more fields.
fn head_with(path: &str, length: usize, fields: &str) -> Vec<u8> {
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n{fields}content-length: {length}\r\n\r\n")
        .into_bytes()
}

/// Sends a request and reads the answer, which may be anything.
async fn exchange(siege: &Siege, path: &str, body: &[u8]) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(siege.gateway).await?;
    stream.write_all(&head_of(path, body.len())).await?;
    stream.write_all(body).await?;
    read_to_end(&mut stream).await
}

async fn read_to_end(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}

fn request_with(model: &str, schema: &Value, arguments: &str, stream: bool) -> Vec<u8> {
    json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": arguments}],
        "tools": [{"type": "function", "function": {"name": "save", "parameters": schema}}]})
    .to_string()
    .into_bytes()
}

/// Tools whose schemas are small and mean a lot of work, each new to the gateway.
async fn send_schema_bomb(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let salt = noise.below(usize::MAX);
    let schema = match noise.below(5) {
        // Every definition has two of the next.
        0 => {
            let link = |to: usize| json!({"$ref": format!("#/$defs/d{to}")});
            let defs: serde_json::Map<String, Value> = (0..40)
                .map(|at| (format!("d{at}"), json!({"anyOf": [link(at + 1), link(at + 1)], "title": salt})))
                .chain([("d40".to_owned(), json!({"type": "integer"}))])
                .collect();
            json!({"$defs": defs, "type": "object", "properties": {"text": link(0)}, "required": ["text"]})
        }
        // It contains itself.
        1 => {
            json!({"title": salt, "allOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"text": {"$ref": "#"}}})
        }
        // It is deep.
        2 => (0..100).fold(
            json!({"title": salt}),
            |inner, _| json!({"type": "object", "properties": {"text": inner}, "required": ["text"]}),
        ),
        // It is wide.
        3 => {
            let members: serde_json::Map<String, Value> =
                (0..5000).map(|at| (format!("p{at}"), json!({"type": "string", "title": salt}))).collect();
            json!({"type": "object", "properties": members, "additionalProperties": false})
        }
        // Every member may be one of many objects.
        _ => {
            let variants: Vec<Value> = (0..200)
                .map(|at| json!({"type": "object", "required": [format!("k{at}")], "properties": {"text": {"const": salt}}}))
                .collect();
            json!({"type": "object", "properties": {"text": {"oneOf": variants}, "more": {"items": {"oneOf": variants}}}})
        }
    };
    let arguments = "{text: [1, {'a': [2,, 3]}], more: [{}, {}, {'k1': 1}], ".repeat(1 + noise.below(20));
    exchange(&siege, SURFACES[0], &request_with("call", &schema, &arguments, false)).await
}

/// A pattern that takes forever on the arguments of the answer.
async fn send_pattern(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let pattern =
        noise.pick(&["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*=.*", "^(\\w+\\s?)*$", "^(?=(a+)+$)(a+)+$"]);
    let schema = json!({"type": "object", "title": noise.below(usize::MAX),
        "properties": {"text": {"type": "string", "pattern": pattern}},
        "patternProperties": {pattern: {"type": "integer"}}, "required": ["text"]});
    let text = "a".repeat(30 + noise.below(5000));
    let arguments = format!("{{text: '{text}!', '{text}': 1,}}");
    exchange(&siege, SURFACES[0], &request_with("call", &schema, &arguments, false)).await
}

/// A head that arrives byte by byte.
async fn send_slow_head(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(siege.gateway).await?;
    stream.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n").await?;
    loop {
        let letter = b'a' + u8::try_from(noise.below(26)).unwrap_or(0);
        stream.write_all(&[b'x', b'-', letter, b':', letter, b'\r', b'\n']).await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// A body of which a part arrives.
async fn send_unfinished_body(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(siege.gateway).await?;
    stream.write_all(&head_of(noise.pick(&SURFACES), 60 << 20)).await?;
    let piece = vec![b' '; 64 << 10];
    for _ in 0..noise.below(400) {
        stream.write_all(&piece).await?;
    }
    loop {
        stream.write_all(b" ").await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// A long answer that nobody reads.
async fn read_nothing(siege: Arc<Siege>, _noise: Noise) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(siege.gateway).await?;
    let body = request_with("flood", &json!({"type": "object"}), "", true);
    stream.write_all(&head_of(SURFACES[0], body.len())).await?;
    stream.write_all(&body).await?;
    tokio::time::sleep(PATIENCE).await;
    Ok(())
}

/// A call that the gateway holds and that never ends.
async fn hold_call(siege: Arc<Siege>, _noise: Noise) -> std::io::Result<()> {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    exchange(&siege, SURFACES[0], &request_with("endless-call", &schema, "", true)).await
}

async fn send_noise(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let path = noise.pick(&SURFACES);
    let length = noise.below(32 << 10);
    let mut body = noise.bytes(length);
    // Some of it begins like a request.
    if noise.below(2) == 0 {
        body.splice(0..0, br#"{"model":"noise","stream":true,"messages":["#.iter().copied());
    }
    exchange(&siege, path, &body).await
}

async fn send_raw_noise(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(siege.gateway).await?;
    let length = noise.below(16 << 10);
    let start: &[u8] =
        noise.pick(&[b"".as_slice(), b"GET ", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"POST / HTTP/1.1\r\n"]);
    stream.write_all(start).await?;
    stream.write_all(&noise.bytes(length)).await?;
    stream.shutdown().await?;
    read_to_end(&mut stream).await
}

async fn ask_for_noise(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let stream = noise.below(2) == 0;
    let path = noise.pick(&SURFACES);
    let body = json!({"model": "noise", "stream": stream, "max_tokens": 9, "prompt": "hi", "input": "hi",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "name": "save", "function": {"name": "save", "parameters": {"type": "object"}}}]});
    exchange(&siege, path, body.to_string().as_bytes()).await
}

/// An answer that is nothing but the beginnings of values and calls.
async fn send_openers(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let opener =
        noise.pick(&["[", "{\"a\":", "<tool_call>", "\\\"", "'", "{text: \"", "```json\n{", "<|", "((("]);
    let arguments = opener.repeat(1 + noise.below((64 << 10) / opener.len()));
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    exchange(&siege, SURFACES[0], &request_with("call", &schema, &arguments, false)).await
}

/// A few kilobytes that become tens of megabytes of blanks: a frame of zstd in which every block repeats one byte.
async fn send_compressed(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    const BLOCK: [u8; 4] = [0x02, 0x00, 0x10, b' '];
    const LAST_BLOCK: [u8; 4] = [0x03, 0x00, 0x10, b' '];
    let mut body = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    body.extend(BLOCK.repeat(100 + noise.below(350)));
    body.extend(LAST_BLOCK);
    let mut stream = TcpStream::connect(siege.gateway).await?;
    stream.write_all(&head_with(SURFACES[0], body.len(), "content-encoding: zstd\r\n")).await?;
    stream.write_all(&body).await?;
    read_to_end(&mut stream).await
}

/// Megabytes of values that take a multiple of their text when they are read.
async fn send_values(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let values = noise.pick(&["0,", "[],", "{\"\":{}},", "\"\","]);
    let count = (1 + noise.below(8)) * (512 << 10) / values.len();
    let body = format!("{{\"model\":\"call\",\"messages\":[{}0]}}", values.repeat(count));
    exchange(&siege, noise.pick(&SURFACES), body.as_bytes()).await
}

/// A list of tools that takes a multiple of its text when it is read and compiled.
async fn send_tools(siege: Arc<Siege>, mut noise: Noise) -> std::io::Result<()> {
    let tool = noise.pick(&[
        "{\"\":{}}",
        "{\"type\":\"function\",\"function\":{\"name\":\"t\",\"parameters\":{\"properties\":{\"a\":{},\"b\":{}}}}}",
        "[]",
        "0",
    ]);
    let count = (1 + noise.below(8)) * (256 << 10) / tool.len();
    let tools = vec![tool; count].join(",");
    let body = format!(
        "{{\"model\":\"call\",\"messages\":[{{\"role\":\"user\",\"content\":\"{{a:1}}\"}}],\"tools\":[{tools}]}}"
    );
    exchange(&siege, SURFACES[0], body.as_bytes()).await
}
