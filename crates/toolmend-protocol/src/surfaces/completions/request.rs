//! Requests for text completions: the conversation becomes a prompt.

use crate::json::{Object, array, quote};
use crate::request::Request;
use crate::template::Template;

/// The most stop texts that every server accepts.
const MAX_STOP_TEXTS: usize = 4;
/// The token limit if the client sets none. Servers default to a handful of tokens.
const DEFAULT_LIMIT: u64 = 4096;

/// Writes a request that holds nothing beyond the capabilities.
pub(super) fn encode_request(request: &Request) -> String {
    let template = Template::of_model(&request.model);
    let stops = request.stop.iter().map(String::as_str).chain(template.stop_texts());
    let mut out = Object::new()
        .text("model", &request.model)
        .text("prompt", template.write_prompt(&request.messages))
        .number("max_tokens", request.limit.unwrap_or(DEFAULT_LIMIT))
        .raw("stop", array(stops.take(MAX_STOP_TEXTS).map(quote)));
    if request.stream {
        out = out.raw("stream", "true").raw("stream_options", r#"{"include_usage":true}"#);
    }
    for (name, value) in &request.sampling {
        out = out.raw(name, value);
    }
    out.end()
}
