//! Prepares a command so that its requests go to the gateway.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};
use tempfile::TempPath;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A key for clients that need one. Servers on this machine ignore it.
const PLACEHOLDER_KEY: &str = "toolmend";

/// A command with its environment and settings.
pub(crate) struct Client {
    command: Vec<OsString>,
    environment: Vec<(&'static str, String)>,
    /// A file that the command reads; it is deleted with this value.
    file: Option<TempPath>,
}

impl Client {
    pub(crate) async fn new(command: &[OsString], address: SocketAddr, key: Option<String>) -> Client {
        let root = format!("http://{address}");
        let mut environment = vec![
            ("OPENAI_BASE_URL", format!("{root}/v1")),
            // Read by older programs.
            ("OPENAI_API_BASE", format!("{root}/v1")),
            ("ANTHROPIC_BASE_URL", root.clone()),
            ("OLLAMA_HOST", root.clone()),
            ("OLLAMA_API_BASE", root.clone()),
        ];
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"] {
            let is_set = std::env::var_os(name).is_some_and(|value| !value.is_empty());
            match &key {
                Some(key) => environment.push((name, key.clone())),
                None if is_set => {}
                None => environment.push((name, PLACEHOLDER_KEY.to_owned())),
            }
        }
        let mut client = Client { command: command.to_vec(), environment, file: None };
        match Path::new(&client.name()).file_stem().and_then(OsStr::to_str) {
            Some("codex") => client.configure_codex(&root),
            Some("opencode") => {
                let models = client.list_models(address, key.as_deref()).await;
                client.configure_opencode(&root, &models);
            }
            Some("pi") => {
                let models = client.list_models(address, key.as_deref()).await;
                // Without the file, pi reports that the provider is missing.
                let _ = client.configure_pi(&root, &models);
            }
            _ => {}
        }
        client
    }

    pub(crate) fn name(&self) -> OsString {
        self.command.first().cloned().unwrap_or_default()
    }

    /// Codex accepts a provider on its command line, so its configuration file stays unchanged.
    fn configure_codex(&mut self, root: &str) {
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

    /// `OpenCode` accepts a complete configuration from the environment. It must list every model.
    fn configure_opencode(&mut self, root: &str, models: &[String]) {
        let first = &models[0];
        let listed: Map<String, Value> =
            models.iter().map(|name| (name.clone(), json!({"name": name, "tool_call": true}))).collect();
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

    /// pi accepts a provider from an extension, which is a file that its command line names.
    fn configure_pi(&mut self, root: &str, models: &[String]) -> std::io::Result<()> {
        // The minimum that pi accepts. What the model can really do depends on the server.
        let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0});
        let listed: Vec<Value> = models
            .iter()
            .map(|name| {
                json!({"id": name, "name": name, "reasoning": false, "input": ["text", "image"],
                    "cost": cost, "contextWindow": 128_000, "maxTokens": 16_384})
            })
            .collect();
        let provider = json!({
            "name": "toolmend",
            "baseUrl": format!("{root}/v1"),
            "apiKey": "OPENAI_API_KEY",
            "api": "openai-completions",
            "models": listed,
        });
        let mut file = tempfile::Builder::new().prefix("toolmend-").suffix(".mjs").tempfile()?;
        writeln!(file, "export default (pi) => pi.registerProvider(\"toolmend\", {provider});")?;
        let path = file.into_temp_path();
        self.command.splice(1..1, ["-e".into(), path.as_os_str().to_owned()]);
        self.file = Some(path);
        Ok(())
    }

    /// Returns the models that the server lists, preceded by the one that the command names. At least one.
    async fn list_models(&self, address: SocketAddr, key: Option<&str>) -> Vec<String> {
        let mut models = fetch_models(address, key).await;
        let words: Vec<String> =
            self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let named = words.windows(2).find(|pair| matches!(pair[0].as_str(), "-m" | "--model"));
        if let Some(named) = named.and_then(|pair| pair[1].strip_prefix("toolmend/")) {
            models.retain(|model| model != named);
            models.insert(0, named.to_owned());
        }
        if models.is_empty() {
            models.push("default".to_owned());
        }
        models
    }

    /// Returns the command, and the file that must exist while it runs.
    pub(crate) fn into_command(self) -> (Command, Option<TempPath>) {
        let mut words = self.command.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).envs(self.environment);
        (command, self.file)
    }
}

/// Asks the server for its models. Returns none if it does not list them.
async fn fetch_models(address: SocketAddr, key: Option<&str>) -> Vec<String> {
    let answer = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let key = key.unwrap_or(PLACEHOLDER_KEY);
        let request = format!(
            "GET /v1/models HTTP/1.0\r\nhost: {address}\r\nauthorization: Bearer {key}\r\naccept-encoding: identity\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut response = Vec::new();
        stream.take(1 << 20).read_to_end(&mut response).await.ok()?;
        let text = String::from_utf8(response).ok()?;
        let list: Value = serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()?;
        let names = list["data"].as_array()?.iter().filter_map(|model| model["id"].as_str());
        Some(names.map(str::to_owned).collect())
    };
    let patience = std::time::Duration::from_secs(5);
    tokio::time::timeout(patience, answer).await.ok().flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn prepare(command: &[&str]) -> Client {
        let words: Vec<OsString> = command.iter().map(OsString::from).collect();
        Client::new(&words, SocketAddr::from(([127, 0, 0, 1], 9)), Some("k".to_owned())).await
    }

    #[tokio::test]
    async fn every_command_gets_the_address_of_the_gateway() {
        let client = prepare(&["anything", "-c", "x"]).await;
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
    async fn known_programs_get_their_settings() {
        let client = prepare(&["/usr/bin/codex", "exec", "hi"]).await;
        assert_eq!(client.command[1], "-c");
        assert!(client.command.contains(&"model_providers.toolmend.wire_api=\"responses\"".into()));
        assert_eq!(client.command[client.command.len() - 2..], ["exec", "hi"]);
        let client = prepare(&["opencode", "run", "-m", "toolmend/qwen3", "hi"]).await;
        let (_, config) =
            client.environment.iter().find(|(name, _)| *name == "OPENCODE_CONFIG_CONTENT").unwrap();
        let config: Value = serde_json::from_str(config).unwrap();
        assert_eq!(config["model"], "toolmend/qwen3");
        assert!(config["provider"]["toolmend"]["models"]["qwen3"].is_object());
        let client = prepare(&["pi", "-p", "--model", "toolmend/qwen3", "hi"]).await;
        assert_eq!(client.command[1], "-e");
        let (command, file) = client.into_command();
        let written = std::fs::read_to_string(file.as_ref().unwrap()).unwrap();
        assert!(
            written.contains(r#""id":"qwen3""#) && written.contains("http://127.0.0.1:9/v1"),
            "{written}"
        );
        assert!(command.get_args().any(|word| word == file.as_deref().unwrap()));
    }
}
