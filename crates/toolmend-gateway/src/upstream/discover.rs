//! Model servers that already run on this machine.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

/// The usual ports, in order of preference.
const USUAL_PORTS: [(u16, &str); 7] = [
    (11434, "Ollama"),
    (8080, "llama.cpp or mlx"),
    (1234, "LM Studio"),
    (8000, "vLLM"),
    (30000, "SGLang"),
    (8081, "mlx"),
    (1337, "Jan"),
];

/// Longer than any server on this machine needs.
const TIMEOUT: Duration = Duration::from_millis(800);

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Its address.
    pub url: String,
    /// What usually listens there.
    pub name: &'static str,
}

/// Looks for model servers on the usual ports of this machine.
pub async fn discover_local_servers() -> Vec<LocalServer> {
    discover_on_ports(&USUAL_PORTS).await
}

/// Looks for model servers on these ports.
async fn discover_on_ports(ports: &[(u16, &'static str)]) -> Vec<LocalServer> {
    let probes = ports.iter().map(|&(port, name)| {
        tokio::spawn(async move {
            let url = format!("http://127.0.0.1:{port}");
            let answered = tokio::time::timeout(TIMEOUT, lists_models(&url)).await;
            matches!(answered, Ok(true)).then_some(LocalServer { url, name })
        })
    });
    let probes: Vec<_> = probes.collect();
    let mut found = Vec::new();
    for probe in probes {
        found.extend(probe.await.ok().flatten());
    }
    found
}

/// Whether a program lists models, as every model server does. Other programs use these ports, too.
async fn lists_models(url: &str) -> bool {
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let Ok(request) = Request::get(format!("{url}/v1/models")).body(Empty::new()) else { return false };
    let Ok(response) = client.request(request).await else { return false };
    if !response.status().is_success() {
        return false;
    }
    let Ok(body) = Limited::new(response.into_body(), 1 << 20).collect().await else { return false };
    let list: serde_json::Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    list["data"].is_array() || list["models"].is_array()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_server_that_lists_models_is_found() {
        let demo = crate::demo::start_demo().await.unwrap().port();
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let ports = [(gone, "gone"), (silent.local_addr().unwrap().port(), "silent"), (demo, "demo")];
        let found = discover_on_ports(&ports).await;
        assert_eq!(found, [LocalServer { url: format!("http://127.0.0.1:{demo}"), name: "demo" }]);
    }
}
