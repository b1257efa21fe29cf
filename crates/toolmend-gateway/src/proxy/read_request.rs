//! Reads requests: parses them, compiles their tools and mends their earlier turns, within a budget.
//!
//! What is short and was seen before is read on the thread of its connection, because waking another one takes longer.
//! Everything else is read on other threads, so that no request delays another.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use memchr::memmem;
use toolmend::Preset;
use toolmend_protocol::{Document, Protocol, RequestSummary};

use super::{Proxy, Setup};
use crate::guard::Lane;
use crate::http::coding::Coding;
use crate::mend::{CompiledTools, MendedRequest, compiles_quickly, mend_request};

/// Longer requests with earlier turns, in bytes, are read on another thread.
const MAX_LIGHT_HISTORY: usize = 32 << 10;
/// Longer requests, in bytes, are read on another thread.
const MAX_LIGHT_REQUEST: usize = 512 << 10;

/// How a request is read.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) protocol: Protocol,
    pub(super) policy: Preset,
    /// Tools that only the gateway knows.
    pub(super) hidden_tools: Option<Bytes>,
    /// The server that was chosen, by its position.
    pub(super) route: Option<usize>,
}

/// A request that was read.
#[derive(Debug)]
pub(super) struct ReadRequest {
    pub(super) summary: RequestSummary,
    pub(super) tools: Arc<CompiledTools>,
    pub(super) mended: MendedRequest,
}

impl Reading {
    /// Reads a request that is a JSON object.
    fn read(self, proxy: &Proxy, setup: &Setup, doc: &Document) -> ReadRequest {
        let summary = self.summarize(doc);
        self.read_summarized(proxy, setup, doc, summary)
    }

    fn summarize(&self, doc: &Document) -> RequestSummary {
        RequestSummary::read(doc, self.protocol.features().streams_by_default)
    }

    fn read_summarized(
        self,
        proxy: &Proxy,
        setup: &Setup,
        doc: &Document,
        mut summary: RequestSummary,
    ) -> ReadRequest {
        let are_tools_hidden = self.hidden_tools.is_some();
        summary.tools = self.hidden_tools.unwrap_or(summary.tools);
        let compiled = setup.tools_for(self.route, &summary.model);
        let tools = compiled.get(&summary.tools, self.policy);
        // With hidden tools, earlier calls are text on purpose and stay text.
        let history_tools =
            if are_tools_hidden { compiled.get(&Bytes::new(), self.policy) } else { Arc::clone(&tools) };
        let route =
            self.route.and_then(|at| setup.routes.get(at)).or_else(|| setup.find_route(&summary.model));
        let ids = route.and_then(|route| route.profile.known_ids.get(&summary.model));
        let mended = mend_request(self.protocol, doc, &history_tools, &proxy.notes, &setup.config, ids);
        ReadRequest { summary, tools, mended }
    }

    /// Whether reading a request takes no noticeable time.
    fn is_light(&self, setup: &Setup, doc: &Document, summary: &RequestSummary) -> bool {
        let tools = self.hidden_tools.as_ref().unwrap_or(&summary.tools);
        let known = setup.tools_for(self.route, &summary.model).find(tools, self.policy);
        let is_known = known.map_or_else(|| compiles_quickly(tools), |tools| tools.is_light);
        is_known && (doc.source().len() <= MAX_LIGHT_HISTORY || !has_history(doc.source()))
    }
}

/// Whether a request has earlier turns of a model.
fn has_history(text: &[u8]) -> bool {
    ["\"assistant\"", "\"function_call\""].iter().any(|word| memmem::find(text, word.as_bytes()).is_some())
}

impl Proxy {
    /// Reads a request. `None` if that takes too long; `Some(None)` if it is not a JSON object.
    pub(super) async fn read_request(
        self: &Arc<Self>,
        setup: &Arc<Setup>,
        headers: &HeaderMap,
        body: &Bytes,
        reading: Reading,
    ) -> Option<Option<ReadRequest>> {
        let Some(coding) = Coding::from_headers(headers) else { return Some(None) };
        let Some(plain) = coding.decode_whole(body, setup.config.limits.body_bytes).await else {
            return Some(None);
        };
        let parse = |plain: &Bytes| Document::parse(plain).filter(|doc| doc.root().is_object());
        if plain.len() <= MAX_LIGHT_REQUEST {
            let Some(doc) = parse(&plain) else { return Some(None) };
            let summary = reading.summarize(&doc);
            if reading.is_light(setup, &doc, &summary) {
                return Some(Some(reading.read_summarized(self, setup, &doc, summary)));
            }
        }
        let (proxy, setup) = (Arc::clone(self), Arc::clone(setup));
        let budget = Duration::from_millis(setup.config.limits.work_millis);
        let read = move || parse(&plain).map(|doc| reading.read(&proxy, &setup, &doc));
        self.work.run(Lane::Slow, budget, read).await
    }

    /// Mends the calls of a request's earlier turns, so that they can be translated. If that takes too long, they stay.
    pub(super) async fn repair_history(
        self: &Arc<Self>,
        setup: &Arc<Setup>,
        protocol: Protocol,
        route: Option<usize>,
        doc: Document,
    ) -> Document {
        let reading = Reading { protocol, policy: Preset::Balanced, hidden_tools: None, route };
        let summary = reading.summarize(&doc);
        let mended = if reading.is_light(setup, &doc, &summary) {
            Some(reading.read_summarized(self, setup, &doc, summary).mended)
        } else {
            let text = doc.source().clone();
            let (proxy, setup) = (Arc::clone(self), Arc::clone(setup));
            let budget = Duration::from_millis(setup.config.limits.work_millis);
            let read = move || Document::parse(&text).map(|doc| reading.read(&proxy, &setup, &doc).mended);
            self.work.run(Lane::Slow, budget, read).await.flatten()
        };
        let text = mended.and_then(|mended| mended.text);
        text.and_then(|text| Document::parse(&Bytes::from(text))).unwrap_or(doc)
    }
}
