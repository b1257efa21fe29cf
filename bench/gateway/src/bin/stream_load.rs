//! Sends many concurrent streams through a gateway and checks every byte.
//!
//! ```text
//! stream_load UPSTREAM_PORT GATEWAY_PORT STREAMS SECONDS
//! ```
//!
//! This program is the model server too.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use toolmend_gateway_bench::checked_stream::{answer_checked, check_stream};
use toolmend_gateway_bench::{local_address, read_body};

/// The time between two pieces of a stream.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Default)]
struct Counts {
    started: AtomicU64,
    correct: AtomicU64,
    wrong: AtomicU64,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let [upstream, gateway, streams, seconds] = args[..] else {
        print_line("usage: stream_load UPSTREAM_PORT GATEWAY_PORT STREAMS SECONDS");
        return ExitCode::from(2);
    };
    let address = |port: u64| local_address(u16::try_from(port).unwrap_or(0));
    let Ok(listener) = TcpListener::bind(address(upstream)).await else {
        print_line("the port of the server is in use");
        return ExitCode::from(2);
    };
    let router = Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });

    let counts = Arc::new(Counts::default());
    let client: Client<HttpConnector, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut workers = Vec::new();
    for worker in 0..streams {
        let (counts, client) = (Arc::clone(&counts), client.clone());
        let gateway = address(gateway);
        workers.push(tokio::spawn(async move {
            // Real clients do not all start at the same moment either.
            tokio::time::sleep(Duration::from_millis(worker * 2 % 4000)).await;
            while Instant::now() < until {
                let number = counts.started.fetch_add(1, Ordering::Relaxed);
                match check_stream(&client, gateway, number).await {
                    Ok(()) => counts.correct.fetch_add(1, Ordering::Relaxed),
                    Err(problem) => {
                        if counts.wrong.fetch_add(1, Ordering::Relaxed) < 10 {
                            print_line(&format!("stream {number}: {problem}"));
                        }
                        0
                    }
                };
            }
        }));
    }
    for worker in workers {
        let _ = worker.await;
    }
    let (started, correct, wrong) = (
        counts.started.load(Ordering::Relaxed),
        counts.correct.load(Ordering::Relaxed),
        counts.wrong.load(Ordering::Relaxed),
    );
    let open = count_open_streams(&client, address(gateway)).await;
    print_line(&format!(
        "{streams} concurrent streams for {seconds} s: {started} started, {correct} correct, {wrong} wrong, {open} still open"
    ));
    if correct == started && wrong == 0 && open == 0 && started >= streams {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn print_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

async fn answer(request: Request<Body>) -> Response<Body> {
    let body = read_body(request.into_body()).await;
    answer_checked(&serde_json::from_slice(&body).unwrap_or_default(), PAUSE)
}

/// Asks the gateway how many streams are still open. They may take a moment to close.
async fn count_open_streams(client: &Client<HttpConnector, Full<Bytes>>, gateway: SocketAddr) -> i64 {
    let mut open = -1;
    for _ in 0..50 {
        let Ok(request) = Request::get(format!("http://{gateway}/metrics")).body(Full::default()) else {
            return open;
        };
        let Ok(response) = client.request(request).await else { return open };
        let body = read_body(response.into_body()).await;
        let text = String::from_utf8_lossy(&body).into_owned();
        open =
            text.lines().find_map(|line| line.strip_prefix("toolmend_streams ")?.parse().ok()).unwrap_or(-1);
        if open == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    open
}
