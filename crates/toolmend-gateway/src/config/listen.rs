//! The address to listen on, as people write it.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

/// Reads an address to listen on. Without a host, only this machine can connect.
///
/// ```
/// use toolmend_gateway::parse_listen_address;
///
/// for text in ["4242", ":4242", "127.0.0.1:4242"] {
///     assert_eq!(parse_listen_address(text).unwrap().to_string(), "127.0.0.1:4242");
/// }
/// assert_eq!(parse_listen_address("0.0.0.0:80").unwrap().to_string(), "0.0.0.0:80");
/// assert!(parse_listen_address("localhost:4242").unwrap().ip().is_loopback());
/// assert!(parse_listen_address("127.0.0.1").is_err());
/// ```
///
/// # Errors
/// If it is not an address, or its name cannot be resolved.
pub fn parse_listen_address(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim();
    let invalid =
        || format!("expected an address like 127.0.0.1:4242, localhost:4242 or 4242, found {text:?}");
    let port = text.strip_prefix(':').unwrap_or(text);
    if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) {
        return port.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(|_| invalid());
    }
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let found = text.to_socket_addrs().map_err(|_| invalid())?;
    // Most clients try the older kind of address if a name has both.
    let (old, new): (Vec<_>, Vec<_>) = found.partition(SocketAddr::is_ipv4);
    old.into_iter().chain(new).next().ok_or_else(invalid)
}
