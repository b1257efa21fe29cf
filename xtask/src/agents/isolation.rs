//! A network of its own: what agents try to reach outside this machine is not there.

use std::env;
use std::process::Command;

use crate::command::{TaskError, print_line, succeeds};

/// Set for the copy of this task that runs in a network of its own.
const IS_ISOLATED: &str = "TOOLMEND_XTASK_ISOLATED";
/// Enters the network.
const ENTER: [&str; 5] = ["--net", "--map-root-user", "--", "sh", "-c"];

pub(super) fn is_isolated() -> bool {
    env::var_os(IS_ISOLATED).is_some()
}

/// Runs this task again in a network that has only the loopback interface. `None` if this machine does not allow it; a proxy that
/// does not exist then keeps most agents from reaching others.
pub(super) fn run_again_isolated() -> Option<Result<(), TaskError>> {
    if !succeeds(Command::new("unshare").args(ENTER).arg("ip link set lo up")) {
        print_line(
            "cannot create a network with only the loopback interface (unshare); agents get a proxy that does not exist",
        );
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(ENTER).arg("ip link set lo up && exec \"$0\" \"$@\"");
    command.arg(env::current_exe().ok()?).args(env::args_os().skip(1)).env(IS_ISOLATED, "1");
    Some(match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(TaskError("a rule is broken".to_owned())),
        Err(error) => Err(TaskError::cannot_start("unshare", &error)),
    })
}
