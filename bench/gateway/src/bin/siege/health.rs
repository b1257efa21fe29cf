//! How quickly the gateway answers `/healthz`, compared with a trivial server on the same machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use toolmend_gateway_bench::local_address;

/// The time between two questions.
const PAUSE: Duration = Duration::from_millis(25);
/// What counts as no answer at all.
const PATIENCE: Duration = Duration::from_secs(10);
const REQUEST: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n";

/// Asks in the background until the siege is over.
pub(crate) struct Watch(JoinHandle<Times>);

/// How long the answers took, sorted.
#[derive(Debug, Default)]
pub(crate) struct Times {
    gateway: Vec<Duration>,
    trivial: Vec<Duration>,
    unanswered: usize,
}

impl Watch {
    pub(crate) fn start(gateway: SocketAddr, until: Instant) -> Self {
        // A thread of its own, so that it does not wait for the attackers in this process.
        Watch(std::thread::spawn(move || {
            let trivial = start_trivial_server();
            let mut times = Times::default();
            while Instant::now() < until {
                match measure(gateway) {
                    Some(time) => times.gateway.push(time),
                    None => times.unanswered += 1,
                }
                times.trivial.extend(trivial.and_then(measure));
                std::thread::sleep(PAUSE);
            }
            times.gateway.sort();
            times.trivial.sort();
            times
        }))
    }

    pub(crate) fn finish(self) -> Times {
        self.0.join().unwrap_or_default()
    }
}

impl Times {
    pub(crate) fn describe(&self) -> String {
        let row = |times: &[Duration]| {
            format!(
                "median {:?}, 90 % within {:?}, 99 % within {:?}, slowest {:?}",
                quantile(times, 50),
                quantile(times, 90),
                quantile(times, 99),
                times.last().copied().unwrap_or_default()
            )
        };
        format!(
            "/healthz, asked {} times: {}; {} unanswered\na trivial server: {}",
            self.gateway.len(),
            row(&self.gateway),
            self.unanswered,
            row(&self.trivial)
        )
    }

    /// Whether so many percent of the answers came within this time, beyond what the machine itself takes. Single answers may be
    /// late: everything in a siege shares a few cores.
    pub(crate) fn is_within(&self, limit: Duration, percent: usize) -> bool {
        let limit = limit + quantile(&self.trivial, 99);
        self.unanswered == 0 && !self.gateway.is_empty() && quantile(&self.gateway, percent) <= limit
    }
}

/// Returns the time within which so many percent of the answers came.
fn quantile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get(sorted.len() * percent / 100).or(sorted.last()).copied().unwrap_or_default()
}

/// Asks once, on a new connection.
fn measure(server: SocketAddr) -> Option<Duration> {
    let started = Instant::now();
    let mut stream = TcpStream::connect_timeout(&server, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(REQUEST).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    answer.starts_with(b"HTTP/1.1 200").then(|| started.elapsed())
}

/// Starts a server that answers everything at once.
fn start_trivial_server() -> Option<SocketAddr> {
    let listener = TcpListener::bind(local_address(0)).ok()?;
    let address = listener.local_addr().ok()?;
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut [0; 1024]).and_then(|_| stream.write_all(ANSWER));
        }
    });
    Some(address)
}
