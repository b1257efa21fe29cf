//! What a command has to be told, so that its requests come to the gateway.

use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A key for clients that insist on one. Servers of this machine do not look at it.
const NO_KEY: &str = "toolmend";

/// A command with all that it has to be told.
pub(crate) struct Client {
    command: Vec<OsString>,
    environment: Vec<(&'static str, String)>,
}

impl Client {
    pub(crate) async fn new(command: &[OsString], address: SocketAddr, key: Option<String>) -> Client {
        let root = format!("http://{address}");
        let mut environment = vec![
            ("OPENAI_BASE_URL", format!("{root}/v1")),
            // What older programs look at.
            ("OPENAI_API_BASE", format!("{root}/v1")),
            ("ANTHROPIC_BASE_URL", root.clone()),
            ("OLLAMA_HOST", root.clone()),
            ("OLLAMA_API_BASE", root.clone()),
        ];
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"] {
            let set = std::env::var_os(name).is_some_and(|value| !value.is_empty());
            match &key {
                Some(key) => environment.push((name, key.clone())),
                None if set => {}
                None => environment.push((name, NO_KEY.to_owned())),
            }
        }
        let mut client = Client { command: command.to_vec(), environment };
        match Path::new(&client.name()).file_stem().and_then(OsStr::to_str) {
            Some("codex") => client.codex(&root),
            Some("opencode") => client.opencode(&root, models(address, key.as_deref()).await),
            _ => {}
        }
        client
    }

    pub(crate) fn name(&self) -> OsString {
        self.command.first().cloned().unwrap_or_default()
    }

    /// Codex takes a provider from its command line; its file stays as it is.
    fn codex(&mut self, root: &str) {
        let settings = [
            ("model_provider", "toolmend".to_owned()),
            ("model_providers.toolmend.name", "toolmend".to_owned()),
            ("model_providers.toolmend.base_url", format!("{root}/v1")),
            ("model_providers.toolmend.wire_api", "responses".to_owned()),
            ("model_providers.toolmend.env_key", "OPENAI_API_KEY".to_owned()),
        ];
        let flags = settings
            .into_iter()
            .flat_map(|(name, value)| [OsString::from("-c"), format!("{name}=\"{value}\"").into()]);
        self.command.splice(1..1, flags.collect::<Vec<_>>());
    }

    /// `OpenCode` takes a whole configuration from the environment. Every model must be listed in it.
    fn opencode(&mut self, root: &str, mut models: Vec<String>) {
        let words: Vec<String> =
            self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let named = words.windows(2).find(|pair| matches!(pair[0].as_str(), "-m" | "--model"));
        let named = named.and_then(|pair| pair[1].strip_prefix("toolmend/")).map(str::to_owned);
        models.splice(0..0, named);
        let first = models.first().cloned().unwrap_or_else(|| "default".to_owned());
        if models.is_empty() {
            models.push(first.clone());
        }
        let listed: Map<String, Value> =
            models.into_iter().map(|name| (name.clone(), json!({"name": name, "tool_call": true}))).collect();
        let config = json!({
            "provider": {"toolmend": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "toolmend",
                "options": {"baseURL": format!("{root}/v1"), "apiKey": "{env:OPENAI_API_KEY}"},
                "models": listed,
            }},
            "model": format!("toolmend/{first}"),
            "small_model": format!("toolmend/{first}"),
        });
        self.environment.push(("OPENCODE_CONFIG_CONTENT", config.to_string()));
    }

    pub(crate) fn into_command(self) -> Command {
        let mut words = self.command.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).envs(self.environment);
        command
    }
}

/// The models that the server lists; none where it does not.
async fn models(address: SocketAddr, key: Option<&str>) -> Vec<String> {
    let asked = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let key = key.unwrap_or(NO_KEY);
        let request = format!(
            "GET /v1/models HTTP/1.0\r\nhost: {address}\r\nauthorization: Bearer {key}\r\naccept-encoding: identity\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        stream.take(1 << 20).read_to_end(&mut answer).await.ok()?;
        let text = String::from_utf8(answer).ok()?;
        let list: Value = serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()?;
        let names = list["data"].as_array()?.iter().filter_map(|model| model["id"].as_str());
        Some(names.map(str::to_owned).collect())
    };
    let patience = std::time::Duration::from_secs(5);
    tokio::time::timeout(patience, asked).await.ok().flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn told(command: &[&str]) -> Client {
        let words: Vec<OsString> = command.iter().map(OsString::from).collect();
        Client::new(&words, SocketAddr::from(([127, 0, 0, 1], 9)), Some("k".to_owned())).await
    }

    #[tokio::test]
    async fn every_client_learns_where_the_gateway_is() {
        let client = told(&["anything", "-c", "x"]).await;
        assert_eq!(client.command, ["anything", "-c", "x"]);
        for (name, value) in [
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
            ("OPENAI_API_KEY", "k"),
        ] {
            assert!(client.environment.contains(&(name, value.to_owned())), "{name}");
        }
    }

    #[tokio::test]
    async fn programs_that_need_more_get_more() {
        let client = told(&["/usr/bin/codex", "exec", "hi"]).await;
        assert_eq!(client.command[1], "-c");
        assert!(client.command.contains(&"model_providers.toolmend.wire_api=\"responses\"".into()));
        assert_eq!(client.command[client.command.len() - 2..], ["exec", "hi"]);
        let client = told(&["opencode", "run", "-m", "toolmend/qwen3", "hi"]).await;
        let (_, config) =
            client.environment.iter().find(|(name, _)| *name == "OPENCODE_CONFIG_CONTENT").unwrap();
        let config: Value = serde_json::from_str(config).unwrap();
        assert_eq!(config["model"], "toolmend/qwen3");
        assert!(config["provider"]["toolmend"]["models"]["qwen3"].is_object());
    }
}
