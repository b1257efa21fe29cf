//! What a configuration becomes: servers, connections and compiled tools. A reload replaces all of it.

use std::sync::Arc;

use crate::config::{
    Config, ConfigError, TlsConfig, Upstream, learn_template, name_of_template, read_dialects,
};
use crate::http::Client;
use crate::mend::ToolCache;
use crate::upstream::Route;

/// A configuration in use.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) routes: Vec<Route>,
    pub(crate) client: Client,
    /// The certificate for clients.
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    tools: ToolCache,
    /// The tools for servers with a template of their own, in the order of the routes.
    tools_of_templates: Vec<Option<ToolCache>>,
}

impl Setup {
    /// Applies a configuration.
    pub(crate) fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let routes = config.upstreams.iter().map(Route::new).collect::<Result<_, _>>()?;
        let client = Client::new(&config)?;
        let tls = config.tls.as_ref().map(TlsConfig::load).transpose()?;
        let dialects = config.dialects.as_deref().map(read_dialects).transpose()?.unwrap_or_default();
        let of_template = |upstream: &Upstream| {
            let Some(path) = upstream.template.as_deref() else { return Ok(None) };
            let learned = learn_template(path, &name_of_template(path))?;
            tracing::info!(dialect = learned.dialect(), path = %path.display(), "learned how calls are written");
            let dialects = dialects.with(&learned.dialects_of_server());
            let dialects = dialects.map_err(|error| ConfigError::new(format!("upstreams: {error}")))?;
            Ok(Some(ToolCache::new(dialects, config.repairs.clone())))
        };
        let tools_of_templates =
            config.upstreams.iter().map(of_template).collect::<Result<_, ConfigError>>()?;
        let tools = ToolCache::new(dialects, config.repairs.clone());
        Ok(Setup { config, routes, client, tls, tools, tools_of_templates })
    }

    /// Returns the compiled tools of requests for a model.
    pub(crate) fn tools_for(&self, model: &str) -> &ToolCache {
        let serving = self.routes.iter().position(|route| route.serves(model)).unwrap_or_default();
        self.tools_of_templates.get(serving).and_then(Option::as_ref).unwrap_or(&self.tools)
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
