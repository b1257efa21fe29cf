//! The arguments of `toolmend journal`.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use toolmend::RepairKind;
use toolmend_journal::{Filter, Id, Location};

use crate::options::OutputFormat;

/// Read the journal of `toolmend serve`: calls that were mended or refused.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct JournalArgs {
    /// The journal: a file or a PostgreSQL URL [default: the file that `toolmend serve` writes].
    #[arg(long, value_name = "PLACE", env = "TOOLMEND_JOURNAL", hide_env_values = true, global = true)]
    pub(crate) journal: Option<String>,
    #[command(subcommand)]
    pub(crate) command: JournalCommand,
}

const EXAMPLES: &str = "\
Examples:
  toolmend journal list --since 1h --outcome rejected
  toolmend journal show 0e2n6b4c1d8ka
  toolmend journal export --tool write_file > calls.jsonl
  toolmend journal to-corpus 0e2n6b4c1d8ka > corpus/syntax/from-the-field.case";

#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// List entries, the newest first.
    List {
        #[command(flatten)]
        filter: FilterArgs,
        /// How many entries to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        /// Only entries older than this one, for the next page.
        #[arg(long, value_name = "ID")]
        before: Option<Id>,
        /// `json` writes one object per line.
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        format: OutputFormat,
    },
    /// Show one entry: its origin, its repairs and the difference.
    Show {
        /// The id of the entry.
        id: Id,
    },
    /// Write complete entries, one JSON object per line, the newest first.
    Export {
        #[command(flatten)]
        filter: FilterArgs,
    },
    /// Turn an entry into a corpus case, so that a test covers it from now on.
    ToCorpus {
        /// The id of the entry.
        id: Id,
    },
}

/// Which entries to read.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only calls by this model.
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// Only calls of this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only calls with this outcome.
    #[arg(long, value_parser = PossibleValuesParser::new(["mended", "truncated", "rejected"]))]
    outcome: Option<String>,
    /// Only calls with a repair of this kind; `toolmend repairs` lists them.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only calls on this API surface, for example `chat`.
    #[arg(long, value_name = "NAME")]
    surface: Option<String>,
    /// Only calls from this server.
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Only calls of this recent time: `30m`, `2h`, `7d`.
    #[arg(long, value_name = "TIME", value_parser = parse_milliseconds)]
    since: Option<i64>,
}

impl JournalArgs {
    pub(crate) fn place(&self) -> Location {
        let usual = || Location::default_file().unwrap_or(Location::Off);
        self.journal.as_deref().map_or_else(usual, Location::parse)
    }
}

impl FilterArgs {
    pub(crate) fn filter(&self) -> Filter {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        Filter {
            surface: self.surface.clone(),
            upstream: self.upstream.clone(),
            model: self.model.clone(),
            tool: self.tool.clone(),
            outcome: self.outcome.clone(),
            kind: self.kind.as_deref().map(|kind| RepairKind::resolve_alias(kind).to_owned()),
            since: self.since.map(|millis| now - millis),
            until: None,
        }
    }
}

/// Parses a time such as `30m` into milliseconds.
fn parse_milliseconds(text: &str) -> Result<i64, String> {
    let error = || format!("expected a time such as 30m, 2h or 7d, found {text:?}");
    let unit = text.chars().last().ok_or_else(error)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(error()),
    };
    let number: i64 = text[..text.len() - 1].parse().map_err(|_| error())?;
    number.checked_mul(seconds * 1000).filter(|millis| *millis > 0).ok_or_else(error)
}

#[test]
fn times_are_parsed() {
    assert_eq!(parse_milliseconds("30m"), Ok(1_800_000));
    assert_eq!(parse_milliseconds("7d"), Ok(604_800_000));
    for wrong in ["", "m", "-1h", "0s", "3", "3µ", "99999999999999999d"] {
        assert!(parse_milliseconds(wrong).is_err(), "{wrong}");
    }
}
