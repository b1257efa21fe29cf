//! The value that names a protocol. What a protocol does is in its folder under `surfaces`.

use crate::registry::for_each_protocol;

macro_rules! define_protocol {
    ($($(#[$doc:meta])* $name:ident => $adapter:expr,)*) => {
        /// An API surface that requests and answers are written in.
        ///
        /// Dereferences to its [`ProtocolAdapter`](crate::ProtocolAdapter). Parses from and prints as the value that
        /// configuration files and flags use.
        ///
        /// ```
        /// use toolmend_protocol::{Framing, Protocol};
        ///
        /// assert_eq!(Protocol::Chat.framing(), Framing::Sse);
        /// assert_eq!(Protocol::OllamaChat.to_string(), "ollama");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Protocol {
            $($(#[$doc])* $name,)*
        }

        impl Protocol {
            /// All protocols, in the order of the registry.
            pub const ALL: &'static [Protocol] = &[$(Protocol::$name),*];
        }
    };
}

for_each_protocol!(define_protocol);
