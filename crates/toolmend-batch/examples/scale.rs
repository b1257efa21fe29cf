//! Generates the files that `cargo xtask scale` measures, and runs the bare library on the same calls.
//!
//!     scale generate jsonl|parquet|chat MEGABYTES FILE    writes calls, one in five damaged; prints their number
//!     scale bare MEGABYTES THREADS                        mends the same calls in memory, with the library alone
//!     scale by-hand jsonl|parquet MEGABYTES THREADS       cleans the same rows in memory, with a simple loop around the library
//!     scale tools                                         prints the declared tools

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde::{Deserialize, Serialize};
use toolmend::{Finish, Mender, Outcome};
use toolmend_json::quote;

/// The allocator of the command, so that both are measured under the same conditions.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TOOLS: &str = r#"[{"type":"function","function":{"name":"read_file","description":"Reads a part of a file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}}},{"type":"function","function":{"name":"write_file","description":"Writes a whole file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"overwrite":{"type":"boolean"}},"required":["path","content"]}}},{"type":"function","function":{"name":"run","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"},"env":{"type":"object","additionalProperties":{"type":"string"}}},"required":["command"]}}},{"type":"function","function":{"name":"search","description":"Searches for offers.","parameters":{"type":"object","properties":{"query":{"type":"string"},"departure":{"type":"object","properties":{"date":{"type":"string"},"after":{"type":"string"}},"required":["date"]},"passengers":{"type":"integer"},"max_price":{"type":"number"},"direct":{"type":"boolean"},"cabins":{"type":"array","items":{"enum":["economy","premium","business"]}}},"required":["query"]}}}]"#;
const MODELS: [&str; 4] = ["qwen3-32b", "llama-4-scout", "mistral-small", "glm-4.6"];
/// The number of rows in a row group of a generated Parquet file.
const GROUP_ROWS: usize = 40_000;

/// A pseudorandom generator that returns the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// A call, as a model wrote it.
struct Call {
    tool: &'static str,
    model: &'static str,
    arguments: String,
}

impl Call {
    /// Estimates the size in a file. It is the same for all formats, so that all files have the same calls.
    fn size(&self) -> usize {
        self.arguments.len() + 32
    }
}

/// Generates calls like those of coding and booking agents. One in five is damaged.
struct CallGenerator {
    random: Random,
    text: String,
}

impl CallGenerator {
    fn new() -> Self {
        CallGenerator { random: Random(0x9e37_79b9_7f4a_7c15), text: String::new() }
    }

    fn next_call(&mut self) -> Call {
        let random = &mut self.random;
        let number = random.below(1_000_000);
        let model = MODELS[usize::try_from(random.below(4)).unwrap_or_default()];
        let (tool, arguments) = match random.below(10) {
            0..3 => (
                "read_file",
                format!(
                    r#"{{"path": "src/module_{number}/handler.rs", "offset": {}, "limit": 200}}"#,
                    number % 900
                ),
            ),
            3..6 => {
                self.text.clear();
                for line in 0..8 + random.below(40) {
                    let _ = write!(
                        self.text,
                        "    let value_{line} = table.get(\\\"key {number}\\\").unwrap_or(&{line});\\n"
                    );
                }
                (
                    "write_file",
                    format!(
                        r#"{{"path": "src/module_{number}.rs", "content": "fn main() {{\n{}}}\n", "overwrite": true}}"#,
                        self.text
                    ),
                )
            }
            6..8 => (
                "run",
                format!(
                    r#"{{"command": "cargo test --package module_{number} -- --nocapture", "timeout": {}, "env": {{"RUST_LOG": "debug", "SEED": "{number}"}}}}"#,
                    number % 600
                ),
            ),
            _ => (
                "search",
                format!(
                    r#"{{"query": "flights from Lisbon to Oslo number {number}", "departure": {{"date": "2026-03-14", "after": "08:30"}}, "passengers": 2, "max_price": 349.5, "direct": true, "cabins": ["economy", "premium"]}}"#
                ),
            ),
        };
        let arguments =
            if random.below(5) == 0 { damage(&arguments, random.below(DAMAGES)) } else { arguments };
        Call { tool, model, arguments }
    }
}

/// How many kinds of damage there are.
const DAMAGES: u64 = 8;

/// Damages a call with this kind of damage, or with the next kind that changes it.
fn damage(text: &str, kind: u64) -> String {
    let candidates = (kind..kind + DAMAGES).map(|kind| apply_damage(text, kind % DAMAGES));
    candidates.into_iter().find(|broken| broken != text).unwrap_or_default()
}

