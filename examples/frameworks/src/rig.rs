//! rig parses the arguments itself, into `Tool::Args`. With one changed type, broken arguments are mended.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

mod search;

use std::convert::Infallible;

use rig_core::tool::{ErasedTool, PortableTool, ToolContext, ToolResult};
use toolmend::Lenient;

use self::search::Search;

struct SearchTool;

impl PortableTool for SearchTool {
    const NAME: &'static str = "search";
    type Args = Lenient<Search>; // was: Search
    type Output = String;
    type Error = Infallible;

    fn description(&self) -> String {
        "Searches files".to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        schemars::schema_for!(Lenient<Search>).to_value()
    }

    async fn call(&self, args: Lenient<Search>) -> Result<String, Infallible> {
        Ok(args.run())
    }
}

fn run_tool(arguments: &str) -> ToolResult {
    let mut context = ToolContext::default();
    futures::executor::block_on(SearchTool.execute(arguments.to_owned(), &mut context))
}

fn main() {
    for arguments in [r#"{"query": 42, "paths": "[\"src\", \"tests\"]"}"#, r#"{"paths": ["src"]}"#] {
        println!("{}", run_tool(arguments).output().render());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_the_wrong_types_runs() {
        let result = run_tool(r#"{"query": 42, "paths": "[\"src\", \"tests\"]"}"#);
        assert_eq!(result.output().render(), "42 in src and tests");
        let refused = run_tool(r#"{"paths": ["src"]}"#);
        assert!(refused.error().is_some_and(|error| error.message().contains("missing field `query`")));
    }
}
