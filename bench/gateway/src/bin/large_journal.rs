//! Fills a journal and measures every query that the page sends.
//!
//! ```text
//! large_journal PLACE ENTRIES
//! ```
//!
//! Prints one line for each query, and fails if one takes too long.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use toolmend_journal::{
    ChartRange, Entry, Error, Filter, GroupBy, Id, Journal, Location, Options, RepairRecord, Series, Store,
};

/// The longest time that a query may take.
const MAX_TIME: Duration = Duration::from_millis(200);
/// How often each query is repeated; the median counts.
const ROUNDS: usize = 5;

const MODELS: [&str; 12] = [
    "qwen3-coder:30b",
    "qwen3:8b",
    "llama-3.3-70b",
    "mistral-small",
    "gemma-3-12b",
    "gpt-oss:20b",
    "deepseek-v3.1",
    "glm-4.6",
    "kimi-k2",
    "granite-4",
    "phi-4",
    "rare-model",
];
const TOOLS: [&str; 10] = [
    "read_file",
    "write_file",
    "edit",
    "bash",
    "grep",
    "web_search",
    "fetch",
    "list_dir",
    "run_query",
    "deploy",
];
const OUTCOMES: [&str; 8] =
    ["mended", "mended", "mended", "mended", "mended", "mended", "truncated", "rejected"];
const KINDS: [&str; 12] = [
    "trailing_comma_removed",
    "quotes_replaced",
    "inner_quote_escaped",
    "control_character_escaped",
    "string_to_number",
    "value_to_array",
    "key_quoted",
    "name_respelled",
    "call_in_text",
    "markup_mended",
    "null_dropped",
    "key_respelled",
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [place, entries] = &args[..] else { return ExitCode::from(2) };
    let Ok(count) = entries.parse::<u64>() else { return ExitCode::from(2) };
    match measure_queries(&Location::parse(place), count) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            print_line(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit as u64).unwrap_or(0)
    }
}

fn fill_journal(place: &Location, count: u64) -> Result<(), Error> {
    let journal = Journal::open(Options { megabytes: 1 << 20, ..Options::new(place.clone()) })?;
    let mut random = Random(7);
    let now = Id::now().millis();
    let month = 29 * 86_400_000;
    let started = Instant::now();
    for number in 0..count {
        // One model has one entry in a thousand, so that queries for rare entries are measured too.
        let model = if random.below(1000) == 0 { 11 } else { random.below(11) };
        let mut entry = Entry::new(Series {
            surface: ["chat", "messages", "responses"][random.below(3)].into(),
            upstream: "http://127.0.0.1:8000".into(),
            model: MODELS[model].into(),
            tool: TOOLS[random.below(TOOLS.len())].into(),
            outcome: OUTCOMES[random.below(OUTCOMES.len())].into(),
        });
        let age = month - month * i64::try_from(number).unwrap_or(0) / i64::try_from(count).unwrap_or(1);
        entry.id = Id::at_millis(now - age);
        let changes = 1 + random.below(2);
        entry.repairs = (0..changes)
            .map(|_| RepairRecord {
                kind: KINDS[random.below(KINDS.len())].to_owned(),
                path: "/path".to_owned(),
                at: Some((3, 9)),
            })
            .collect();
        let before = format!("{{'path': 'src/file_{number}.rs', 'limit': '{}', }}", random.below(1000));
        entry.before_bytes = before.len();
        entry.after = Some(before.replace('\'', "\""));
        entry.before = Some(before);
        journal.record(entry);
        while number.saturating_sub(journal.counts().written) > 4000 {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    while !journal.flush(Duration::from_mins(1)) {}
    let (written, dropped) = (journal.counts().written, journal.counts().dropped);
    let each = started.elapsed().as_micros() / u128::from(count.max(1));
    print_line(&format!("{written} entries written, {dropped} dropped, {each:.1} µs each"));
    Ok(())
}

type Query = Box<dyn Fn(&mut Store) -> Result<usize, Error>>;

fn measure_queries(place: &Location, count: u64) -> Result<bool, Error> {
    fill_journal(place, count)?;
    let mut store = Store::open(place)?;
    let held = store.usage()?;
    print_line(&format!("{} entries, about {} MB", held.entries, held.bytes >> 20));
    let mut queries: Vec<(String, Query)> = Vec::new();
    let value = |text: &str| Some(text.to_owned());
    let filters = [
        ("everything", Filter::default()),
        ("one model", Filter { model: value("glm-4.6"), ..Filter::default() }),
        ("a rare model", Filter { model: value("rare-model"), ..Filter::default() }),
        ("one outcome", Filter { outcome: value("rejected"), ..Filter::default() }),
        ("one kind", Filter { kind: value("key_quoted"), ..Filter::default() }),
        (
            "a kind of a rare model",
            Filter { kind: value("key_quoted"), model: value("rare-model"), ..Filter::default() },
        ),
        (
            "four filters",
            Filter {
                model: value("rare-model"),
                tool: value("deploy"),
                outcome: value("truncated"),
                kind: value("null_dropped"),
                ..Filter::default()
            },
        ),
        ("no match", Filter { model: value("glm-4.6"), surface: value("ollama"), ..Filter::default() }),
    ];
    let now = Id::now().millis();
    for (name, filter) in &filters {
        for (page, before) in [("first", None), ("middle", Some(15)), ("last", Some(28))] {
            let filter = filter.clone();
            let before = before.map(|days| Id::at_millis(now - days * 86_400_000));
            let query = move |store: &mut Store| Ok(store.list(&filter, before, 50)?.entries.len());
            queries.push((format!("list, {name}, {page} page"), Box::new(query)));
        }
    }
    for (range_name, range) in ChartRange::ALL {
        for (by_name, by) in [
            ("outcome", GroupBy::Outcome),
            ("model", GroupBy::Model),
            ("tool", GroupBy::Tool),
            ("kind", GroupBy::Kind),
        ] {
            for (name, filter) in filters.iter().take(2) {
                let filter = filter.clone();
                let query = move |store: &mut Store| Ok(store.chart(by, range, &filter)?.lines.len());
                queries.push((format!("chart by {by_name}, {range_name}, {name}"), Box::new(query)));
            }
        }
        let query = move |store: &mut Store| Ok(store.worst_pairs(range)?.len());
        queries.push((format!("worst pairs, {range_name}"), Box::new(query)));
    }
    queries.push(("names".to_owned(), Box::new(|store| Ok(store.known_names()?.models.len()))));
    let newest = store.list(&Filter::default(), None, 1)?.entries.first().map(|line| line.id);
    if let Some(id) = newest {
        queries.push((
            "one entry".to_owned(),
            Box::new(move |store| Ok(usize::from(store.entry(id)?.is_some()))),
        ));
    }
    let mut slowest = Duration::ZERO;
    for (name, query) in &queries {
        let mut times = Vec::new();
        let mut rows = 0;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            rows = query(&mut store)?;
            times.push(started.elapsed());
        }
        times.sort();
        let median = times[times.len() / 2];
        slowest = slowest.max(median);
        print_line(&format!("{:>9.2} ms  {name} ({rows})", median.as_secs_f64() * 1e3));
    }
    let is_met = slowest <= MAX_TIME;
    let verdict = if is_met { "met:   " } else { "missed:" };
    print_line(&format!(
        "{verdict} the slowest took {:.1} ms (at most {} ms)",
        slowest.as_secs_f64() * 1e3,
        MAX_TIME.as_millis()
    ));
    Ok(is_met)
}
