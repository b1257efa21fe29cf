//! What a configuration becomes: servers, connections and compiled tools. A reload replaces all of it.

use std::sync::Arc;

use toolmend_dialect_files::{learn_template, name_of_template, read_dialects};

use super::client_keys::ClientKeys;
use crate::config::{Config, ConfigError, TlsConfig, Upstream};
use crate::http::Client;
use crate::mend::ToolCache;
use crate::observe::Observer;
use crate::upstream::Route;

/// A configuration in use.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) routes: Vec<Arc<Route>>,
    pub(crate) client: Client,
    pub(super) keys: ClientKeys,
    /// The certificate for clients.
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    tools: Arc<ToolCache>,
    /// The tools for servers with a template of their own, in the order of the routes.
    tools_of_templates: Vec<Option<ToolCache>>,
}

impl Setup {
    /// Applies a configuration.
    pub(crate) fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let routes = config.upstreams.iter().map(|upstream| Route::new(upstream).map(Arc::new));
        let routes = routes.collect::<Result<_, _>>()?;
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
        let keys = ClientKeys::new(&config);
        let tools = Arc::new(ToolCache::new(dialects, config.repairs.clone()));
        Ok(Setup { config, routes, client, keys, tls, tools, tools_of_templates })
    }

    /// Returns the compiled tools of requests for a model.
    /// `route`: the position of its server, if that was chosen.
    pub(crate) fn tools_for(&self, route: Option<usize>, model: &str) -> &ToolCache {
        let first = || self.routes.iter().position(|route| route.serves(model)).unwrap_or_default();
        let serving = route.unwrap_or_else(first);
        self.tools_of_templates.get(serving).and_then(Option::as_ref).unwrap_or(&self.tools)
    }

    /// Returns the server for a model: the first that serves it, otherwise the first of all.
    pub(crate) fn find_route(&self, model: &str) -> Option<&Arc<Route>> {
        self.routes.iter().find(|route| route.serves(model)).or_else(|| self.routes.first())
    }

    /// Takes over what is known about servers that stay.
    pub(crate) fn keep_knowledge(&mut self, old: &Setup) {
        // Files with dialects may have changed.
        let has_files = |config: &Config| config.dialects.is_some();
        if !has_files(&self.config) && !has_files(&old.config) && self.config.repairs == old.config.repairs {
            self.tools = Arc::clone(&old.tools);
        }
        for route in &mut self.routes {
            let same = old.routes.iter().find(|other| other.is_same_server(route));
            if let (Some(same), Some(route)) = (same, Arc::get_mut(route)) {
                route.health = Arc::clone(&same.health);
                route.profile.known_protocols = Arc::clone(&same.profile.known_protocols);
            }
        }
    }

    /// Shows in the metrics which servers work.
    pub(crate) fn show_servers(&self, observer: &Observer) {
        for route in &self.routes {
            observer.metrics.traffic.set_upstream_up(&route.origin, !route.health.rests());
        }
    }

    /// Whether clients authenticate to the gateway, so that their keys are not for the server.
    pub(crate) fn has_client_keys(&self) -> bool {
        self.config.has_client_keys()
    }
}
