//! The registry: the one list of all protocols.
//!
//! Each row names a variant of [`Protocol`](crate::Protocol) and the table that describes it. The order matters in one
//! case: if a server's protocol is not configured, the gateway tries the protocols that carry conversations from top to
//! bottom.

/// Passes every row of the registry to the macro `$expand`.
macro_rules! for_each_protocol {
    ($expand:ident) => {
        $expand! {
            /// Chat completions: `POST /v1/chat/completions`.
            Chat => chat::CHAT,
            /// Responses: `POST /v1/responses`.
            Responses => responses::RESPONSES,
            /// Messages: `POST /v1/messages`.
            Messages => messages::MESSAGES,
            /// Ollama's chat: `POST /api/chat`.
            OllamaChat => ollama::CHAT,
            /// Text completions: `POST /v1/completions`. Conversations are written as prompts.
            Completions => completions::COMPLETIONS,
            /// Ollama's text completion: `POST /api/generate`.
            OllamaGenerate => ollama::GENERATE,
        }
    };
}

pub(crate) use for_each_protocol;
