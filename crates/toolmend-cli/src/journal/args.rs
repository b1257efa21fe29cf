//! The command line of `toolmend journal`.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand, ValueEnum};
use toolmend_journal::{Filter, Id, Location};

use crate::args::Format;

/// Look into the journal that `toolmend serve` keeps: calls that were mended or refused.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct JournalArgs {
    /// Where it is: a file, or a PostgreSQL URL. The file that `toolmend serve` writes where nothing is said.
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
        /// How many.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        /// Only those before this one: the next page.
        #[arg(long, value_name = "ID")]
        before: Option<Id>,
        /// `json` writes one object a line.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Show one entry: where it came from, what was changed, and the difference.
    Show {
        /// Its id.
        id: Id,
    },
    /// Write entries in full, one JSON object a line, the newest first.
    Export {
        #[command(flatten)]
        filter: FilterArgs,
    },
    /// Turn an entry into a case for the corpus, so that it cannot happen again unnoticed.
    ToCorpus {
        /// Its id.
        id: Id,
    },
}

/// Which entries.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only by this model.
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// Only of this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only with this outcome.
    #[arg(long, value_enum)]
    outcome: Option<OutcomeArg>,
    /// Only with a repair of this kind; `toolmend repairs` lists them.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only on this surface, for example `chat`.
    #[arg(long, value_name = "NAME")]
    surface: Option<String>,
    /// Only by this server.
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Only of this last time: `30m`, `2h`, `7d`.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    since: Option<i64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OutcomeArg {
    Mended,
    Truncated,
    Rejected,
}

impl OutcomeArg {
    fn name(self) -> &'static str {
        match self {
            OutcomeArg::Mended => "mended",
            OutcomeArg::Truncated => "truncated",
            OutcomeArg::Rejected => "rejected",
        }
    }
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
            outcome: self.outcome.map(|outcome| outcome.name().to_owned()),
            kind: self.kind.clone(),
            since: self.since.map(|millis| now - millis),
            until: None,
        }
    }
}

/// Milliseconds of a time such as `30m`.
fn duration(text: &str) -> Result<i64, String> {
    let wrong = || format!("expected a time such as 30m, 2h or 7d, found {text:?}");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: i64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(seconds * 1000).filter(|millis| *millis > 0).ok_or_else(wrong)
}

#[test]
fn times_are_read() {
    assert_eq!(duration("30m"), Ok(1_800_000));
    assert_eq!(duration("7d"), Ok(604_800_000));
    for wrong in ["", "m", "-1h", "0s", "3", "3µ", "99999999999999999d"] {
        assert!(duration(wrong).is_err(), "{wrong}");
    }
}
