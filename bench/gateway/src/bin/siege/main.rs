//! Attacks a gateway in many ways at once, next to clients that behave, and checks that those notice nothing.
//!
//! ```text
//! siege UPSTREAM_PORT GATEWAY_PORT GATEWAY_PROCESS STREAMS ATTACKERS SECONDS PERCENT
//! ```
//!
//! This program is the model server too. It prints how often each attack was made and how the gateway answered `/healthz` in the
//! meantime, compared with a trivial server in this process: on a busy machine both are slow. PERCENT of the answers have to be in
//! time.

mod attacks;
mod health;
mod honest;
mod noise;
mod server;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use toolmend_gateway_bench::local_address;

/// What `/healthz` may take beyond what a trivial server takes.
const HEALTH_LIMIT: Duration = Duration::from_millis(100);
/// The time between two reloads of the gateway.
const RELOAD_PAUSE: Duration = Duration::from_secs(1);

/// What everything in a siege shares.
pub(crate) struct Siege {
    pub(crate) gateway: SocketAddr,
    pub(crate) until: Instant,
    pub(crate) honest: honest::Counts,
    /// How often each attack was made, in the order of `attacks::ATTACKS`.
    pub(crate) attacks: Vec<AtomicU64>,
}

impl Siege {
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }
}

pub(crate) fn print_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let [upstream, gateway, process, streams, attackers, seconds, percent] = args[..] else {
        print_line(
            "usage: siege UPSTREAM_PORT GATEWAY_PORT GATEWAY_PROCESS STREAMS ATTACKERS SECONDS PERCENT",
        );
        return ExitCode::from(2);
    };
    let address = |port: u64| local_address(u16::try_from(port).unwrap_or(0));
    let Ok(listener) = TcpListener::bind(address(upstream)).await else {
        print_line("the port of the server is in use");
        return ExitCode::from(2);
    };
    tokio::spawn(server::serve(listener));
    let siege = Arc::new(Siege {
        gateway: address(gateway),
        until: Instant::now() + Duration::from_secs(seconds),
        honest: honest::Counts::default(),
        attacks: attacks::ATTACKS.iter().map(|_| AtomicU64::new(0)).collect(),
    });
    let health = health::Watch::start(siege.gateway, siege.until);
    let mut tasks = Vec::new();
    for worker in 0..streams {
        tasks.push(tokio::spawn(honest::repeat_streams(Arc::clone(&siege), worker)));
    }
    for attacker in 0..attackers {
        for attack in 0..attacks::ATTACKS.len() {
            tasks.push(tokio::spawn(attacks::repeat(Arc::clone(&siege), attack, attacker)));
        }
    }
    tasks.push(tokio::spawn(repeat_reloads(Arc::clone(&siege), process)));
    for task in tasks {
        let _ = task.await;
    }
    let percent = usize::try_from(percent).unwrap_or(100);
    report(&siege, &health.finish(), seconds, percent)
}

/// Prints what happened. Fails if a client that behaves was harmed, or the gateway did not answer in time.
fn report(siege: &Siege, health: &health::Times, seconds: u64, percent: usize) -> ExitCode {
    for ((name, _), count) in attacks::ATTACKS.iter().zip(&siege.attacks) {
        print_line(&format!("  {:>7} × {name}", count.load(Ordering::Relaxed)));
    }
    let (started, correct) = siege.honest.read();
    print_line(&format!("{seconds} s: {started} honest streams, {correct} correct"));
    print_line(&health.describe());
    let mut is_well = correct == started && started > 0;
    if !health.is_within(HEALTH_LIMIT, percent) {
        print_line(&format!("expected /healthz to answer within 100 ms, {percent} times of 100"));
        is_well = false;
    }
    if let Some((_, (name, _))) =
        siege.attacks.iter().zip(attacks::ATTACKS).find(|(count, _)| count.load(Ordering::Relaxed) == 0)
    {
        print_line(&format!("the attack `{name}` was never made"));
        is_well = false;
    }
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Makes the gateway reload its configuration again and again.
async fn repeat_reloads(siege: Arc<Siege>, process: u64) {
    while !siege.is_over() {
        let process = process.to_string();
        let hangup = move || std::process::Command::new("kill").args(["-HUP", &process]).status();
        let _ = tokio::task::spawn_blocking(hangup).await;
        tokio::time::sleep(RELOAD_PAUSE).await;
    }
}
