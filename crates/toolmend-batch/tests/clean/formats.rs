//! The same rows in every format, as input and as output.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, StructBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression as ParquetCompression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use toolmend_batch::{Compression, Format, Layout};

use crate::support::{TOOLS, TestFolder, rules, run};

const ROWS: usize = 300;

/// Lines of calls, every third of them broken.
pub(crate) fn lines(count: usize) -> String {
    let row = |row: usize| {
        let arguments = if row.is_multiple_of(3) { broken(row) } else { intact(row) };
        let call = format!("{{\"function\":{{\"name\":\"get_weather\",\"arguments\":\"{arguments}\"}}}}");
        format!("{{\"id\":{row},\"messages\":[{{\"role\":\"assistant\",\"tool_calls\":[{call}]}}]}}\n")
    };
    (0..count).map(row).collect::<Vec<_>>().concat()
}

fn broken(row: usize) -> String {
    format!("{{city: 'Oslo {row}', days: \\\"{row}\\\",}}")
}

fn intact(row: usize) -> String {
    format!("{{\\\"city\\\": \\\"Oslo {row}\\\", \\\"days\\\": {row}}}")
}

/// The same lines, mended.
fn mended_lines(count: usize) -> String {
    (0..count).step_by(3).fold(lines(count), |text, row| text.replace(&broken(row), &intact(row)))
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn compressed_lines_stay_compressed() {
    let folder = TestFolder::new();
    let text = lines(ROWS);
    let (one, other) = text.split_at(5000);
    // A gzip member may end anywhere, also inside a line.
    let gz = folder.write("a.jsonl.gz", [gzip(one.as_bytes()), gzip(other.as_bytes())].concat());
    let zst = folder.write("b.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    run(&folder.job(&gz, "a2.jsonl.gz")).unwrap();
    run(&folder.job(&zst, "b2.zst")).unwrap();
    assert_eq!(gunzip(&folder.path("a2.jsonl.gz")), mended_lines(ROWS));
    let unpacked = zstd::decode_all(File::open(folder.path("b2.zst")).unwrap()).unwrap();
    assert_eq!(String::from_utf8(unpacked).unwrap(), mended_lines(ROWS));
    run(&folder.job(&zst, "c.jsonl")).unwrap();
    assert_eq!(folder.read("c.jsonl"), mended_lines(ROWS), "the name of the output says that it is plain");
}

#[test]
fn empty_files_stay_empty() {
    let folder = TestFolder::new();
    for (name, bytes) in [
        ("a.jsonl", Vec::new()),
        ("b.jsonl.gz", gzip(b"")),
        ("c.jsonl.gz", Vec::new()),
        ("d.jsonl.zst", Vec::new()),
        ("e.jsonl", b"\n\n".to_vec()),
    ] {
        let path = folder.write(name, &bytes);
        let summary = run(&folder.job(&path, "out")).unwrap();
        assert_eq!(summary.counts.calls(), 0, "{name}");
        match name.rsplit('.').next() {
            Some("gz") => assert_eq!(gunzip(&folder.path("out")), ""),
            Some("zst") => {
                assert!(zstd::decode_all(File::open(folder.path("out")).unwrap()).unwrap().is_empty());
            }
            _ => assert_eq!(fs::read(folder.path("out")).unwrap(), bytes),
        }
    }
}

/// A table of calls, with a column that no layout uses.
fn calls(count: usize) -> RecordBatch {
    let row = |row: usize| {
        if row.is_multiple_of(3) {
            format!("{{city: 'Oslo {row}'}}")
        } else {
            format!("{{\"city\": \"Oslo {row}\"}}")
        }
    };
    let arguments = (0..count).map(|at| (at % 7 != 6).then(|| row(at)));
    let tools = (0..count).map(|at| Some(if at % 9 == 0 { "Get_Weather" } else { "get_weather" }));
    let models: DictionaryArray<Int32Type> = (0..count).map(|at| Some(["a", "b"][at % 2])).collect();
    let numbers = Int64Array::from_iter_values((0..).take(count));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(numbers)),
        ("arguments", Arc::new(arguments.collect::<LargeStringArray>())),
        ("tool", Arc::new(tools.collect::<StringArray>())),
        ("model", Arc::new(models)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

fn assert_clean_calls(batches: &[RecordBatch], count: usize) {
    let mut at = 0;
    for batch in batches {
        assert_eq!(batch.schema_ref().fields(), calls(1).schema_ref().fields());
        let (numbers, arguments, tools) = (
            batch.column(0).as_primitive::<arrow_array::types::Int64Type>(),
            batch.column(1).as_string::<i64>(),
            batch.column(2).as_string::<i32>(),
        );
        for row in 0..batch.num_rows() {
            assert_eq!(usize::try_from(numbers.value(row)), Ok(at));
            assert_eq!(arguments.is_null(row), at % 7 == 6);
            if at % 7 != 6 {
                assert_eq!(arguments.value(row), format!("{{\"city\": \"Oslo {at}\"}}"));
                assert_eq!(tools.value(row), "get_weather");
            }
            at += 1;
        }
    }
    assert_eq!(at, count);
}

fn read_parquet(path: &Path) -> (Vec<RecordBatch>, ArrowReaderMetadata) {
    let file = File::open(path).unwrap();
    let about = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    (reader.map(Result::unwrap).collect(), about)
}

pub(crate) fn write_parquet(path: &Path, batches: &[RecordBatch]) {
    let properties = WriterProperties::builder()
        .set_compression(ParquetCompression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![KeyValue::new("owner".to_owned(), "us".to_owned())]))
        .build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn parquet_keeps_its_columns() {
    let folder = TestFolder::new();
    let path = folder.path("in.parquet");
    write_parquet(&path, &[calls(5000), calls(0), calls(10)]);
    let mut job = folder.job(&path, "out.parquet");
    job.unit_bytes = 1000;
    let summary = run(&job).unwrap();
    assert_eq!(summary.counts.rows, 5010);
    let (batches, about) = read_parquet(&folder.path("out.parquet"));
    let all = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
    assert_clean_calls(&[all.slice(0, 5000)], 5000);
    assert_clean_calls(&[all.slice(5000, 10)], 10);
    let groups = about.metadata().row_groups();
    assert!(groups.len() > 2, "a large row group is divided");
    assert!(matches!(groups[0].column(0).compression(), ParquetCompression::ZSTD(_)));
    let pairs = about.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(pairs.iter().any(|pair| pair.key == "owner"));
    assert_eq!(summary.counts.models.keys().collect::<Vec<_>>(), ["a", "b"], "dictionaries are read");
}

/// Reads the bytes of every column of a file, by row group.
fn read_column_bytes(path: &Path) -> Vec<Vec<Vec<u8>>> {
    let (bytes, (_, about)) = (std::fs::read(path).unwrap(), read_parquet(path));
    let bytes_of = |(start, length): (u64, u64)| {
        let start = usize::try_from(start).unwrap();
        bytes[start..start + usize::try_from(length).unwrap()].to_vec()
    };
    let groups = about.metadata().row_groups().iter();
    groups.map(|group| group.columns().iter().map(|column| bytes_of(column.byte_range())).collect()).collect()
}

#[test]
fn unchanged_columns_are_copied() {
    let folder = TestFolder::new();
    let path = folder.path("in.parquet");
    let clean = calls(4000);
    let texts =
        (0..4000).map(|at| Some(format!("{{\"city\": \"Oslo {at}\"}}"))).collect::<LargeStringArray>();
    let names = StringArray::from_iter_values((0..4000).map(|_| "get_weather"));
    let mut columns = clean.columns().to_vec();
    (columns[1], columns[2]) = (Arc::new(texts), Arc::new(names));
    let clean = RecordBatch::try_new(clean.schema(), columns).unwrap();
    write_parquet(&path, &[calls(3000), clean]);
    let mut job = folder.job(&path, "out.parquet");
    job.unit_bytes = 1 << 20;
    assert_eq!(run(&job).unwrap().counts.rows, 7000);
    let (before, after) = (read_column_bytes(&path), read_column_bytes(&folder.path("out.parquet")));
    assert_eq!(after.len(), 2);
    let same = |group: usize| (0..4).map(|at| before[group][at] == after[group][at]).collect::<Vec<_>>();
    assert_eq!(same(0), [true, false, false, true], "arguments and names were mended");
    assert_eq!(same(1), [true; 4], "nothing was mended");
    let (batches, _) = read_parquet(&folder.path("out.parquet"));
    let all = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
    assert_clean_calls(&[all.slice(0, 3000)], 3000);
    assert_eq!(all.column(1).as_string::<i64>().value(6999), "{\"city\": \"Oslo 3999\"}");
}

#[test]
fn a_name_in_a_dictionary_is_not_replaced() {
    let folder = TestFolder::new();
    let path = folder.path("in.parquet");
    let calls = calls(20);
    let names: DictionaryArray<Int32Type> =
        (0..20).map(|at| Some(["get_weather", "Get_Weather"][at % 2])).collect();
    let columns: Vec<(&str, ArrayRef)> =
        vec![("arguments", Arc::clone(calls.column(1))), ("tool", Arc::new(names))];
    let nullable = columns.into_iter().map(|(name, column)| (name, column, true));
    write_parquet(&path, &[RecordBatch::try_from_iter_with_nullable(nullable).unwrap()]);
    run(&folder.job(&path, "out.parquet")).unwrap();
    let (batches, _) = read_parquet(&folder.path("out.parquet"));
    let (old, new) = (calls.column(1).as_string::<i64>(), batches[0].column(0).as_string::<i64>());
    // Rows 6 and 13 are null. Of the others, every third is broken, and every second has a name that would have to be replaced.
    for row in (0..20).filter(|row| old.is_valid(*row)) {
        let mended = row % 2 == 0 && row % 3 == 0;
        assert_eq!(new.value(row) == old.value(row), !mended, "{row}");
    }
    let rejects = folder.read_rejects();
    let rows: Vec<_> = rejects.iter().map(|line| line["row"].as_u64().unwrap()).collect();
    assert_eq!(rows, [2, 4, 6, 8, 10, 12, 16, 18, 20]);
    assert!(rejects.iter().all(|line| line["error"].as_str().unwrap().contains("dictionary")));
}

#[test]
fn batches_without_rows_make_no_row_groups() {
    let folder = TestFolder::new();
    let path = folder.path("in.arrows");
    let mut writer = StreamWriter::try_new(File::create(&path).unwrap(), &calls(0).schema()).unwrap();
    for count in [0, 30, 0, 0] {
        writer.write(&calls(count)).unwrap();
    }
    writer.finish().unwrap();
    run(&folder.job(&path, "out.parquet")).unwrap();
    let (batches, about) = read_parquet(&folder.path("out.parquet"));
    assert_clean_calls(&batches, 30);
    assert_eq!(about.metadata().num_row_groups(), 1);
}

#[test]
fn a_table_without_rows_keeps_its_columns() {
    let folder = TestFolder::new();
    let path = folder.path("in.parquet");
    write_parquet(&path, &[calls(0)]);
    run(&folder.job(&path, "out.parquet")).unwrap();
    let (batches, about) = read_parquet(&folder.path("out.parquet"));
    assert!(batches.is_empty());
    assert_eq!(about.schema().fields(), calls(0).schema().fields());
}

#[test]
fn arrow_files_and_streams_keep_their_columns() {
    let folder = TestFolder::new();
    let (file, stream) = (folder.path("in.arrow"), folder.path("in.arrows"));
    let all = calls(3000);
    let parts = [all.slice(0, 1000), all.slice(1000, 1500), all.slice(2500, 500)];
    let mut writer = FileWriter::try_new(File::create(&file).unwrap(), &all.schema()).unwrap();
    let mut streamed = StreamWriter::try_new(File::create(&stream).unwrap(), &all.schema()).unwrap();
    for part in &parts {
        writer.write(part).unwrap();
        streamed.write(part).unwrap();
    }
    writer.finish().unwrap();
    streamed.finish().unwrap();
    run(&folder.job(&file, "out.arrow")).unwrap();
    run(&folder.job(&stream, "out.arrows")).unwrap();
    let read = FileReader::try_new(File::open(folder.path("out.arrow")).unwrap(), None).unwrap();
    assert_clean_calls(&read.map(Result::unwrap).collect::<Vec<_>>(), 3000);
    let read = StreamReader::try_new(File::open(folder.path("out.arrows")).unwrap(), None).unwrap();
    assert_clean_calls(&read.map(Result::unwrap).collect::<Vec<_>>(), 3000);
    run(&folder.job(&file, "out.parquet")).unwrap();
    assert_clean_calls(&read_parquet(&folder.path("out.parquet")).0, 3000);
}

#[test]
fn a_column_may_hold_rows_of_any_layout() {
    let folder = TestFolder::new();
    let path = folder.write("in.jsonl", lines(ROWS));
    let mut job = folder.job(&path, "rows.parquet");
    job.rules = rules(None);
    // Without tools, only the syntax is mended.
    run(&job).unwrap();
    let mut job = folder.job(&folder.path("rows.parquet"), "out.parquet");
    job.layout = Layout::OpenAi;
    job.fields.column = Some("row".into());
    run(&job).unwrap();
    let (batches, _) = read_parquet(&folder.path("out.parquet"));
    let rows: Vec<_> = batches
        .iter()
        .flat_map(|batch| {
            batch.column(0).as_string::<i32>().iter().map(|row| row.unwrap().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(rows.join("\n") + "\n", mended_lines(ROWS));
}

/// Conversations as a table: lists of structs.
fn conversations() -> RecordBatch {
    let fields = Fields::from(vec![
        Field::new("from", DataType::Utf8, true),
        Field::new("value", DataType::Utf8, true),
    ]);
    let builders: Vec<Box<dyn arrow_array::builder::ArrayBuilder>> =
        vec![Box::new(StringBuilder::new()), Box::new(StringBuilder::new())];
    let mut list = ListBuilder::new(StructBuilder::new(fields, builders));
    let turns = [
        vec![
            ("human", "Weather? {a: 1}"),
            (
                "gpt",
                "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": 'Oslo',}}\n</tool_call>",
            ),
        ],
        vec![],
        vec![(
            "gpt",
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rom\"}}\n</tool_call>",
        )],
    ];
    for turns in &turns {
        for (from, value) in turns {
            list.values().field_builder::<StringBuilder>(0).unwrap().append_value(from);
            list.values().field_builder::<StringBuilder>(1).unwrap().append_value(value);
            list.values().append(true);
        }
        list.append(true);
    }
    let tools = StringArray::from(vec![TOOLS; 3]);
    let list = list.finish();
    let schema = Schema::new(vec![
        Field::new("conversations", list.data_type().clone(), true),
        Field::new("tools", DataType::Utf8, true),
        Field::new("extra", DataType::Int64, true),
    ]);
    let extra = Int64Array::from(vec![Some(1), None, Some(3)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(list), Arc::new(tools), Arc::new(extra)]).unwrap()
}

#[test]
fn layouts_are_found_in_nested_columns() {
    let folder = TestFolder::new();
    let path = folder.path("in.parquet");
    let before = conversations();
    write_parquet(&path, std::slice::from_ref(&before));
    let summary = run(&folder.job(&path, "out.parquet")).unwrap();
    assert_eq!(summary.counts.outcomes(), [1, 1, 0, 0]);
    let (after, _) = read_parquet(&folder.path("out.parquet"));
    assert_eq!(after[0].schema_ref().fields(), before.schema_ref().fields());
    assert_eq!(after[0].column(2), before.column(2));
    let turns = after[0].column(0).as_list::<i32>();
    let values = turns.values().as_struct().column(1).as_string::<i32>();
    assert_eq!(turns.value_offsets(), [0, 2, 2, 3]);
    assert_eq!(values.value(0), "Weather? {a: 1}");
    assert_eq!(
        values.value(1),
        "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"
    );
    run(&folder.job(&path, "out.jsonl")).unwrap();
    let text = folder.read("out.jsonl");
    let first = text.lines().next().unwrap();
    assert!(first.starts_with(r#"{"conversations":[{"from":"human","value":"Weather? {a: 1}"},{"from":"gpt","value":"<tool_call>\n{\"name\""#), "{first}");
    assert!(first.ends_with(r#","extra":1}"#), "{first}");
}

#[test]
fn missing_columns_are_named() {
    let folder = TestFolder::new();
    let path = folder.path("in.parquet");
    write_parquet(&path, &[calls(1)]);
    for (column, layout, expected) in [
        (Some("none"), Layout::Auto, "there is no column none; the columns are n, arguments, tool, model"),
        (Some("n"), Layout::Column, "the column n must hold text, found Int64"),
        (None, Layout::Records, "records are lines"),
        (None, Layout::ShareGpt, ""),
    ] {
        let mut job = folder.job(&path, "out.parquet");
        job.layout = layout;
        job.fields.column = column.map(str::to_owned);
        match run(&job) {
            Err(failure) => {
                assert!(!expected.is_empty() && failure.to_string().contains(expected), "{failure}");
            }
            Ok(summary) => assert_eq!((expected, summary.counts.calls()), ("", 0)),
        }
    }
}

#[test]
fn files_that_do_not_follow_their_format_are_named() {
    let folder = TestFolder::new();
    for (name, bytes) in [
        ("a.parquet", &b"PAR1 and nothing else"[..]),
        ("b.arrow", b"ARROW1\0\0nothing"),
        ("c.jsonl.gz", b"\x1f\x8b\x08\0broken"),
    ] {
        let path = folder.write(name, bytes);
        let message = run(&folder.job(&path, "out")).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
        assert!(!folder.path("out").exists());
    }
}

#[test]
fn folders_become_folders_of_another_format() {
    let folder = TestFolder::new();
    folder.write("in/a.jsonl", lines(ROWS));
    folder.write("in/deep/b.jsonl.gz", gzip(lines(20).as_bytes()));
    let mut job = folder.job(&folder.path("in"), "out");
    job.format = Some(Format::Lines(Compression::Zstd));
    let summary = run(&job).unwrap();
    assert_eq!((summary.files, summary.counts.rows), (2, 320));
    let read = |name: &str| {
        String::from_utf8(zstd::decode_all(File::open(folder.path(name)).unwrap()).unwrap()).unwrap()
    };
    assert_eq!(read("out/a.jsonl.zst"), mended_lines(ROWS));
    assert_eq!(read("out/deep/b.jsonl.zst"), mended_lines(20));
    let left: Vec<_> =
        fs::read_dir(folder.path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "nothing else is left: {left:?}");
}
