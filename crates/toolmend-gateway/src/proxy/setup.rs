//! What a configuration becomes: servers, connections and compiled tools. A reload replaces all of it.

use crate::config::{Config, ConfigError, read_dialects};
use crate::http::Client;
use crate::mend::ToolCache;
use crate::upstream::Route;

/// A configuration in use.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) routes: Vec<Route>,
    pub(crate) client: Client,
    pub(crate) tools: ToolCache,
}

impl Setup {
    /// Applies a configuration.
    pub(crate) fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let routes = config.upstreams.iter().map(Route::new).collect::<Result<_, _>>()?;
        let client = Client::new(&config)?;
        let dialects = config.dialects.as_deref().map(read_dialects).transpose()?.unwrap_or_default();
        Ok(Setup { config, routes, client, tools: ToolCache::new(dialects) })
    }

    /// Returns the server for a model: the first that serves it, otherwise the first of all.
    pub(crate) fn find_route(&self, model: &str) -> Option<&Route> {
        self.routes.iter().find(|route| route.serves(model)).or_else(|| self.routes.first())
    }

    /// Whether clients authenticate to the gateway, so that their keys are not for the server.
    pub(crate) fn has_client_keys(&self) -> bool {
        !self.config.api_keys.is_empty()
    }
}
