//! The order of a crate's modules: no cycles, and only the directions that ARCHITECTURE.md allows.
//!
//! The section `## Module order` has one fenced block for each crate. Its info string is `text order CRATE`. The lines go from
//! the lowest modules to the highest; a module may use only modules on lines above its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::modules::{ModuleGraph, Use};

const HEADING: &str = "## Module order";

/// The lines of each crate's block: the line number in the document, and the modules on it.
pub(super) type Orders = BTreeMap<String, Vec<(usize, Vec<String>)>>;

/// Reads the allowed orders from the text of ARCHITECTURE.md.
pub(super) fn read_orders(document: &str) -> Orders {
    let mut orders = Orders::new();
    let mut is_in_section = false;
    let mut block: Option<String> = None;
    for (number, line) in document.lines().enumerate().map(|(index, line)| (index + 1, line.trim())) {
        match (&block, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let name = info.trim().strip_prefix("text order ").filter(|_| is_in_section);
                let name = name.unwrap_or_default().trim().to_owned();
                if !name.is_empty() {
                    orders.entry(name.clone()).or_default();
                }
                block = Some(name);
            }
            (Some(_), Some(_)) => block = None,
            (Some(name), None) => {
                if let Some(lines) = orders.get_mut(name) {
                    let modules: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
                    if !modules.is_empty() {
                        lines.push((number, modules));
                    }
                }
            }
            (None, None) if line.starts_with("## ") => is_in_section = line == HEADING,
            (None, None) => {}
        }
    }
    orders
}

/// Compares the uses between modules with the allowed order. Returns what is wrong.
pub(super) fn check_order(
    crate_name: &str,
    graph: &ModuleGraph,
    order: Option<&[(usize, Vec<String>)]>,
) -> Vec<String> {
    let Some(order) = order else {
        return vec![format!(
            "ARCHITECTURE.md: the section `{HEADING}` has no block for {crate_name}; this one would hold today:\n\
             ```text order {crate_name}\n{}```",
            propose_order(graph)
        )];
    };
    let mut problems = Vec::new();
    let mut levels: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, modules) in order {
        for module in modules {
            if !graph.modules.contains(module) {
                problems.push(format!("ARCHITECTURE.md:{line}: {crate_name} has no module `{module}`"));
            }
            if levels.insert(module, *line).is_some() {
                problems.push(format!("ARCHITECTURE.md:{line}: `{module}` of {crate_name} is listed twice"));
            }
        }
    }
    for module in &graph.modules {
        if !levels.contains_key(module.as_str()) {
            problems.push(format!(
                "ARCHITECTURE.md: the order of {crate_name} does not list the module `{module}`"
            ));
        }
    }
    for found in &graph.uses {
        let (from, to) = (levels.get(found.from.as_str()), levels.get(found.to.as_str()));
        let (Some(from), Some(to)) = (from, to) else { continue };
        if to >= from {
            problems.push(format!(
                "{}: `{}` uses `{}`, but in the order of {crate_name} `{}` is {} (ARCHITECTURE.md:{to})",
                found.at,
                found.from,
                found.to,
                found.to,
                if to == from { "on the same line" } else { "higher" },
            ));
        }
    }
    problems
}

/// Returns the lines of an order that the uses of today obey. Modules in a cycle are left out.
fn propose_order(graph: &ModuleGraph) -> String {
    let (mut lines, mut listed) = (String::new(), BTreeSet::new());
    loop {
        let is_free = |module: &&String| {
            let mut uses = graph.uses.iter().filter(|found| found.from == **module);
            !listed.contains(*module) && uses.all(|found| listed.contains(&found.to))
        };
        let level: Vec<String> = graph.modules.iter().filter(is_free).cloned().collect();
        if level.is_empty() {
            return lines;
        }
        lines.push_str(&level.join(" "));
        lines.push('\n');
        listed.extend(level);
    }
}

/// Finds a shortest cycle through each group of modules that depend on one another. Returns one message for each.
pub(super) fn check_cycles(crate_name: &str, graph: &ModuleGraph) -> Vec<String> {
    let mut reported = BTreeSet::new();
    let mut problems = Vec::new();
    for module in &graph.modules {
        if reported.contains(module) {
            continue;
        }
        let Some(cycle) = find_cycle(graph, module) else { continue };
        // Everything that leads here and can be reached from here is the same knot.
        let knot = graph.modules.iter().filter(|other| {
            find_path(graph, module, other).is_some() && find_path(graph, other, module).is_some()
        });
        let knot: Vec<&str> = knot.map(String::as_str).collect();
        let mut message =
            format!("{crate_name}: the modules {} depend on one another, for example:", knot.join(", "));
        for edge in cycle {
            message.extend(["\n    ", &edge.from, " uses ", &edge.to, "  ", &edge.at]);
        }
        reported.extend(knot.into_iter().map(ToOwned::to_owned));
        problems.push(message);
    }
    problems
}

