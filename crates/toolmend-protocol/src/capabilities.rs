//! What requests of a protocol can express.
//!
//! The table is data; `toolmend-gateway` restricts a request to it and is the only place that drops or rewrites anything.

use crate::protocol::Protocol;

/// How a protocol says how much the model may think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingControl {
    /// It cannot.
    None,
    /// By a word.
    Effort,
    /// By a number of tokens.
    Budget,
    /// By a switch.
    Switch,
}

/// Which documents a protocol accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentSupport {
    /// None.
    None,
    /// Those whose data is in the request.
    Inline,
    /// Those whose data is in the request, and links.
    Linked,
}

/// What requests of a protocol can express, and what its servers can be expected to understand.
///
/// Start from [`Capabilities::of_chat`] and change what differs.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent facts")]
pub struct Capabilities {
    /// The protocol that the row is about.
    pub protocol: Protocol,
    /// The server is the vendor's own: it refuses reasoning that it did not sign, and members that it does not know.
    pub vendor: bool,
    /// System prompts between other messages. Most templates accept only one, at the front.
    pub inner_system_prompts: bool,
    /// Keeps the accounting line that one vendor's clients put into the system prompt. It differs in every request, so it
    /// would defeat the prompt cache of any other server.
    pub billing_line: bool,
    /// Tools that take free text.
    pub custom_tools: bool,
    /// Groups of tools.
    pub tool_groups: bool,
    /// The longest name of a tool.
    pub tool_name_length: usize,
    /// Tools can be strict.
    pub strict_tools: bool,
    /// Tools are strict unless the request says otherwise, so the request always has to say it.
    pub strict_by_default: bool,
    /// The model's choice of tools can be limited.
    pub tool_choice: bool,
    /// Parallel calls can be forbidden.
    pub parallel_calls: bool,
    /// The switch for parallel calls is part of the tool choice, so there has to be one.
    pub parallel_in_choice: bool,
    /// Images and documents in results.
    pub result_media: bool,
    /// Results can be marked as errors.
    pub result_errors: bool,
    /// Results name their tool.
    pub result_names: bool,
    /// Images by their URL.
    pub image_urls: bool,
    /// How closely the model looks at an image.
    pub image_detail: bool,
    /// Documents.
    pub documents: DocumentSupport,
    /// Documents of plain text stay documents; elsewhere they become text, which every model reads.
    pub text_documents: bool,
    /// A message has one text, followed by its calls.
    pub single_text: bool,
    /// Images can stand between the texts of a message.
    pub inline_media: bool,
    /// Reasoning of earlier turns.
    pub reasoning: bool,
    /// How much the model may think.
    pub thinking: ThinkingControl,
    /// Whether and how reasoning is shown can be chosen.
    pub reasoning_summary: bool,
    /// JSON without a schema as the format of the answer.
    pub json_format: bool,
    /// Schemas of answers have names.
    pub named_schemas: bool,
    /// Texts at which the model stops.
    pub stop_texts: bool,
    /// The sampling parameters that servers know.
    pub sampling: &'static [&'static str],
    /// The sampling parameters that the vendor's own server knows.
    pub vendor_sampling: &'static [&'static str],
    /// The user on whose behalf the request is made.
    pub user: bool,
    /// A key for the prompt cache.
    pub cache_key: bool,
    /// The token limit to send if the client sets none, for protocols that require one.
    pub default_limit: Option<u64>,
}

impl Capabilities {
    /// The capabilities of chat completions, the baseline of the other rows.
    pub const fn of_chat() -> Capabilities {
        Capabilities {
            protocol: Protocol::Chat,
            vendor: false,
            inner_system_prompts: true,
            billing_line: false,
            custom_tools: false,
            tool_groups: false,
            tool_name_length: 64,
            strict_tools: true,
            strict_by_default: false,
            tool_choice: true,
            parallel_calls: true,
            parallel_in_choice: false,
            result_media: false,
            result_errors: false,
            result_names: false,
            image_urls: true,
            image_detail: true,
            documents: DocumentSupport::Inline,
            text_documents: false,
            single_text: true,
            inline_media: true,
            reasoning: true,
            thinking: ThinkingControl::Effort,
            reasoning_summary: false,
            json_format: true,
            named_schemas: true,
            stop_texts: true,
            sampling: &[
                "temperature",
                "top_p",
                "top_k",
                "min_p",
                "seed",
                "presence_penalty",
                "frequency_penalty",
            ],
            vendor_sampling: &["temperature", "top_p", "seed", "presence_penalty", "frequency_penalty"],
            user: true,
            cache_key: true,
            default_limit: None,
        }
    }

    /// Returns the same for the vendor's own server.
    #[must_use]
    pub const fn for_vendor(self) -> Capabilities {
        Capabilities { vendor: true, sampling: self.vendor_sampling, ..self }
    }
}
