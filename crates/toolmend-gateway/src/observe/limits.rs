//! The limits whose hits are counted.

/// A limit that something ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Too many connections: one that waited without a request was closed.
    Connections,
    /// A connection waited too long without a request.
    ConnectionIdle,
    HeaderBytes,
    HeaderTime,
    BodyBytes,
    BodyTime,
    /// A client read nothing of its answer for too long.
    WriteTime,
    /// A request could not be served because too many others were.
    Requests,
    /// Reading or mending took too long.
    Work,
    /// One request held too much.
    Held,
    /// All requests together held too much.
    HeldTotal,
}

impl Limit {
    /// All limits, so that each is shown before it is reached.
    pub(super) const ALL: [Limit; 11] = [
        Limit::Connections,
        Limit::ConnectionIdle,
        Limit::HeaderBytes,
        Limit::HeaderTime,
        Limit::BodyBytes,
        Limit::BodyTime,
        Limit::WriteTime,
        Limit::Requests,
        Limit::Work,
        Limit::Held,
        Limit::HeldTotal,
    ];

    /// Returns the name of the setting, as the metrics show it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Limit::Connections => "connections",
            Limit::ConnectionIdle => "connection_seconds",
            Limit::HeaderBytes => "header_bytes",
            Limit::HeaderTime => "header_seconds",
            Limit::BodyBytes => "body_bytes",
            Limit::BodyTime => "body_seconds",
            Limit::WriteTime => "write_seconds",
            Limit::Requests => "requests",
            Limit::Work => "work_millis",
            Limit::Held => "held_bytes",
            Limit::HeldTotal => "held_total_bytes",
        }
    }
}
