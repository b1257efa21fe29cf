//! The turns of the model, cut out of rendered conversations.

use super::environment::Renderer;
use super::markers::{common_bytes, is_marker, pieces};
use super::probes::{self, CONTENT, FIRST_TOOL, FIRST_VALUE, Probe, REASONING, Shape, USER};
use super::reasoning::{Reasoning, Start};

/// What a template writes for the probes, in one shape.
#[derive(Debug)]
pub(super) struct Turns {
    pub(super) shape: Shape,
    pub(super) reasoning: Reasoning,
    /// What ends a turn.
    pub(super) stop: String,
    /// The turns that were written.
    pub(super) written: Vec<ProbeTurn>,
    /// The probes that the template cannot write, and why.
    pub(super) unwritten: Vec<(&'static str, String)>,
}

/// One probe and what a model would write for it.
#[derive(Debug, Clone)]
pub(super) struct ProbeTurn {
    pub(super) probe: Probe,
    /// The output of the model: what comes after the prompt, without what ends the turn.
    pub(super) text: String,
    /// Everything after the message of the user: the head of the turn, and what the prompt writes of it.
    pub(super) whole: String,
    /// Whether the output begins where the prompt ends.
    pub(super) continues_prompt: bool,
    /// Whether the output begins inside the reasoning that the prompt opened.
    pub(super) starts_in_reasoning: bool,
}

impl Turns {
    /// The turn of the probe with this name.
    pub(super) fn of(&self, name: &str) -> Option<&ProbeTurn> {
        self.written.iter().find(|turn| turn.probe.name == name)
    }

    /// Renders every probe in one shape.
    ///
    /// # Errors
    /// If the template does not write calls in this shape. The message says why.
    pub(super) fn render(renderer: &Renderer, shape: Shape) -> Result<Self, String> {
        let generation = renderer.render(&probes::prompt(true))?;
        let plain = renderer.render(&probes::plain_turn())?;
        let (head, plain) = (after_user(&generation)?, after_user(&plain)?);
        let stop = plain.rfind(CONTENT).map(|at| &plain[at + CONTENT.len()..]).unwrap_or_default();
        let plain_head = plain.find(CONTENT).map(|at| plain[..at].trim_end()).unwrap_or_default();
        let cutter = Cutter { head, plain_head, stop };
        let (mut written, mut unwritten) = (Vec::new(), Vec::new());
        for probe in probes::probes() {
            let name = probe.name;
            let conversation = renderer.render(&probes::probe_turn(&probe, shape));
            let turn = conversation.and_then(|all| cutter.turn(probe, after_user(&all)?));
            match turn {
                Ok(turn) => written.push(turn),
                Err(problem) if name == probes::ONE_CALL => return Err(problem),
                Err(problem) => unwritten.push((name, problem)),
            }
        }
        let thought = written.iter().find(|turn| turn.probe.name == probes::WITH_REASONING);
        let mut reasoning = Reasoning::find(thought.map(|turn| turn.whole.as_str()), plain_head, head);
        if thought.is_some_and(|turn| turn.text.trim_start().starts_with(REASONING)) {
            reasoning.start = Start::InReasoning;
        }
        for turn in &mut written {
            let continues = turn.continues_prompt || turn.text.trim_start().starts_with(REASONING);
            turn.starts_in_reasoning = continues && reasoning.start == Start::InReasoning;
        }
        Ok(Turns { shape, reasoning, stop: stop.trim().to_owned(), written, unwritten })
    }
}

/// What comes after the message of the user. Templates may write what is before it in another way if a turn follows.
fn after_user(conversation: &str) -> Result<&str, String> {
    let at = conversation.rfind(USER).ok_or("the template does not write the message of the user")?;
    Ok(&conversation[at + USER.len()..])
}

struct Cutter<'t> {
    /// The head of the model's turn, as the prompt writes it.
    head: &'t str,
    /// The head of a turn of plain text, without white space at its end.
    plain_head: &'t str,
    stop: &'t str,
}

impl Cutter<'_> {
    /// Cuts the output of the model out of what comes after the message of the user.
    fn turn(&self, mut probe: Probe, whole: &str) -> Result<ProbeTurn, String> {
        let whole = without_stop(whole, self.stop);
        let continues_prompt = whole.starts_with(self.head);
        let mut start = if continues_prompt { self.head.len() } else { common_bytes(whole, self.head) };
        // This prompt closes the reasoning that it opens. A prompt that lets the model think leaves both to it.
        if !continues_prompt
            && whole[start..].trim_start().starts_with(REASONING)
            && !self.plain_head.ends_with(whole[..start].trim_end())
        {
            start = last_marker(&whole[..start]).unwrap_or(start);
        }
        let text = &whole[start..];
        if let Some(call) = probe.calls.iter().find(|call| !text.contains(call.name)) {
            return Err(format!("the template does not write the call of {:?}", call.name));
        }
        if probe.name == probes::ONE_CALL && !text.contains(FIRST_VALUE) {
            return Err(format!("the template writes {FIRST_TOOL:?} without its arguments"));
        }
        let content_end = text.find(probe.content).unwrap_or_default() + probe.content.len();
        let ending = last_marker(self.stop).map(|at| self.stop[at..].trim_end()).unwrap_or_default();
        let call = text.find(probe.calls[0].name).unwrap_or_default();
        if !probe.content.is_empty()
            && !ending.is_empty()
            && text.get(content_end..call).is_some_and(|between| between.contains(ending))
        {
            return Err("the template writes content and calls as two turns".to_owned());
        }
        // What a template drops cannot be read again.
        if !text.contains(probe.content) {
            probe.content = "";
        }
        if !whole.contains(probe.reasoning) {
            return Err("the template does not write the reasoning of a turn with calls".to_owned());
        }
        Ok(ProbeTurn {
            probe,
            text: text.to_owned(),
            whole: whole.to_owned(),
            continues_prompt,
            starts_in_reasoning: false,
        })
    }
}

/// Where the last marker of a text begins.
fn last_marker(text: &str) -> Option<usize> {
    let mut at = text.len();
    for piece in pieces(text).into_iter().rev() {
        at -= piece.len();
        if is_marker(piece) {
            return Some(at);
        }
    }
    None
}

/// Removes what ends a turn of plain text. If the turn ends in another way, only the last marker is the same.
fn without_stop<'t>(turn: &'t str, stop: &str) -> &'t str {
    if let Some(turn) = turn.strip_suffix(stop) {
        return turn;
    }
    let last = last_marker(stop).map(|at| &stop[at..]).unwrap_or_default();
    turn.strip_suffix(last).unwrap_or(turn)
}
