//! A network of its own: what agents try to reach outside this machine is not there.

use std::env;
use std::fs;
use std::process::Command;

use crate::command::{TaskError, succeeds};

/// Set for the copy of this task that runs in a network of its own.
const IS_ISOLATED: &str = "TOOLMEND_XTASK_ISOLATED";
/// Enters the network.
const ENTER: [&str; 5] = ["--net", "--map-root-user", "--", "sh", "-c"];

/// Whether this is the copy of the task that runs in a network of its own.
///
/// # Errors
/// If it claims to be, and can reach more than this machine.
pub(super) fn is_isolated() -> Result<bool, TaskError> {
    if env::var_os(IS_ISOLATED).is_none() {
        return Ok(false);
    }
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    if leads_nowhere(&read("/proc/net/route"), &read("/proc/net/ipv6_route")) {
        return Ok(true);
    }
    Err(TaskError(format!("{IS_ISOLATED} is set, but this network leads to other machines; unset it")))
}

/// Whether routes, as the system lists them, lead to no other machine. The first list begins with a line of titles, and leaves out
/// this machine.
fn leads_nowhere(routes: &str, routes_of_version_6: &str) -> bool {
    let has_titles = routes.starts_with("Iface");
    let is_loopback = |line: &str| line.split_whitespace().last() == Some("lo");
    has_titles && routes.lines().count() == 1 && routes_of_version_6.lines().all(is_loopback)
}

/// Runs this task again in a network that has only the loopback interface. Agents never run elsewhere: each of them talks to its vendor
/// if it can.
pub(super) fn run_again_isolated() -> Result<(), TaskError> {
    if !succeeds(Command::new("unshare").args(ENTER).arg("ip link set lo up")) {
        return Err(TaskError(
            "cannot create a network with only the loopback interface: `unshare --net` has to be allowed, and `ip` installed"
                .to_owned(),
        ));
    }
    let program = env::current_exe().map_err(|error| TaskError::cannot_start("this task", &error))?;
    let mut command = Command::new("unshare");
    command.args(ENTER).arg("ip link set lo up && exec \"$0\" \"$@\"");
    command.arg(program).args(env::args_os().skip(1)).env(IS_ISOLATED, "1");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(TaskError("a rule is broken".to_owned())),
        Err(error) => Err(TaskError::cannot_start("unshare", &error)),
    }
}

#[test]
fn routes_to_other_machines_are_noticed() {
    let (titles, own) = ("Iface\tDestination\tGateway\n", "00 00 00200200       lo\n");
    assert!(leads_nowhere(titles, own) && leads_nowhere(titles, ""));
    assert!(!leads_nowhere(&format!("{titles}eth0\t00000000\t0100000A\n"), own));
    assert!(!leads_nowhere(titles, &format!("{own}00 00 00000001     eth0\n")));
    assert!(!leads_nowhere("", ""), "nothing is known");
}
