//! Reads requests: parses them, compiles their tools and mends their earlier turns, within a budget.
//!
//! What is short and was seen before is read on the thread of its connection, because waking another one takes longer.
//! Everything else is read on other threads, so that no request delays another.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use memchr::memmem;
use toolmend::Preset;
use toolmend_protocol::{Document, Protocol, RequestSummary};

use super::{Proxy, Setup};
use crate::config::RequestLimits;
use crate::guard::Lane;
use crate::mend::{CompiledTools, MendedRequest, compiles_quickly, mend_request};

/// Requests with earlier turns that are longer than this without their tools, in bytes, are read on another thread.
const MAX_LIGHT_HISTORY: usize = 32 << 10;
/// Longer texts, in bytes, are parsed, translated and converted on another thread.
const MAX_LIGHT_TEXT: usize = 128 << 10;
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
    /// Reads a request that is a JSON object. `None` if there is not enough memory for its tools.
    fn read(self, proxy: &Proxy, setup: &Setup, doc: &Document) -> Option<ReadRequest> {
        let summary = self.summarize(doc);
        self.read_summarized(proxy, setup, doc, summary, None)
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
        tools: Option<Arc<CompiledTools>>,
    ) -> Option<ReadRequest> {
        let are_tools_hidden = self.hidden_tools.is_some();
        summary.tools = self.hidden_tools.unwrap_or(summary.tools);
        let compiled = setup.tools_for(self.route, &summary.model);
        let tools = match tools {
            Some(tools) => tools,
            None => compiled.get(&summary.tools, self.policy, &proxy.memory)?,
        };
        // With hidden tools, earlier calls are text on purpose and stay text.
        let no_tools = || compiled.get(&Bytes::new(), self.policy, &proxy.memory);
        let history_tools = if are_tools_hidden { no_tools()? } else { Arc::clone(&tools) };
        let route =
            self.route.and_then(|at| setup.routes.get(at)).or_else(|| setup.find_route(&summary.model));
        let ids = route.and_then(|route| route.profile.known_ids.get(&summary.model));
        let mended = mend_request(self.protocol, doc, &history_tools, &proxy.notes, &setup.config, ids);
        Some(ReadRequest { summary, tools, mended })
    }

    /// Returns the tools of a request that takes no noticeable time to read.
    fn light_tools(
        &self,
        proxy: &Proxy,
        setup: &Setup,
        doc: &Document,
        summary: &RequestSummary,
    ) -> Option<Arc<CompiledTools>> {
        let text = doc.source();
        let rest = text.len().saturating_sub(summary.tools.len());
        if rest > MAX_LIGHT_HISTORY && has_history(text) {
            return None;
        }
        let tools = self.hidden_tools.as_ref().unwrap_or(&summary.tools);
        let compiled = setup.tools_for(self.route, &summary.model);
        match compiled.find(tools, self.policy) {
            Some(known) => known.is_light.then_some(known),
            None if compiles_quickly(tools) => compiled.get(tools, self.policy, &proxy.memory),
            None => None,
        }
    }
}

/// Whether a request has earlier turns of a model.
fn has_history(text: &[u8]) -> bool {
    ["\"assistant\"", "\"function_call\""].iter().any(|word| memmem::find(text, word.as_bytes()).is_some())
}

impl Proxy {
    /// Runs work that reads this many bytes: on this thread if that takes no noticeable time, otherwise on another. `None` if it takes too
    /// long.
    pub(super) async fn run_by_length<T: Send + 'static>(
        &self,
        length: usize,
        limits: &RequestLimits,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if length <= MAX_LIGHT_TEXT {
            return Some(work());
        }
        self.work.run(Lane::Slow, Duration::from_millis(limits.work_millis), work).await
    }

    /// Parses a request, if it is a JSON object.
    pub(super) async fn parse_request(&self, body: &Bytes, limits: &RequestLimits) -> Option<Document> {
        let text = body.clone();
        let parse = move || Document::parse(&text).filter(|doc| doc.root().is_object());
        self.run_by_length(body.len(), limits, parse).await.flatten()
    }

    /// Returns the model that a request names. Empty if it names none.
    pub(super) async fn read_model(&self, body: &Bytes, limits: &RequestLimits) -> String {
        let doc = self.parse_request(body, limits).await;
        doc.and_then(|doc| doc.root().get_text("model").map(Cow::into_owned)).unwrap_or_default()
    }

    /// Reads a request. `None` if that takes too long or too much memory; `Some(None)` if it is not a JSON object.
    pub(super) async fn read_request(
        self: &Arc<Self>,
        setup: &Arc<Setup>,
        body: &Bytes,
        reading: Reading,
    ) -> Option<Option<ReadRequest>> {
        let plain = body.clone();
        let parse = |plain: &Bytes| Document::parse(plain).filter(|doc| doc.root().is_object());
        if plain.len() <= MAX_LIGHT_REQUEST {
            let Some(doc) = parse(&plain) else { return Some(None) };
            let summary = reading.summarize(&doc);
            if let Some(tools) = reading.light_tools(self, setup, &doc, &summary) {
                return reading.read_summarized(self, setup, &doc, summary, Some(tools)).map(Some);
            }
        }
        let (proxy, setup) = (Arc::clone(self), Arc::clone(setup));
        let budget = Duration::from_millis(setup.config.limits.work_millis);
        let read = move || parse(&plain).map(|doc| reading.read(&proxy, &setup, &doc));
        match self.work.run(Lane::Slow, budget, read).await? {
            Some(read) => read.map(Some),
            None => Some(None),
        }
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
        let read = if let Some(tools) = reading.light_tools(self, setup, &doc, &summary) {
            reading.read_summarized(self, setup, &doc, summary, Some(tools))
        } else {
            let text = doc.source().clone();
            let (proxy, setup) = (Arc::clone(self), Arc::clone(setup));
            let budget = Duration::from_millis(setup.config.limits.work_millis);
            let read = move || Document::parse(&text).and_then(|doc| reading.read(&proxy, &setup, &doc));
            self.work.run(Lane::Slow, budget, read).await.flatten()
        };
        let text = read.and_then(|read| read.mended.text);
        text.and_then(|text| Document::parse(&Bytes::from(text))).unwrap_or(doc)
    }
}
