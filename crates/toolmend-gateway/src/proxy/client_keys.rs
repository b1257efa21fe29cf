//! The keys of clients in use: who a request belongs to, and whether it may be made.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, RETRY_AFTER};
use http::{HeaderMap, Request, Response, StatusCode};
use toolmend_protocol::Protocol;

use super::{Proxy, Setup};
use crate::config::{ClientKey, Config, Secret};
use crate::guard::KeyLimits;
use crate::http::connection_claim::ConnectionClaim;
use crate::http::guarded_body::{BodyWatcher, watch_body};
use crate::http::headers::is_stream;
use crate::http::respond::error_response;
use crate::http::token_usage::UsageReader;
use crate::http::{Body, auth};
use crate::observe::AccessNotes;

/// The keys of a configuration.
#[derive(Debug)]
pub(crate) struct ClientKeys {
    keys: Vec<KeyInUse>,
}

#[derive(Debug)]
struct KeyInUse {
    secret: Secret,
    /// `None`: the key has no name, so nothing is counted for it.
    name: Option<Arc<str>>,
    limits: KeyLimits,
}

/// Who a request belongs to.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    name: Option<Arc<str>>,
}

impl ClientKeys {
    pub(super) fn new(config: &Config) -> Self {
        let unnamed = config.api_keys.iter().map(|key| KeyInUse {
            secret: key.clone(),
            name: None,
            limits: KeyLimits::default(),
        });
        let named = config.keys.iter().filter_map(|key: &ClientKey| {
            let limits = KeyLimits {
                requests_per_minute: key.requests_per_minute,
                tokens_per_day: key.tokens_per_day,
            };
            Some(KeyInUse { secret: key.secret()?, name: Some(key.name.as_str().into()), limits })
        });
        ClientKeys { keys: named.chain(unnamed).collect() }
    }

    fn find(&self, headers: &HeaderMap) -> Option<&KeyInUse> {
        let at = auth::find_key(headers, &self.keys.iter().map(|key| &key.secret))?;
        self.keys.get(at)
    }
}

impl Proxy {
    /// Returns who a request belongs to, or the answer to a request that may not be made.
    pub(super) async fn admit(
        &self,
        setup: &Setup,
        headers: &HeaderMap,
        claim: Option<&ConnectionClaim>,
        protocol: Protocol,
    ) -> Result<Caller, Response<Body>> {
        if !setup.config.has_client_keys() {
            return Ok(Caller { name: None });
        }
        let Some(key) = setup.keys.find(headers) else {
            self.observer.metrics.count_wrong_key();
            self.key_guesses.slow_down(claim).await;
            let message =
                "expected a key that this gateway knows: send it as `Authorization: Bearer` or `x-api-key`";
            return Err(error_response(protocol, StatusCode::UNAUTHORIZED, "authentication_error", message));
        };
        let Some(name) = &key.name else { return Ok(Caller { name: None }) };
        let Err(exhausted) = self.budgets.admit(name, key.limits) else {
            return Ok(Caller { name: Some(Arc::clone(name)) });
        };
        let traffic = &self.observer.metrics.traffic;
        traffic.count_key_limit(name, exhausted.limit);
        let seconds = exhausted.retry_after.as_secs();
        let message = format!(
            "the key {name:?} has reached its limit `{}`: try again in {seconds} seconds",
            exhausted.limit
        );
        let status = StatusCode::TOO_MANY_REQUESTS;
        let mut answer = error_response(protocol, status, "rate_limit_error", &message);
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
        let caller = Caller { name: Some(Arc::clone(name)) };
        caller.count_request(self, &mut answer);
        Err(answer)
    }
}

impl Caller {
    /// Prepares a request for counting its tokens. Returns where the bytes of its body are counted.
    pub(super) fn count_request_bytes(&self, request: Request<Body>) -> (Request<Body>, Arc<AtomicU64>) {
        let bytes = Arc::<AtomicU64>::default();
        if self.name.is_none() {
            return (request, bytes);
        }
        let mut request = request.map(|body| watch_body(body, ByteCounter(Arc::clone(&bytes))));
        // The usage in a compressed answer could not be read.
        request.headers_mut().remove(ACCEPT_ENCODING);
        (request, bytes)
    }

    /// Counts a request, and the tokens of its answer when it ends.
    pub(super) fn count_answer(
        self,
        proxy: &Arc<Proxy>,
        request_bytes: Arc<AtomicU64>,
        mut answer: Response<Body>,
    ) -> Response<Body> {
        let Some(key) = self.name.clone() else { return answer };
        self.count_request(proxy, &mut answer);
        if !answer.status().is_success() {
            return answer;
        }
        let reader = UsageReader::new(is_stream(answer.headers()));
        answer.map(|body| {
            watch_body(body, TokenCounter { proxy: Arc::clone(proxy), key, request_bytes, reader })
        })
    }

    fn count_request(&self, proxy: &Proxy, answer: &mut Response<Body>) {
        let Some(name) = &self.name else { return };
        proxy.observer.metrics.traffic.count_key_request(name, answer.status().as_u16());
        AccessNotes::add_to(answer, |notes| notes.key = Some(Arc::clone(name)));
    }
}

/// Counts the bytes of a request.
struct ByteCounter(Arc<AtomicU64>);

impl BodyWatcher for ByteCounter {
    fn see_data(&mut self, data: &Bytes) {
        self.0.fetch_add(data.len() as u64, Ordering::Relaxed);
    }
}

/// Counts the tokens of an answer, also if its client leaves.
struct TokenCounter {
    proxy: Arc<Proxy>,
    key: Arc<str>,
    request_bytes: Arc<AtomicU64>,
    reader: UsageReader,
}

impl BodyWatcher for TokenCounter {
    fn see_data(&mut self, data: &Bytes) {
        self.reader.push(data);
    }
}

impl Drop for TokenCounter {
    fn drop(&mut self) {
        let usage = self.reader.usage(self.request_bytes.load(Ordering::Relaxed));
        self.proxy.observer.metrics.traffic.count_key_tokens(&self.key, usage.input, usage.output);
        self.proxy.budgets.spend_tokens(&self.key, usage.input.saturating_add(usage.output));
    }
}
