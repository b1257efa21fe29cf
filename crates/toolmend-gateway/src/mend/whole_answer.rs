//! Whole answers: every part is an item of its own, and all of them arrive together.

use toolmend_protocol::{MendedItem, Part, TurnMender};

use super::choice::ChoiceMender;
use super::judge::CallJudge;

impl TurnMender for CallJudge {
    fn mend_parts(&mut self, parts: Vec<Part>) -> Vec<MendedItem<usize>> {
        let mut choice = ChoiceMender::new(self);
        let mut items = Vec::with_capacity(parts.len());
        for (at, part) in parts.into_iter().enumerate() {
            items.extend(choice.push(at, 0, vec![part], self));
        }
        items.extend(choice.end(self));
        items
    }

    fn record_form_fix(&mut self) {
        self.report.fix_form(true);
    }
}
