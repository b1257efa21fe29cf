//! What `trace` is in a build without the feature `otel`: there are no traces, and a configured collector is an error.

use http::HeaderMap;

use super::CallEvent;
use crate::config::{Config, ConfigError};

/// There are none.
#[derive(Debug)]
pub(crate) enum Traces {}

/// There is none.
#[derive(Debug)]
pub(crate) enum Span {}

impl Traces {
    pub(crate) fn start(config: &Config) -> Result<Option<Self>, ConfigError> {
        match config.otlp_endpoint.as_deref().filter(|endpoint| !endpoint.is_empty()) {
            None => Ok(None),
            Some(_) => Err(ConfigError::new(
                "otlp_endpoint: this build sends no traces; use one with the feature `otel`, or remove the setting",
            )),
        }
    }

    pub(crate) fn start_request(&self, _: &HeaderMap, _: &'static str, _: &str, _: &str) -> Span {
        match *self {}
    }

    pub(crate) fn flush(&self) {
        match *self {}
    }
}

impl Span {
    pub(crate) fn inject_into(&self, _: &mut HeaderMap) {
        match *self {}
    }

    pub(crate) fn record_call(&self, _: &CallEvent<'_>) {
        match *self {}
    }

    pub(crate) fn record_status(&self, _: u16) {
        match *self {}
    }
}
