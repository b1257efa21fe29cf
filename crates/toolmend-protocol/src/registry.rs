//! The registry: the one list of all protocols.
//!
//! Each row names a variant of [`Protocol`](crate::Protocol) and the adapter that implements it. The order matters in one
//! case: if a server's protocol is not configured, the gateway tries the protocols that carry conversations from top to
//! bottom.

/// Passes every row of the registry to the macro `$expand`.
macro_rules! for_each_protocol {
    ($expand:ident) => {
        $expand! {
            /// Chat completions: `POST /v1/chat/completions`.
            Chat => chat::Chat,
            /// Responses: `POST /v1/responses`.
            Responses => responses::Responses,
            /// Messages: `POST /v1/messages`.
            Messages => messages::Messages,
            /// Ollama's chat: `POST /api/chat`.
            OllamaChat => ollama::Ollama(ollama::Endpoint::Chat),
            /// Text completions: `POST /v1/completions`. Conversations are written as prompts.
            Completions => completions::Completions,
            /// Ollama's text completion: `POST /api/generate`.
            OllamaGenerate => ollama::Ollama(ollama::Endpoint::Generate),
        }
    };
}

pub(crate) use for_each_protocol;
