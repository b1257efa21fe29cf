//! The JSON endpoints that the page uses.

use std::time::Duration;

use axum::extract::Query;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolmend::RepairKind;
use toolmend_journal::{ChartRange, Error, Filter, GroupBy, Id, ModelToolCounts, Store};

use super::access::Access;
use super::{Dashboard, explain, hints};
use crate::http::{Body, respond};

/// How many entries one page of the list has.
const PAGE_LENGTH: usize = 50;
/// How long a server may take to count as reachable.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The query parameters of the list and the charts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PageQuery {
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

impl PageQuery {
    /// Reads the query of a URL.
    pub(super) fn read(uri: &http::Uri) -> Result<Self, String> {
        Query::try_from_uri(uri).map(|Query(query)| query).map_err(|error| error.to_string())
    }

    fn filter(&self) -> Filter {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        Filter {
            surface: given(&self.surface),
            upstream: given(&self.upstream),
            model: given(&self.model),
            tool: given(&self.tool),
            outcome: given(&self.outcome),
            kind: given(&self.kind).map(|kind| RepairKind::resolve_alias(&kind).to_owned()),
            since: None,
            until: None,
        }
    }

    fn range(&self) -> ChartRange {
        self.range.as_deref().and_then(ChartRange::from_name).unwrap_or_default()
    }
}

/// Returns a JSON answer that is not cached.
pub(super) fn uncached_json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let body = serde_json::to_string(body).unwrap_or_else(|_| "null".to_owned());
    let mut response = respond::json_response(status, body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Dashboard {
    /// Queries the journal, on another thread than those that serve requests.
    pub(super) async fn query_journal<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Response<Body>> {
        let observer = std::sync::Arc::clone(&self.proxy.observer);
        let result = tokio::task::spawn_blocking(move || {
            observer.journal.as_ref().map(|journal| journal.with_store(query))
        });
        let (status, error) = match result.await {
            Ok(Some(Ok(answer))) => return Ok(answer),
            Ok(Some(Err(error))) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
            Ok(None) => (StatusCode::NOT_FOUND, "the journal is off".to_owned()),
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the journal could not be queried".to_owned()),
        };
        Err(uncached_json(status, &json!({"error": error})))
    }

    /// Answers with the result of a query, if the request may read.
    async fn answer_query<T: Send + Serialize + 'static>(
        &self,
        headers: &HeaderMap,
        query: impl FnOnce(&mut Store) -> Result<T, Error> + Send + 'static,
    ) -> Response<Body> {
        if let Some(denied) = self.deny(headers, Access::Read) {
            return denied;
        }
        match self.query_journal(query).await {
            Ok(answer) => uncached_json(StatusCode::OK, &answer),
            Err(response) => response,
        }
    }
}

impl Dashboard {
    pub(super) async fn answer_state(&self, headers: &HeaderMap) -> Response<Body> {
        if let Some(denied) = self.deny(headers, Access::Read) {
            return denied;
        }
        let held = self.query_journal(Store::usage).await.ok();
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
        uncached_json(StatusCode::OK, &body)
    }

    pub(super) async fn answer_entries(&self, query: PageQuery, headers: &HeaderMap) -> Response<Body> {
        let filter = query.filter();
        let before =
            match query.before.as_deref().filter(|text| !text.is_empty()).map(str::parse::<Id>).transpose() {
                Ok(before) => before,
                Err(error) => {
                    return uncached_json(StatusCode::BAD_REQUEST, &json!({"error": error.to_string()}));
                }
            };
        self.answer_query(headers, move |store| store.list(&filter, before, PAGE_LENGTH)).await
    }

    pub(super) async fn answer_entry(&self, id: &str, headers: &HeaderMap) -> Response<Body> {
        if let Some(denied) = self.deny(headers, Access::Read) {
            return denied;
        }
        let Ok(id) = id.parse::<Id>() else { return entry_not_found() };
        match self.query_journal(move |store| store.entry(id)).await {
            Ok(Some(entry)) => uncached_json(StatusCode::OK, &explain::entry(&entry)),
            Ok(None) => entry_not_found(),
            Err(response) => response,
        }
    }

    pub(super) async fn delete_entry(&self, id: &str, headers: &HeaderMap) -> Response<Body> {
        if let Some(denied) = self.deny(headers, Access::Change) {
            return denied;
        }
        let Ok(id) = id.parse::<Id>() else { return entry_not_found() };
        match self.query_journal(move |store| store.delete(id)).await {
            Ok(true) => uncached_json(StatusCode::OK, &json!({})),
            Ok(false) => entry_not_found(),
            Err(response) => response,
        }
    }

    pub(super) async fn delete_all_entries(&self, headers: &HeaderMap) -> Response<Body> {
        if let Some(denied) = self.deny(headers, Access::Change) {
            return denied;
        }
        match self.query_journal(Store::clear).await {
            Ok(()) => uncached_json(StatusCode::OK, &json!({})),
            Err(response) => response,
        }
    }

    pub(super) async fn answer_chart(&self, query: PageQuery, headers: &HeaderMap) -> Response<Body> {
        let by = query.by.as_deref().and_then(GroupBy::from_name).unwrap_or(GroupBy::Outcome);
        let (range, filter) = (query.range(), query.filter());
        self.answer_query(headers, move |store| store.chart(by, range, &filter)).await
    }

    pub(super) async fn answer_worst(&self, query: PageQuery, headers: &HeaderMap) -> Response<Body> {
        let range = query.range();
        self.answer_query(headers, move |store| {
            let hinted = |pair: ModelToolCounts| {
                let hint = hints::suggest(&pair.tool, &pair.kinds, pair.failed > 0);
                Hinted { pair, hint }
            };
            Ok(store.worst_pairs(range)?.into_iter().map(hinted).collect::<Vec<_>>())
        })
        .await
    }

    pub(super) async fn answer_names(&self, headers: &HeaderMap) -> Response<Body> {
        self.answer_query(headers, Store::known_names).await
    }

    /// Answers with the servers, whether they can be reached, and the configuration.
    pub(super) async fn answer_upstreams(&self, headers: &HeaderMap) -> Response<Body> {
        if let Some(denied) = self.deny(headers, Access::Read) {
            return denied;
        }
        let setup = self.proxy.setup.load_full();
        let checks = setup.routes.iter().zip(&setup.config.upstreams).map(|(route, upstream)| async move {
            let took = route.measure_connect_time(CONNECT_TIMEOUT).await;
            json!({
                "url": &*route.origin,
                "models": upstream.models,
                "has_key": route.key.is_some(),
                "reachable": took.is_some(),
                "micros": took.map(|took| u64::try_from(took.as_micros()).unwrap_or(u64::MAX)),
            })
        });
        let found = futures_util::future::join_all(checks).await;
        uncached_json(StatusCode::OK, &json!({"upstreams": found, "config": setup.config.to_toml()}))
    }
}

fn entry_not_found() -> Response<Body> {
    uncached_json(
        StatusCode::NOT_FOUND,
        &json!({"error": "there is no such entry: it may have been deleted because of its age"}),
    )
}

/// A pair, with the sentence that would have helped.
#[derive(Serialize)]
struct Hinted {
    #[serde(flatten)]
    pair: ModelToolCounts,
    hint: Option<String>,
}

/// Answers with the tables of repairs and dialects, which are public.
pub(super) fn answer_tables() -> Response<Body> {
    uncached_json(StatusCode::OK, &json!({"repairs": explain::repairs(), "dialects": explain::dialects()}))
}
