//! The questions that readers of markup ask about tools and arguments, and what they cost.
//!
//! A reader may ask whether a text can be mended, which reads all of it, and it may ask again whenever it starts over. The
//! bytes that it was given are therefore not all that it costs. Every question is counted here, and the budget of the
//! output pays for it. What is mended meanwhile, for a question or for a verdict, gets its fuel from the output.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::dialect::block::CallJudge;
use crate::dialect::tagged::ToolLookup;
use crate::json::strict;
use crate::mender::Mender;
use crate::name;
use crate::syntax::Allowance;

/// What a question costs, in bytes that a reader could read meanwhile.
const NAME: usize = 8;
const KEY: usize = 2;
/// What it costs to look up a name for the first time: it is compared in several spellings, and once more without each of
/// its parts. A long name costs more: one for so many bytes.
const NEW_NAME: usize = 96;
const NEW_PART: usize = 24;
const BYTES_OF_NAME: usize = 4;
/// So many names are remembered, if they are no longer than this.
const MOST_NAMES: usize = 256;
const LONGEST_NAME: usize = 96;
/// The same for each byte of a text that is read as arguments, and for one that has to be mended.
const READ: usize = 1;
const MENDED: usize = 4;

/// What readers may ask for each byte of the output, and for any output. Small outputs in many pieces ask often.
const WORK_PER_BYTE: usize = 24;
const WORK: usize = 1 << 18;

/// The fuel for each byte of an output and for any output.
#[derive(Debug, Clone, Copy)]
struct Ration {
    per_byte: usize,
    at_first: usize,
}

/// A text of any length that stands alone gets 64 for each byte. For many short texts that has to be enough as well.
const FOR_VERDICTS: Ration = Ration { per_byte: 64, at_first: 1 << 19 };
const FOR_QUESTIONS: Ration = Ration { per_byte: 40, at_first: 1 << 19 };

/// The fuel of an output, which grows with it.
#[derive(Debug, Clone)]
struct OutputFuel {
    allowance: Arc<Allowance>,
    per_byte: usize,
    /// The bytes that it was filled for.
    received: usize,
}

impl OutputFuel {
    /// A copy of the mender that judges with the fuel of an output, and that fuel.
    fn limit(mender: &Mender, ration: Ration) -> (Mender, Self) {
        let (mender, allowance) = mender.within_allowance(ration.at_first);
        (mender, OutputFuel { allowance, per_byte: ration.per_byte, received: 0 })
    }

    /// Adds what the output has become longer by.
    fn fill(&mut self, received: usize) {
        let new = received.saturating_sub(self.received);
        self.allowance.grant(new * self.per_byte);
        self.received = received;
    }
}

/// The fuel for the verdicts on the calls of an output.
#[derive(Debug, Clone)]
pub(super) struct VerdictFuel(OutputFuel);

impl VerdictFuel {
    pub(super) fn limit(mender: &Mender) -> (Mender, Self) {
        let (mender, fuel) = OutputFuel::limit(mender, FOR_VERDICTS);
        (mender, VerdictFuel(fuel))
    }

    pub(super) fn fill(&mut self, received: usize) {
        self.0.fill(received);
    }
}

/// Answers like the mender, and counts.
#[derive(Debug)]
pub(super) struct PaidJudge {
    mender: Mender,
    fuel: OutputFuel,
    /// What was asked so far. Not a `Cell`, because a stream may be shared between threads.
    work: AtomicUsize,
    /// Whether a tool has this name. Readers that start over ask again.
    names: Mutex<HashMap<Box<str>, bool>>,
}

impl Clone for PaidJudge {
    fn clone(&self) -> Self {
        let work = AtomicUsize::new(self.work());
        PaidJudge { mender: self.mender.clone(), fuel: self.fuel.clone(), work, names: Mutex::default() }
    }
}

impl PaidJudge {
    pub(super) fn new(mender: &Mender) -> Self {
        let (mender, fuel) = OutputFuel::limit(mender, FOR_QUESTIONS);
        PaidJudge { mender, fuel, work: AtomicUsize::new(0), names: Mutex::default() }
    }

    /// Adds fuel for what was received.
    pub(super) fn fill(&mut self, received: usize) {
        self.fuel.fill(received);
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

    /// Whether a declared tool is meant by this name, and what it costs to find out.
    fn knows_tool(&self, name: &str) -> bool {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = names.get(name) {
            self.pay(NAME);
            return known;
        }
        let parts = name.bytes().filter(|byte| matches!(byte, b'.' | b':' | b'/' | b'_')).count();
        self.pay(NEW_NAME + NEW_PART * parts.min(name::MAX_NAMESPACES) + name.len() / BYTES_OF_NAME);
        let known = self.mender.has_tool(name);
        if name.len() <= LONGEST_NAME && names.len() < MOST_NAMES {
            names.insert(name.into(), known);
        }
        known
    }

    fn pay_for_text(&self, text: &str) {
        let is_strict = strict::check(text, strict::MAX_DEPTH).is_ok();
        self.pay(NAME + text.len() * if is_strict { READ } else { MENDED });
    }
}

impl ToolLookup for PaidJudge {
    fn has_tool(&self, name: &str) -> bool {
        self.knows_tool(name)
    }

    fn declares_key(&self, tool: &str, key: &str) -> Option<bool> {
        self.pay(KEY);
        if self.mender.has_named_tools() && !self.knows_tool(tool) {
            return None;
        }
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

    fn pay(&self, work: usize) {
        PaidJudge::pay(self, work);
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

    fn interpreter(&self) -> Option<(String, String)> {
        self.pay(NAME + KEY);
        self.mender.interpreter()
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
