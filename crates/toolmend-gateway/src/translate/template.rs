//! Conversations as prompts, for servers that only complete text.

use super::request::{Message, Request, Role};
use crate::wire::doc::{array, quote};
use crate::wire::write::Object;

/// How a family writes the turns of a conversation.
struct Template {
    /// Words in the ids of its models.
    models: &'static [&'static str],
    start: &'static str,
    /// What stands around a system prompt; empty where it is put in front of the first words of the user.
    system: (&'static str, &'static str),
    user: (&'static str, &'static str),
    assistant: (&'static str, &'static str),
    /// What the model writes when its turn is over.
    stop: &'static [&'static str],
}

const TEMPLATES: &[Template] = &[
    Template {
        models: &["llama-3", "llama3", "llama-4"],
        start: "<|begin_of_text|>",
        system: ("<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"),
        user: ("<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"),
        assistant: ("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
        stop: &["<|eot_id|>"],
    },
    Template {
        models: &["mistral", "mixtral", "devstral", "magistral", "ministral"],
        start: "<s>",
        system: ("", ""),
        user: ("[INST] ", " [/INST]"),
        assistant: (" ", "</s>"),
        stop: &["</s>", "[INST]"],
    },
    Template {
        models: &["gemma"],
        start: "<bos>",
        system: ("", ""),
        user: ("<start_of_turn>user\n", "<end_of_turn>\n"),
        assistant: ("<start_of_turn>model\n", "<end_of_turn>\n"),
        stop: &["<end_of_turn>"],
    },
    Template {
        models: &["phi-3", "phi3", "phi-4", "phi4"],
        start: "",
        system: ("<|system|>\n", "<|end|>\n"),
        user: ("<|user|>\n", "<|end|>\n"),
        assistant: ("<|assistant|>\n", "<|end|>\n"),
        stop: &["<|end|>"],
    },
    // ChatML, which most of the others use.
    Template {
        models: &[""],
        start: "",
        system: ("<|im_start|>system\n", "<|im_end|>\n"),
        user: ("<|im_start|>user\n", "<|im_end|>\n"),
        assistant: ("<|im_start|>assistant\n", "<|im_end|>\n"),
        stop: &["<|im_end|>"],
    },
];

/// The most stops that every server takes.
const MOST_STOPS: usize = 4;

/// Writes a request for a completion.
pub(super) fn encode(request: &Request) -> String {
    let model = request.model.to_ascii_lowercase();
    let last = &TEMPLATES[TEMPLATES.len() - 1];
    let template =
        TEMPLATES.iter().find(|row| row.models.iter().any(|name| model.contains(name))).unwrap_or(last);
    let stops = request.stop.iter().map(String::as_str).chain(template.stop.iter().copied());
    let mut out = Object::new()
        .text("model", &request.model)
        .text("prompt", prompt(&request.messages, template))
        .number("max_tokens", request.limit.unwrap_or(4096))
        .raw("stop", array(stops.take(MOST_STOPS).map(quote)));
    if request.stream {
        out = out.raw("stream", "true").raw("stream_options", r#"{"include_usage":true}"#);
    }
    for (name, value) in &request.knobs {
        out = out.raw(name, value);
    }
    out.end()
}

fn prompt(messages: &[Message], template: &Template) -> String {
    let mut out = template.start.to_owned();
    let mut pending = String::new();
    for message in messages {
        let text = message.joined();
        let (open, close) = match message.role {
            Role::System | Role::Developer if template.system.0.is_empty() => {
                pending = format!("{text}\n\n");
                continue;
            }
            Role::System | Role::Developer => template.system,
            Role::User | Role::Tool => template.user,
            Role::Assistant => template.assistant,
        };
        out.push_str(open);
        if message.role == Role::User {
            out.push_str(&std::mem::take(&mut pending));
        }
        out.push_str(&text);
        out.push_str(close);
    }
    out.push_str(template.assistant.0.trim_end_matches(' '));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_is_written_in_its_own_way() {
        let messages = [
            Message::text(Role::System, "S"),
            Message::text(Role::User, "U"),
            Message::text(Role::Assistant, "A"),
            Message::text(Role::User, "V"),
        ];
        for (model, expected) in [
            (
                "qwen",
                "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n",
            ),
            ("Mistral-7B", "<s>[INST] S\n\nU [/INST] A</s>[INST] V [/INST]"),
            (
                "gemma-3",
                "<bos><start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n<start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n",
            ),
        ] {
            let request = Request { model: model.into(), messages: messages.to_vec(), ..Request::default() };
            let body: serde_json::Value = serde_json::from_str(&encode(&request)).unwrap();
            assert_eq!(body["prompt"], expected, "{model}");
        }
    }
}
