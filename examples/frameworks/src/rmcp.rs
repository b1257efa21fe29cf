//! rmcp parses the arguments itself, into `Parameters<T>`. With one changed type, broken arguments are mended.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

mod search;

use std::error::Error;

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde_json::{Value, json};
use toolmend::Lenient;

use self::search::Search;

#[derive(Debug, Clone)]
struct Server {
    tool_router: ToolRouter<Self>,
}

#[tool_router(router = tool_router)]
impl Server {
    #[tool(description = "Searches files")]
    async fn search(
        &self,
        // was: Parameters(search): Parameters<Search>
        Parameters(search): Parameters<Lenient<Search>>,
    ) -> String {
        search.run()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {}

/// Sends one call through the protocol.
async fn send_call(arguments: Value) -> Result<CallToolResult, Box<dyn Error>> {
    let (server_side, client_side) = tokio::io::duplex(4096);
    let server = tokio::spawn(async move {
        let server = Server { tool_router: Server::tool_router() };
        server.serve(server_side).await?.waiting().await?;
        Ok::<(), Box<dyn Error + Send + Sync>>(())
    });
    let client = ().serve(client_side).await?;
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let result = client.call_tool(CallToolRequestParams::new("search").with_arguments(arguments)).await;
    client.cancel().await?;
    server.await?.map_err(|error| error.to_string())?;
    Ok(result?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{:?}", send_call(json!({"query": 42, "paths": "[\"src\", \"tests\"]"})).await?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_with_the_wrong_types_runs() {
        let result = send_call(json!({"query": 42, "paths": "[\"src\", \"tests\"]"})).await.unwrap();
        assert!(format!("{result:?}").contains("42 in src and tests"), "{result:?}");
        let refused = send_call(json!({"paths": ["src"]})).await.unwrap();
        assert_eq!(refused.is_error, Some(true));
        assert!(format!("{refused:?}").contains("missing field `query`"), "{refused:?}");
    }
}