/// Applies a kind of damage that models cause.
fn apply_damage(text: &str, kind: u64) -> String {
    match kind {
        0 => format!("{},}}", &text[..text.len() - 1]),
        1 => text.replace("\\\"", "'").replace('"', "'").replace("'key", "\\'key"),
        2 => text.replacen("\"path\"", "path", 1).replacen("\"command\"", "command", 1).replacen(
            "\"query\"",
            "query",
            1,
        ),
        3 => {
            text.replace(": true", ": True").replacen(": 200", ": \"200\"", 1).replacen(": 2,", ": \"2\",", 1)
        }
        4 => text.replace("\\n", "\n"),
        5 => format!("```json\n{text}\n```"),
        6 => text.replace("\\\"", "\""),
        _ => text[..text.len() - text.len() / 4].trim_end_matches(|last: char| !last.is_ascii()).to_owned(),
    }
}

fn write_row(call: &Call, number: usize) -> String {
    let (model, tool) = (call.model, call.tool);
    format!(
        "{{\"id\":\"{number}\",\"model\":\"{model}\",\"tool\":\"{tool}\",\"arguments\":{}}}\n",
        quote(&call.arguments)
    )
}

fn write_chat_row(call: &Call, number: usize) -> String {
    format!(
        "{{\"id\":\"{number}\",\"model\":\"{}\",\"messages\":[{{\"role\":\"system\",\"content\":\"You are a careful assistant.\"}},{{\"role\":\"user\",\"content\":\"Please go on with step {number} of the plan.\"}},{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"call_{number}\",\"type\":\"function\",\"function\":{{\"name\":\"{}\",\"arguments\":{}}}}}]}}],\"tools\":{TOOLS}}}\n",
        call.model,
        call.tool,
        quote(&call.arguments)
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut out = std::io::stdout();
    match args.as_slice() {
        ["tools"] => writeln!(out, "{TOOLS}")?,
        ["generate", "parquet", size, file] => {
            writeln!(out, "{}", write_parquet_file(size.parse::<usize>()? << 20, file)?)?;
        }
        ["generate", kind, size, file] => {
            let (size, write) =
                (size.parse::<usize>()? << 20, if *kind == "chat" { write_chat_row } else { write_row });
            let mut file = BufWriter::with_capacity(1 << 20, File::create(file)?);
            let (mut calls, mut written, mut count) = (CallGenerator::new(), 0, 0);
            while written < size {
                let call = calls.next_call();
                file.write_all(write(&call, count).as_bytes())?;
                written += call.size();
                count += 1;
            }
            file.flush()?;
            writeln!(out, "{count}")?;
        }
        ["bare", size, threads] => run_bare(size.parse::<usize>()? << 20, threads.parse()?, &mut out)?,
        ["by-hand", kind, size, threads] => {
            let (size, threads) = (size.parse::<usize>()? << 20, threads.parse()?);
            if *kind == "parquet" {
                clean_tables_by_hand(size, threads, &mut out)?;
            } else {
                clean_lines_by_hand(size, threads, &mut out)?;
            }
        }
        _ => return Err("expected generate, bare, by-hand or tools; see the top of this file".into()),
    }
    Ok(())
}

/// Writes a Parquet file with about this many bytes of text. Returns the number of calls.
fn write_parquet_file(size: usize, file: &str) -> Result<usize, Box<dyn Error>> {
    let mut writer = new_parquet_writer(File::create(file)?)?;
    let (mut calls, mut written, mut count) = (CallGenerator::new(), 0, 0);
    while written < size {
        let mut group = Vec::new();
        while group.len() < GROUP_ROWS && written < size {
            let call = calls.next_call();
            written += call.size();
            group.push(call);
        }
        writer.write(&new_batch(&group, count)?)?;
        writer.flush()?;
        count += group.len();
    }
    writer.close()?;
    Ok(count)
}

fn new_parquet_writer<W: Write + Send>(out: W) -> Result<ArrowWriter<W>, Box<dyn Error>> {
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    Ok(ArrowWriter::try_new(out, new_batch(&[], 0)?.schema(), Some(properties))?)
}

/// Puts calls into a table. `first` is the number of the first call.
fn new_batch(calls: &[Call], first: usize) -> Result<RecordBatch, Box<dyn Error>> {
    let ids = StringArray::from_iter_values((first..first + calls.len()).map(|number| number.to_string()));
    let texts = |text: fn(&Call) -> &str| Arc::new(StringArray::from_iter_values(calls.iter().map(text)));
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(ids)),
        ("model", texts(|call| call.model)),
        ("tool", texts(|call| call.tool)),
        ("arguments", texts(|call| &call.arguments)),
    ];
    let nullable = columns.into_iter().map(|(name, column)| (name, column, true));
    Ok(RecordBatch::try_from_iter_with_nullable(nullable)?)
}

/// Generates calls with about this many bytes.
fn generate_calls(size: usize) -> Vec<Call> {
    let (mut source, mut calls, mut bytes) = (CallGenerator::new(), Vec::new(), 0);
    while bytes < size {
        let call = source.next_call();
        bytes += call.size();
        calls.push(call);
    }
    calls
}