/// Finds a shortest way from a module back to itself.
fn find_cycle<'g>(graph: &'g ModuleGraph, module: &str) -> Option<Vec<&'g Use>> {
    let first = graph.uses.iter().filter(|edge| edge.from == module);
    let ways = first.filter_map(|edge| {
        let mut way = vec![edge];
        way.extend(find_path(graph, &edge.to, module)?);
        Some(way)
    });
    ways.min_by_key(Vec::len)
}

/// Finds a shortest way between two modules, which is empty from a module to itself.
fn find_path<'g>(graph: &'g ModuleGraph, from: &str, to: &str) -> Option<Vec<&'g Use>> {
    let mut reached: BTreeMap<&str, Option<&'g Use>> = BTreeMap::from([(from, None)]);
    let mut queue = VecDeque::from([from]);
    while let Some(module) = queue.pop_front() {
        if module == to {
            let mut way = Vec::new();
            let mut at = to;
            while let Some(Some(edge)) = reached.get(at) {
                way.push(*edge);
                at = &edge.from;
            }
            way.reverse();
            return Some(way);
        }
        for edge in graph.uses.iter().filter(|edge| edge.from == module) {
            if !reached.contains_key(edge.to.as_str()) {
                reached.insert(&edge.to, Some(edge));
                queue.push_back(&edge.to);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::modules::find_uses;
    use crate::tidy::modules::tests::sources;

    const DOCUMENT: &str = "\
## Other
```text order ignored
a
```
## Module order

```text order one
low
middle  other
high
```
```rust
fn ignored() {}
```
```text order two
a
```
## After
```text order ignored
a
```
";

    fn graph(low: &str, middle: &str, high: &str) -> ModuleGraph {
        let files = [
            ("lib.rs", "mod low; mod middle; mod other; mod high;"),
            ("low.rs", low),
            ("middle.rs", middle),
            ("other.rs", ""),
            ("high.rs", high),
        ];
        find_uses(&sources(&files), "src/lib.rs")
    }

    fn check(graph: &ModuleGraph) -> Vec<String> {
        check_order("one", graph, read_orders(DOCUMENT).get("one").map(Vec::as_slice))
    }

    #[test]
    fn orders_are_read_from_their_section_only() {
        let orders = read_orders(DOCUMENT);
        assert_eq!(orders.keys().collect::<Vec<_>>(), ["one", "two"]);
        let lines: Vec<_> = orders["one"].iter().map(|(line, modules)| (*line, modules.join(" "))).collect();
        let expected = [(8, "low"), (9, "middle other"), (10, "high")];
        assert_eq!(lines, expected.map(|(line, modules)| (line, modules.to_owned())));
    }

    #[test]
    fn uses_of_lower_modules_are_allowed() {
        let graph = graph("", "use crate::low::A;", "use crate::{low, middle, other};");
        assert_eq!(check(&graph), [""; 0]);
        assert_eq!(check_cycles("one", &graph), [""; 0]);
    }

    #[test]
    fn uses_of_higher_modules_and_of_neighbours_are_violations() {
        let graph = graph("\n\nuse crate::high;", "use crate::other;", "");
        assert_eq!(
            check(&graph),
            [
                "src/low.rs:3: `low` uses `high`, but in the order of one `high` is higher (ARCHITECTURE.md:10)",
                "src/middle.rs:1: `middle` uses `other`, but in the order of one `other` is on the same line (ARCHITECTURE.md:9)",
            ]
        );
    }

    #[test]
    fn every_module_is_listed_exactly_once() {
        let graph = graph("", "", "");
        let order =
            [(1, vec!["low".to_owned(), "gone".to_owned()]), (2, vec!["low".to_owned(), "high".to_owned()])];
        assert_eq!(
            check_order("one", &graph, Some(&order)),
            [
                "ARCHITECTURE.md:1: one has no module `gone`",
                "ARCHITECTURE.md:2: `low` of one is listed twice",
                "ARCHITECTURE.md: the order of one does not list the module `middle`",
                "ARCHITECTURE.md: the order of one does not list the module `other`",
            ]
        );
    }

    #[test]
    fn an_order_is_proposed_where_none_is_written() {
        let graph = graph("", "use crate::low::A;", "use crate::middle;");
        assert_eq!(
            check_order("one", &graph, None),
            [
                "ARCHITECTURE.md: the section `## Module order` has no block for one; this one would hold today:\n\
              ```text order one\nlow other\nmiddle\nhigh\n```"
            ]
        );
    }

    #[test]
    fn a_cycle_is_reported_with_a_place_for_each_step() {
        let graph = graph("use crate::high;", "use crate::low;\nuse crate::low;", "use crate::middle;");
        assert_eq!(
            check_cycles("one", &graph),
            ["one: the modules high, low, middle depend on one another, for example:\n    \
              high uses middle  src/high.rs:1\n    middle uses low  src/middle.rs:1\n    low uses high  src/low.rs:1"]
        );
    }
}
