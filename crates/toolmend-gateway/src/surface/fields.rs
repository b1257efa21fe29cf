//! What becomes of an answer whose text, thoughts and calls are fields of one object.

use crate::turn::{Made, Out, ReadyCall, Stop};

/// The fields of an answer, as items of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Reasoning,
    Text,
    /// The call of that number.
    Call(usize),
    Stop,
}

/// A call of the answer that is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallField {
    Kept(usize),
    Made(ReadyCall),
}

/// The fields that are written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Whether anything is not as it came.
    pub(crate) changed: bool,
    /// What replaces the text, unless it stays.
    pub(crate) text: Option<String>,
    pub(crate) reasoning: Option<String>,
    pub(crate) calls: Vec<CallField>,
    pub(crate) stop: Option<Stop>,
}

impl Fields {
    /// Sorts what left a lane into fields again. `text` and `reasoning` are what came.
    pub(crate) fn collect(outs: Vec<Out<Field>>, text: &str, reasoning: &str) -> Fields {
        let mut fields = Fields::default();
        let (mut new_text, mut new_reasoning) = (String::new(), String::new());
        for out in outs {
            match out {
                Out::Keep(Field::Text) => new_text.push_str(text),
                Out::Keep(Field::Reasoning) => new_reasoning.push_str(reasoning),
                Out::Keep(Field::Call(at)) => fields.calls.push(CallField::Kept(at)),
                Out::Keep(Field::Stop) => {}
                Out::Instead(_, made) => {
                    fields.changed = true;
                    for made in made {
                        match made {
                            Made::Text(more) => new_text.push_str(&more),
                            Made::Reasoning(more) => new_reasoning.push_str(&more),
                            Made::Call(call) | Made::Rest(call, _) => {
                                fields.calls.push(CallField::Made(call));
                            }
                            // What comes at once has no pieces.
                            Made::Begin(_) | Made::Piece(_) => {}
                            Made::Stop(stop) => fields.stop = Some(stop),
                        }
                    }
                }
            }
        }
        fields.text = (new_text != text).then_some(new_text);
        fields.reasoning = (new_reasoning != reasoning).then_some(new_reasoning);
        fields
    }
}
