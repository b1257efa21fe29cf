//! The questions that readers of markup ask about tools and arguments, and what they cost.
//!
//! A reader may ask whether a text can be mended, which reads all of it, and it may ask again whenever it starts over. The
//! bytes that it was given are therefore not all that it costs. Every question is counted here, and the budget of the
//! output pays for it.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::dialect::block::CallJudge;
use crate::dialect::tagged::ToolLookup;
use crate::json::strict;
use crate::mender::Mender;

/// What a question costs, in bytes that a reader could read meanwhile: the name of a tool is compared in several spellings.
const NAME: usize = 4;
const KEY: usize = 2;
/// The same for each byte of a text that is read as arguments, and for one that has to be mended.
const READ: usize = 1;
const MENDED: usize = 4;

/// What readers may ask for each byte of the output, and for any output. Small outputs in many pieces ask often.
const WORK_PER_BYTE: usize = 24;
const WORK: usize = 1 << 19;

/// Answers like the mender, and counts.
#[derive(Debug)]
pub(super) struct PaidJudge {
    mender: Mender,
    /// What was asked so far. Not a `Cell`, because a stream may be shared between threads.
    work: AtomicUsize,
}

impl Clone for PaidJudge {
    fn clone(&self) -> Self {
        PaidJudge { mender: self.mender.clone(), work: AtomicUsize::new(self.work()) }
    }
}

impl PaidJudge {
    pub(super) fn new(mender: Mender) -> Self {
        PaidJudge { mender, work: AtomicUsize::new(0) }
    }

    /// What the questions cost so far.
    pub(super) fn work(&self) -> usize {
        self.work.load(Ordering::Relaxed)
    }

    /// Whether more was asked than so much text justifies.
    pub(super) fn is_exhausted(&self, received: usize) -> bool {
        self.work() > WORK_PER_BYTE * received + WORK
    }

    /// Counts work besides questions: bytes that are read again.
    pub(super) fn pay(&self, work: usize) {
        self.work.fetch_add(work, Ordering::Relaxed);
    }

    fn pay_for_text(&self, text: &str) {
        let is_strict = strict::check(text, strict::MAX_DEPTH).is_ok();
        self.pay(NAME + text.len() * if is_strict { READ } else { MENDED });
    }
}

impl ToolLookup for PaidJudge {
    fn has_tool(&self, name: &str) -> bool {
        self.pay(NAME);
        self.mender.has_tool(name)
    }

    fn declares_key(&self, tool: &str, key: &str) -> Option<bool> {
        self.pay(NAME + KEY);
        self.mender.declares_key(tool, key)
    }

    fn longest_name_prefix(&self, text: &str) -> Option<usize> {
        self.pay(NAME);
        self.mender.longest_name_prefix(text)
    }

    fn main_key(&self, tool: &str) -> Option<String> {
        self.pay(NAME + KEY);
        ToolLookup::main_key(&self.mender, tool)
    }
}

impl CallJudge for PaidJudge {
    fn can_mend(&self, tool: &str, arguments: &str) -> bool {
        self.pay_for_text(arguments);
        self.mender.can_mend(tool, arguments)
    }

    fn read_as_json(&self, text: &str) -> Option<String> {
        self.pay_for_text(text);
        self.mender.read_as_json(text)
    }

    fn tool_with_keys(&self, arguments: &str) -> Option<String> {
        self.pay(NAME + READ * arguments.len());
        self.mender.tool_with_keys(arguments)
    }

    fn has_tools(&self) -> bool {
        self.mender.has_tools()
    }

    fn is_argument_key(&self, key: &str) -> bool {
        self.pay(KEY);
        self.mender.is_argument_key(key)
    }

    fn may_begin_tool_name(&self, text: &str) -> bool {
        self.pay(KEY);
        self.mender.may_begin_tool_name(text)
    }
}
