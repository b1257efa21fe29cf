//! Fills a journal and measures every question that the page asks.
//!
//! ```text
//! million PLACE ENTRIES
//! ```
//!
//! Prints one line for each question, and fails where one takes longer than it may.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use toolmend_journal::{
    ChartRange, Entry, Error, Filter, GroupBy, Id, Journal, Location, Options, RepairRecord, Series, Store,
};

/// The longest that any page of the list and any chart may take.
const MOST: Duration = Duration::from_millis(200);
/// How often each question is asked; the median counts.
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
    match run(&Location::parse(place), count) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap_or(0)
    }
}

fn fill(place: &Location, count: u64) -> Result<(), Error> {
    let journal = Journal::open(Options { megabytes: 1 << 20, ..Options::new(place.clone()) })?;
    let mut dice = Dice(7);
    let now = Id::now().millis();
    let month = 29 * 86_400_000;
    let started = Instant::now();
    for number in 0..count {
        // One model in a thousand calls, so that rare things are looked for, too.
        let model = if dice.roll(1000) == 0 { 11 } else { dice.roll(11) };
        let mut entry = Entry::new(Series {
            surface: ["chat", "messages", "responses"][dice.roll(3)].into(),
            upstream: "http://127.0.0.1:8000".into(),
            model: MODELS[model].into(),
            tool: TOOLS[dice.roll(TOOLS.len())].into(),
            outcome: OUTCOMES[dice.roll(OUTCOMES.len())].into(),
        });
        let age = month - month * i64::try_from(number).unwrap_or(0) / i64::try_from(count).unwrap_or(1);
        entry.id = Id::at_millis(now - age);
        let changes = 1 + dice.roll(2);
        entry.repairs = (0..changes)
            .map(|_| RepairRecord {
                kind: KINDS[dice.roll(KINDS.len())].to_owned(),
                path: "/path".to_owned(),
                at: Some((3, 9)),
            })
            .collect();
        let before = format!("{{'path': 'src/file_{number}.rs', 'limit': '{}', }}", dice.roll(1000));
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
    say(&format!("{written} entries written, {dropped} dropped, {each:.1} µs each"));
    Ok(())
}

type Question = Box<dyn Fn(&mut Store) -> Result<usize, Error>>;

fn run(place: &Location, count: u64) -> Result<bool, Error> {
    fill(place, count)?;
    let mut store = Store::open(place)?;
    let held = store.usage()?;
    say(&format!("{} entries, about {} MB", held.entries, held.bytes >> 20));
    let mut questions: Vec<(String, Question)> = Vec::new();
    let some = |text: &str| Some(text.to_owned());
    let filters = [
        ("everything", Filter::default()),
        ("one model", Filter { model: some("glm-4.6"), ..Filter::default() }),
        ("a rare model", Filter { model: some("rare-model"), ..Filter::default() }),
        ("one outcome", Filter { outcome: some("rejected"), ..Filter::default() }),
        ("one kind", Filter { kind: some("key_quoted"), ..Filter::default() }),
        (
            "a kind of a rare model",
            Filter { kind: some("key_quoted"), model: some("rare-model"), ..Filter::default() },
        ),
        (
            "four at once",
            Filter {
                model: some("rare-model"),
                tool: some("deploy"),
                outcome: some("truncated"),
                kind: some("null_dropped"),
                ..Filter::default()
            },
        ),
        ("nothing fits", Filter { model: some("glm-4.6"), surface: some("ollama"), ..Filter::default() }),
    ];
    let now = Id::now().millis();
    for (name, filter) in &filters {
        for (page, before) in [("first", None), ("middle", Some(15)), ("last", Some(28))] {
            let filter = filter.clone();
            let before = before.map(|days| Id::at_millis(now - days * 86_400_000));
            let question = move |store: &mut Store| Ok(store.list(&filter, before, 50)?.entries.len());
            questions.push((format!("list, {name}, {page} page"), Box::new(question)));
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
                let question = move |store: &mut Store| Ok(store.chart(by, range, &filter)?.lines.len());
                questions.push((format!("chart by {by_name}, {range_name}, {name}"), Box::new(question)));
            }
        }
        let question = move |store: &mut Store| Ok(store.worst_pairs(range)?.len());
        questions.push((format!("what hurts most, {range_name}"), Box::new(question)));
    }
    questions.push(("names".to_owned(), Box::new(|store| Ok(store.known_names()?.models.len()))));
    let newest = store.list(&Filter::default(), None, 1)?.entries.first().map(|line| line.id);
    if let Some(id) = newest {
        questions.push((
            "one entry".to_owned(),
            Box::new(move |store| Ok(usize::from(store.entry(id)?.is_some()))),
        ));
    }
    let mut slowest = Duration::ZERO;
    for (name, question) in &questions {
        let mut times = Vec::new();
        let mut rows = 0;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            rows = question(&mut store)?;
            times.push(started.elapsed());
        }
        times.sort();
        let median = times[times.len() / 2];
        slowest = slowest.max(median);
        say(&format!("{:>9.2} ms  {name} ({rows})", median.as_secs_f64() * 1e3));
    }
    let met = slowest <= MOST;
    let word = if met { "met:   " } else { "missed:" };
    say(&format!(
        "{word} the slowest took {:.1} ms (at most {} ms)",
        slowest.as_secs_f64() * 1e3,
        MOST.as_millis()
    ));
    Ok(met)
}
