//! Prompt templates: conversations as plain text, for servers that only complete text.
//!
//! One table serves both directions: a conversation is written as a prompt, and a prompt that a client wrote is continued
//! in the template that it already uses.

use crate::request::{Message, Role};

/// How a family of models writes the turns of a conversation. Pairs are the text before and after a turn.
pub(crate) struct Template {
    /// Words in the ids of its models.
    models: &'static [&'static str],
    start: &'static str,
    /// Empty if the system prompt goes in front of the first text of the user.
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
    CHATML,
];

/// The template that most other families use.
const CHATML: Template = Template {
    models: &[""],
    start: "",
    system: ("<|im_start|>system\n", "<|im_end|>\n"),
    user: ("<|im_start|>user\n", "<|im_end|>\n"),
    assistant: ("<|im_start|>assistant\n", "<|im_end|>\n"),
    stop: &["<|im_end|>"],
};

impl Template {
    /// Returns the template of a model's family.
    pub(crate) fn of_model(model: &str) -> &'static Template {
        let model = model.to_ascii_lowercase();
        TEMPLATES
            .iter()
            .find(|row| row.models.iter().any(|name| model.contains(name)))
            .unwrap_or(const { &CHATML })
    }

    /// Returns the texts at which a turn of the model ends.
    pub(crate) fn stop_texts(&self) -> impl Iterator<Item = &str> {
        self.stop.iter().copied()
    }

    /// Writes a conversation as a prompt that ends where the model's next turn begins.
    pub(crate) fn write_prompt(&self, messages: &[Message]) -> String {
        let mut out = self.start.to_owned();
        let mut pending_system = String::new();
        for message in messages {
            let text = message.joined_text();
            let (before, after) = match message.role {
                Role::System | Role::Developer if self.system.0.is_empty() => {
                    pending_system = format!("{text}\n\n");
                    continue;
                }
                Role::System | Role::Developer => self.system,
                Role::User | Role::Tool => self.user,
                Role::Assistant => self.assistant,
            };
            out.push_str(before);
            if message.role == Role::User {
                out.push_str(&std::mem::take(&mut pending_system));
            }
            out.push_str(&text);
            out.push_str(after);
        }
        out.push_str(self.turn_opening());
        out
    }

    /// What a prompt ends with before the model's turn.
    fn turn_opening(&self) -> &'static str {
        self.assistant.0.trim_end_matches(' ')
    }

    /// Whether a prompt ends where this template begins a turn of the model.
    fn is_opened_by(&self, prompt: &str) -> bool {
        // Some templates write nothing before the model's turn: then the end of the user's turn has to do.
        let opening = self.turn_opening().trim_end();
        let opening = if opening.is_empty() { self.user.1.trim() } else { opening };
        prompt.trim_end().ends_with(opening)
    }
}

/// Continues a prompt with the model's answer and the user's next turn, in the template that the prompt is written in.
/// `None` if the template is unknown.
pub(crate) fn continue_prompt(prompt: &str, answer: &str, next: &str) -> Option<String> {
    let template = TEMPLATES.iter().find(|template| template.is_opened_by(prompt))?;
    let Template { user, assistant, .. } = template;
    let opening = template.turn_opening();
    Some([prompt, answer, assistant.1, user.0, next, user.1, opening].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_its_own_notation() {
        let messages = [
            Message::from_text(Role::System, "S"),
            Message::from_text(Role::User, "U"),
            Message::from_text(Role::Assistant, "A"),
            Message::from_text(Role::User, "V"),
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
            assert_eq!(Template::of_model(model).write_prompt(&messages), expected, "{model}");
        }
    }

    #[test]
    fn a_prompt_continues_in_its_template() {
        for (prompt, next) in [
            (
                "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
                Some(
                    "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nCALL<|im_end|>\n<|im_start|>user\nWHY<|im_end|>\n<|im_start|>assistant\n",
                ),
            ),
            ("[INST] hi [/INST]", Some("[INST] hi [/INST]CALL</s>[INST] WHY [/INST]")),
            ("Once upon a time", None),
        ] {
            assert_eq!(continue_prompt(prompt, "CALL", "WHY").as_deref(), next, "{prompt}");
        }
    }

    #[test]
    fn every_template_continues_the_prompts_that_it_writes() {
        for template in TEMPLATES {
            let turns = [Message::from_text(Role::User, "U"), Message::from_text(Role::Assistant, "A")];
            let prompt = template.write_prompt(&turns[..1]);
            let continued = continue_prompt(&prompt, "A", "V").unwrap();
            assert!(
                continued
                    .ends_with(&[template.user.0, "V", template.user.1, template.turn_opening()].concat())
            );
        }
    }
}
