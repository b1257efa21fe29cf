//! What the page asks for, as JSON.

use std::time::Duration;

use axum::extract::Query;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolmend_journal::{ChartRange, Error, Filter, GroupBy, Id, ModelToolCounts, Store};

use super::access::Access;
use super::{Dashboard, explain, hints};
use crate::http::{Body, respond};

/// How long a page of the list is.
const PAGE: usize = 50;
/// How long a server may take to be called reachable.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the list and the charts are asked with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    model: Option<String>,
    tool: Option<String>,
    outcome: Option<String>,
    kind: Option<String>,
    surface: Option<String>,
    upstream: Option<String>,
    before: Option<String>,
    range: Option<String>,
    by: Option<String>,
}

impl Asked {
    /// Reads the query of an address.
    pub(super) fn read(uri: &http::Uri) -> Result<Self, String> {
        Query::try_from_uri(uri).map(|Query(asked)| asked).map_err(|error| error.to_string())
    }

    fn filter(&self) -> Filter {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        Filter {
            surface: given(&self.surface),
            upstream: given(&self.upstream),
            model: given(&self.model),
            tool: given(&self.tool),
            outcome: given(&self.outcome),
            kind: given(&self.kind),
            since: None,
            until: None,
        }
    }

    fn range(&self) -> ChartRange {
        self.range.as_deref().and_then(ChartRange::from_name).unwrap_or_default()
    }
}

/// An answer that nobody keeps.
pub(super) fn send(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let body = serde_json::to_string(body).unwrap_or_else(|_| "null".to_owned());
    let mut response = respond::json_response(status, body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Dashboard {
    /// Asks the journal, away from the threads that serve.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Response<Body>> {
        let observer = std::sync::Arc::clone(&self.proxy.observer);
        let asked = tokio::task::spawn_blocking(move || {
            observer.journal.as_ref().map(|journal| journal.with_store(question))
        });
        let (status, why) = match asked.await {
            Ok(Some(Ok(answer))) => return Ok(answer),
            Ok(Some(Err(error))) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
            Ok(None) => (StatusCode::NOT_FOUND, "the journal is off".to_owned()),
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the journal could not be asked".to_owned()),
        };
        Err(send(status, &json!({"error": why})))
    }

    /// The answer to a question of somebody who may look.
    async fn look<T: Send + Serialize + 'static>(
        &self,
        headers: &HeaderMap,
        question: impl FnOnce(&mut Store) -> Result<T, Error> + Send + 'static,
    ) -> Response<Body> {
        if let Some(refused) = self.refuse(headers, Access::Look) {
            return refused;
        }
        match self.ask(question).await {
            Ok(answer) => send(StatusCode::OK, &answer),
            Err(response) => response,
        }
    }
}