/// Works on all items with some threads, which take a part at a time. Prints the number of calls, the seconds, and how many
/// calls can run.
fn measure<T: Sync>(
    items: &[T],
    (part, calls, threads): (usize, usize, usize),
    work: impl Fn(&[T]) -> usize + Sync,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let runs: usize = std::thread::scope(|scope| {
        let worker = || {
            let mut runs = 0;
            loop {
                let from = next.fetch_add(part, Ordering::Relaxed);
                match items.get(from..items.len().min(from + part)) {
                    Some(part) if !part.is_empty() => runs += work(part),
                    _ => return runs,
                }
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(0)).sum()
    });
    writeln!(out, "{calls} {:.3} {runs}", started.elapsed().as_secs_f64())?;
    Ok(())
}

/// How many rows a thread takes at a time.
const PART_ROWS: usize = 1000;

/// Runs the library alone: all texts are in memory, and nothing is written.
fn run_bare(size: usize, threads: usize, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mender = Mender::new(&serde_json::from_str(TOOLS)?)?;
    let calls = generate_calls(size);
    let runs =
        |call: &&Call| mender.mend_finished(call.tool, &call.arguments, Finish::Unknown).outcome().runs();
    measure(&calls, (PART_ROWS, calls.len(), threads), |part| part.iter().filter(runs).count(), out)
}

/// A row, declared by an author who knows its fields.
#[derive(Serialize, Deserialize)]
struct Row<'r> {
    #[serde(borrow)]
    id: Cow<'r, str>,
    #[serde(borrow)]
    model: Cow<'r, str>,
    #[serde(borrow)]
    tool: Cow<'r, str>,
    #[serde(borrow)]
    arguments: Cow<'r, str>,
}

/// Cleans lines in memory, with a simple loop around the library.
fn clean_lines_by_hand(size: usize, threads: usize, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mender = Mender::new(&serde_json::from_str(TOOLS)?)?;
    let lines: Vec<String> =
        generate_calls(size).iter().enumerate().map(|(at, call)| write_row(call, at)).collect();
    let work = |part: &[String]| {
        let (mut cleaned, mut runs) = (Vec::new(), 0);
        for line in part {
            let Ok(row) = serde_json::from_str::<Row<'_>>(line) else { continue };
            let verdict = mender.mend_finished(&row.tool, &row.arguments, Finish::Unknown);
            runs += usize::from(verdict.outcome().runs());
            match verdict.json().filter(|_| verdict.outcome() == Outcome::Mended) {
                Some(json) => {
                    let row = Row { id: row.id, model: row.model, tool: row.tool, arguments: json.into() };
                    let written = serde_json::to_writer(&mut cleaned, &row);
                    cleaned.extend_from_slice(written.map_or(b"", |()| b"\n"));
                }
                None => cleaned.extend_from_slice(line.as_bytes()),
            }
        }
        std::hint::black_box(cleaned);
        runs
    };
    measure(&lines, (PART_ROWS, lines.len(), threads), work, out)
}

/// Does the same for Parquet files of one row group each.
fn clean_tables_by_hand(size: usize, threads: usize, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mender = Mender::new(&serde_json::from_str(TOOLS)?)?;
    let calls = generate_calls(size);
    let mut files = Vec::new();
    for (number, group) in calls.chunks(GROUP_ROWS).enumerate() {
        let mut writer = new_parquet_writer(Vec::new())?;
        writer.write(&new_batch(group, number * GROUP_ROWS)?)?;
        files.push(Bytes::from(writer.into_inner()?));
    }
    let count = calls.len();
    drop(calls);
    let clean = |file: &Bytes| -> Result<usize, Box<dyn Error>> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file.clone())?.with_batch_size(8192).build()?;
        let (mut writer, mut runs) = (new_parquet_writer(Vec::with_capacity(file.len()))?, 0);
        for batch in reader {
            let batch = batch?;
            let (tools, arguments) = (batch.column(2).as_string::<i32>(), batch.column(3).as_string::<i32>());
            let bytes = arguments.value_data().len();
            let mut cleaned = StringBuilder::with_capacity(arguments.len(), bytes + bytes / 16);
            for (tool, text) in tools.iter().zip(arguments) {
                let (tool, text) = (tool.unwrap_or_default(), text.unwrap_or_default());
                let verdict = mender.mend_finished(tool, text, Finish::Unknown);
                runs += usize::from(verdict.outcome().runs());
                cleaned.append_value(verdict.json().unwrap_or(text));
            }
            let mut columns = batch.columns().to_vec();
            columns[3] = Arc::new(cleaned.finish());
            writer.write(&RecordBatch::try_new(batch.schema(), columns)?)?;
        }
        std::hint::black_box(writer.into_inner()?);
        Ok(runs)
    };
    let work = |part: &[Bytes]| part.iter().map(|file| clean(file).unwrap_or_default()).sum();
    measure(&files, (1, count, threads), work, out)
}