impl Dashboard {
    pub(super) async fn state(&self, headers: &HeaderMap) -> Response<Body> {
        if let Some(refused) = self.refuse(headers, Access::Look) {
            return refused;
        }
        let held = self.ask(Store::usage).await.ok();
        let journal = self.proxy.observer.journal.as_ref().map(|journal| {
            let (options, counts) = (journal.options(), journal.counts());
            json!({
                "place": options.location.to_string(),
                "values": options.values,
                "days": options.days,
                "megabytes": options.megabytes,
                "held": held,
                "dropped": counts.dropped,
                "failures": counts.failures,
            })
        });
        let setup = self.proxy.setup.load();
        let body = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "change": self.access(headers) == Access::Change,
            "has_key": setup.config.admin_key.is_some(),
            "policy": setup.config.policy,
            "streams": self.proxy.observer.metrics.open_streams(),
            "journal": journal,
        });
        send(StatusCode::OK, &body)
    }

    pub(super) async fn entries(&self, asked: Asked, headers: &HeaderMap) -> Response<Body> {
        let filter = asked.filter();
        let before =
            match asked.before.as_deref().filter(|text| !text.is_empty()).map(str::parse::<Id>).transpose() {
                Ok(before) => before,
                Err(error) => return send(StatusCode::BAD_REQUEST, &json!({"error": error.to_string()})),
            };
        self.look(headers, move |store| store.list(&filter, before, PAGE)).await
    }

    pub(super) async fn entry(&self, id: &str, headers: &HeaderMap) -> Response<Body> {
        if let Some(refused) = self.refuse(headers, Access::Look) {
            return refused;
        }
        let Ok(id) = id.parse::<Id>() else { return no_entry() };
        match self.ask(move |store| store.entry(id)).await {
            Ok(Some(entry)) => send(StatusCode::OK, &explain::entry(&entry)),
            Ok(None) => no_entry(),
            Err(response) => response,
        }
    }

    pub(super) async fn delete(&self, id: &str, headers: &HeaderMap) -> Response<Body> {
        if let Some(refused) = self.refuse(headers, Access::Change) {
            return refused;
        }
        let Ok(id) = id.parse::<Id>() else { return no_entry() };
        match self.ask(move |store| store.delete(id)).await {
            Ok(true) => send(StatusCode::OK, &json!({})),
            Ok(false) => no_entry(),
            Err(response) => response,
        }
    }

    pub(super) async fn clear(&self, headers: &HeaderMap) -> Response<Body> {
        if let Some(refused) = self.refuse(headers, Access::Change) {
            return refused;
        }
        match self.ask(Store::clear).await {
            Ok(()) => send(StatusCode::OK, &json!({})),
            Err(response) => response,
        }
    }

    pub(super) async fn chart(&self, asked: Asked, headers: &HeaderMap) -> Response<Body> {
        let by = asked.by.as_deref().and_then(GroupBy::from_name).unwrap_or(GroupBy::Outcome);
        let (range, filter) = (asked.range(), asked.filter());
        self.look(headers, move |store| store.chart(by, range, &filter)).await
    }

    pub(super) async fn worst(&self, asked: Asked, headers: &HeaderMap) -> Response<Body> {
        let range = asked.range();
        self.look(headers, move |store| {
            let hinted = |pair: ModelToolCounts| {
                let hint = hints::suggest(&pair.tool, &pair.kinds, pair.failed > 0);
                Hinted { pair, hint }
            };
            Ok(store.worst_pairs(range)?.into_iter().map(hinted).collect::<Vec<_>>())
        })
        .await
    }

    pub(super) async fn names(&self, headers: &HeaderMap) -> Response<Body> {
        self.look(headers, Store::known_names).await
    }

    /// Which servers there are, whether they can be reached, and how everything is set up.
    pub(super) async fn upstreams(&self, headers: &HeaderMap) -> Response<Body> {
        if let Some(refused) = self.refuse(headers, Access::Look) {
            return refused;
        }
        let setup = self.proxy.setup.load_full();
        let checks = setup.routes.iter().zip(&setup.config.upstreams).map(|(route, upstream)| async move {
            let took = route.measure_connect_time(PATIENCE).await;
            json!({
                "url": &*route.origin,
                "models": upstream.models,
                "has_key": route.key.is_some(),
                "reachable": took.is_some(),
                "micros": took.map(|took| u64::try_from(took.as_micros()).unwrap_or(u64::MAX)),
            })
        });
        let found = futures_util::future::join_all(checks).await;
        send(StatusCode::OK, &json!({"upstreams": found, "config": setup.config.to_toml()}))
    }
}

fn no_entry() -> Response<Body> {
    send(
        StatusCode::NOT_FOUND,
        &json!({"error": "there is no such entry: it may have been too old to be kept"}),
    )
}

/// A pair, with the sentence that would have helped.
#[derive(Serialize)]
struct Hinted {
    #[serde(flatten)]
    pair: ModelToolCounts,
    hint: Option<String>,
}

/// What everybody may know: it stands in the documentation.
pub(super) fn tables() -> Response<Body> {
    send(StatusCode::OK, &json!({"repairs": explain::repairs(), "dialects": explain::dialects()}))
}
