//! The table of repairs: every change that toolmend can make, described once.
//!
//! The engine, the command line, the metrics and the docs all read [`REPAIRS`]. The name of a kind is stable: renaming one
//! is a breaking change. Nothing is repaired here; the rules are in the layers that the rows name.
//!
//! To add a kind, add its row here, write the rule in its layer, and add a case to `corpus/`. The tests name whatever is
//! missing.

use std::ops::Range;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::wire_names::{self, wire_names};

/// The part of the library that makes a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Layer {
    /// Reads text as JSON.
    Syntax,
    /// Fits JSON to the schema.
    Shape,
    /// Resolves the name of the tool.
    Name,
    /// Finds calls in model output.
    Dialect,
}

wire_names!(Layer, "layer", Syntax => "syntax", Shape => "shape", Name => "name", Dialect => "dialect");

/// How certain a repair is. [`Policy`](crate::Policy) sets the highest tier that may be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tier {
    /// There is only one reading.
    Lossless,
    /// The schema or the surrounding structure decides the reading.
    Guided,
    /// The reading is plausible and usually right, but there is another one.
    Assumed,
}

wire_names!(Tier, "tier", Lossless => "lossless", Guided => "guided", Assumed => "assumed");

/// One row of the table of repairs.
///
/// ```
/// let row = toolmend::RepairKind::QuotesReplaced.info();
/// assert_eq!(row.name, "quotes_replaced");
/// assert_eq!(row.example, ("{'a':1}", "{\"a\":1}"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairInfo {
    /// The kind this row describes.
    pub kind: RepairKind,
    /// The stable name.
    pub name: &'static str,
    /// What other repairers call it. These names are accepted wherever a kind is named, and never written.
    pub aliases: &'static [&'static str],
    /// The layer that makes the repair.
    pub layer: Layer,
    /// How certain the repair is.
    pub tier: Tier,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Input and output of a small example. The test suite runs all of them.
    pub example: (&'static str, &'static str),
    /// Whether the reader decides to make this repair, rather than being forced to by how the text is written. Among
    /// the possible readings of a text, the one with fewer guesses wins.
    pub is_guess: bool,
    /// Whether only an explicit [`Policy::with`](crate::Policy::with) turns this repair on, because it changes values
    /// that are valid or drops something that the model wrote.
    pub is_opt_in: bool,
}

/// The flags of a row that names none.
const NO_FLAGS: RepairInfo = RepairInfo {
    kind: RepairKind::FenceRemoved,
    name: "",
    aliases: &[],
    layer: Layer::Syntax,
    tier: Tier::Lossless,
    summary: "",
    example: ("", ""),
    is_guess: false,
    is_opt_in: false,
};

macro_rules! repair_table {
    ($($variant:ident, $layer:ident, $tier:ident $(+ $flag:ident)*, $name:literal $(aka $($alias:literal)+)?, $summary:literal, $before:literal => $after:literal;)*) => {
        /// A kind of repair.
        ///
        /// ```
        /// use toolmend::RepairKind;
        /// assert_eq!(RepairKind::KeyQuoted.to_string(), "key_quoted");
        /// assert_eq!("key_quoted".parse(), Ok(RepairKind::KeyQuoted));
        /// // What aijson calls the same repair.
        /// assert_eq!("drop_null".parse(), Ok(RepairKind::NullDropped));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum RepairKind {
            $(#[doc = $summary] $variant,)*
        }

        /// Every kind of repair with its layer, tier, summary and an example, in the order of [`RepairKind`].
        ///
        /// ```
        /// let opt_in: Vec<_> = toolmend::REPAIRS.iter().filter(|row| row.is_opt_in).map(|row| row.name).collect();
        /// assert_eq!(opt_in, ["code_quotes_normalised", "unknown_key_dropped"]);
        /// ```
        pub static REPAIRS: &[RepairInfo] = &[
            $(RepairInfo {
                kind: RepairKind::$variant,
                name: $name,
                layer: Layer::$layer,
                tier: Tier::$tier,
                summary: $summary,
                example: ($before, $after),
                $(aliases: &[$($alias),+],)?
                $($flag: true,)*
                ..NO_FLAGS
            },)*
        ];
    };
}

repair_table! {
    // Around the document.
    FenceRemoved, Syntax, Lossless, "fence_removed", "a Markdown fence around the value was removed", "```json\n{\"a\":1}\n```" => "{\"a\":1}";
    ProseRemoved, Syntax, Guided, "prose_removed", "text before or after the value was removed", "Sure: {\"a\":1} Done." => "{\"a\":1}";
    SpecialTokenRemoved, Syntax, Lossless, "special_token_removed", "residue of a chat template was removed", "{\"a\":1}<|im_end|>" => "{\"a\":1}";
    UnicodeSpaceReplaced, Syntax, Lossless, "unicode_space_replaced", "a byte order mark, no-break or zero-width space between tokens became a plain space", "{\"a\":\u{a0}1}" => "{\"a\": 1}";
    LiteralWhitespaceRemoved, Syntax, Lossless, "literal_whitespace_removed", "an escape such as \\n written between tokens became white space", "{\\n\"a\":1}" => "{ \"a\":1}";
    CommentRemoved, Syntax, Lossless, "comment_removed", "a comment between tokens was removed", "{\"a\":1 /* one */}" => "{\"a\":1 }";
    DuplicateValueRemoved, Syntax, Lossless, "duplicate_value_removed", "the same value written again was dropped", "{\"a\":1}{\"a\":1}" => "{\"a\":1}";
    EmptyValueRemoved, Syntax, Lossless, "empty_value_removed", "an empty object beside the real one was dropped", "{}{\"a\":1}" => "{\"a\":1}";
    ReasoningRemoved, Syntax, Lossless, "reasoning_removed", "marked reasoning before the value was set aside", "<think>a?</think>{\"a\":1}" => "{\"a\":1}";
    ObjectsMerged, Syntax, Guided, "objects_merged", "members of an object that was closed too early were put into it", "{\"a\":1}, {\"b\":2}" => "{\"a\":1, \"b\":2}";
    RestartRemoved, Syntax, Guided, "restart_removed", "the start of an object that the model began again was dropped", "{\"a\":\"x\"{\"a\":\"x\",\"b\":2}" => "{\"a\":\"x\",\"b\":2}";
    // Encodings of the whole document.
    OverEscapingRemoved, Syntax, Guided, "over_escaping_removed", "one level of escaping over the whole value was removed", "{\\\"a\\\":1}" => "{\"a\":1}";
    DoubleEncodingRemoved, Syntax, Guided, "double_encoding_removed", "a value written inside a JSON string was taken out of it", "\"{\\\"a\\\":1}\"" => "{\"a\":1}";
    HtmlEntitiesDecoded, Syntax, Guided, "html_entities_decoded", "HTML entities used as quotes were decoded", "{&quot;a&quot;:1}" => "{\"a\":1}";
    LinePrefixRemoved, Syntax, Lossless, "line_prefix_removed", "a mark before every line, such as that of a quotation, was removed", "> {\"a\":\n> 1}" => "{\"a\":\n1}";
    // Quotes.
    QuotesReplaced, Syntax, Lossless, "quotes_replaced", "single, curly, backtick or other quotes became double quotes", "{'a':1}" => "{\"a\":1}";
    TripleQuotesReplaced, Syntax, Lossless, "triple_quotes_replaced", "triple quotes became double quotes", "{\"a\":\"\"\"x\"\"\"}" => "{\"a\":\"x\"}";
    InnerQuoteEscaped, Syntax, Guided, "inner_quote_escaped", "a quote inside a string was escaped", "{\"a\":\"say \"hi\" now\"}" => "{\"a\":\"say \\\"hi\\\" now\"}";
    DoubledQuoteRemoved, Syntax, Guided + is_guess, "doubled_quote_removed", "a quote written twice was written once", "{\"a\":\"\"x\"}" => "{\"a\":\"x\"}";
    MissingQuoteAdded, Syntax, Guided + is_guess, "missing_quote_added", "the missing quote of a key or string was added", "{\"a:1}" => "{\"a\":1}";
    KeyQuoted, Syntax, Lossless, "key_quoted", "a bare key was quoted", "{a:1}" => "{\"a\":1}";
    ValueQuoted, Syntax, Assumed, "value_quoted", "a bare value was quoted", "{\"a\":New York}" => "{\"a\":\"New York\"}";
    // Inside strings.
    ControlCharacterEscaped, Syntax, Lossless, "control_character_escaped", "a raw newline or control character in a string was escaped", "{\"a\":\"x\ny\"}" => "{\"a\":\"x\\ny\"}";
    InvalidEscapeFixed, Syntax, Guided, "invalid_escape_fixed", "a backslash that starts no JSON escape was doubled or rewritten", "{\"a\":\"\\d+\"}" => "{\"a\":\"\\\\d+\"}";
    EscapedApostropheFixed, Syntax, Lossless, "escaped_apostrophe_fixed", "the backslash before an apostrophe was removed", "{\"a\":\"it\\'s\"}" => "{\"a\":\"it's\"}";
    OverEscapedQuoteFixed, Syntax, Guided, "over_escaped_quote_fixed", "a quote escaped once too often was escaped once", "{\"a\":\"say \\\\\"hi\\\\\" now\"}" => "{\"a\":\"say \\\"hi\\\" now\"}";
    LiteralsJoined, Syntax, Guided, "literals_joined", "string literals written side by side or added became one string", "{\"a\":\"x\" + \"y\"}" => "{\"a\":\"xy\"}";
    // Punctuation.
    TrailingCommaRemoved, Syntax, Lossless, "trailing_comma_removed", "a comma before a closer was removed", "{\"a\":1,}" => "{\"a\":1}";
    ExtraCommaRemoved, Syntax, Guided + is_guess, "extra_comma_removed", "a comma with nothing before it was removed", "{\"a\":1,,\"b\":2}" => "{\"a\":1,\"b\":2}";
    MissingCommaAdded, Syntax, Guided + is_guess, "missing_comma_added", "the comma between two members was added", "{\"a\":1 \"b\":2}" => "{\"a\":1, \"b\":2}";
    MissingColonAdded, Syntax, Guided + is_guess, "missing_colon_added", "the colon after a key was added", "{\"a\" 1}" => "{\"a\": 1}";
    ColonReplaced, Syntax, Lossless, "colon_replaced", "an equals sign or arrow after a key became a colon", "{\"a\" => 1}" => "{\"a\" : 1}";
    FullwidthPunctuationReplaced, Syntax, Lossless, "fullwidth_punctuation_replaced", "full-width punctuation became ASCII", "{\"a\"：1}" => "{\"a\":1}";
    MissingOpenerAdded, Syntax, Guided + is_guess, "missing_opener_added", "the opening brace was added", "\"a\":1}" => "{\"a\":1}";
    MissingCloserAdded, Syntax, Guided + is_guess, "missing_closer_added", "a missing closing bracket was added", "{\"a\":[\"x\"]" => "{\"a\":[\"x\"]}";
    ExtraOpenerRemoved, Syntax, Guided + is_guess, "extra_opener_removed", "an opening bracket written twice was removed", "{{\"a\":1}}" => "{\"a\":1}";
    ExtraCloserRemoved, Syntax, Guided + is_guess, "extra_closer_removed", "a closing bracket with nothing to close was removed", "{\"a\":1}}" => "{\"a\":1}";
    CloserReplaced, Syntax, Guided + is_guess, "closer_replaced", "a closing bracket of the wrong kind was replaced", "{\"a\":[1},\"b\":2}" => "{\"a\":[1],\"b\":2}";
    ExtraColonRemoved, Syntax, Guided + is_guess, "extra_colon_removed", "a colon written twice was written once", "{\"a\"::1}" => "{\"a\":1}";
    MarkCorrected, Syntax, Guided + is_guess, "mark_corrected", "a mistyped bracket, quote, comma or colon was corrected", "{\"a\":1;\"b\":2}" => "{\"a\":1,\"b\":2}";
    MarksSwapped, Syntax, Guided + is_guess, "marks_swapped", "two marks in the wrong order were swapped", "{\"a:\" \"x\"}" => "{\"a\": \"x\"}";
    DelimiterUnescaped, Syntax, Guided + is_guess, "delimiter_unescaped", "the backslash before a quote that delimits a string was removed", "{\"a\":\\\"x\"}" => "{\"a\":\"x\"}";
    RepeatedTokenRemoved, Syntax, Guided + is_guess, "repeated_token_removed", "a key or value written twice in a row was written once", "{\"a\"\"a\":1}" => "{\"a\":1}";
    // Literals.
    LiteralSpelled, Syntax, Lossless, "literal_spelled", "True, None and their like became JSON literals", "{\"a\":True}" => "{\"a\":true}";
    NotANumberToNull, Syntax, Guided, "not_a_number_to_null", "NaN or an infinity became null where null is allowed", "{\"a\":NaN}" => "{\"a\":null}";
    NumberSpelled, Syntax, Guided, "number_spelled", "a number was written the JSON way", "{\"a\":+5}" => "{\"a\":5}";
    // Other notations.
    CallSyntaxRead, Syntax, Guided, "call_syntax_read", "a function call was read as an object of its arguments", "add(a=1, b=2)" => "{\"a\":1, \"b\":2}";
    KeyValueTextRead, Syntax, Assumed, "key_value_text_read", "key=value text was read as an object", "a=1, b=2" => "{\"a\":1, \"b\":2}";
    KeyLinesRead, Syntax, Guided, "key_lines_read", "lines with a key and its value were read as an object", "a: x\nb: 2" => "{\"a\":\"x\",\"b\":2}";
    YamlRead, Syntax, Guided, "yaml_read", "YAML was read as an object", "a: |-\n  x\n  y\nb: 2" => "{\"a\":\"x\\ny\",\"b\":2}";
    TomlRead, Syntax, Guided, "toml_read", "TOML was read as an object", "[arguments]\na = 'x'\nb = 2" => "{\"a\":\"x\",\"b\":2}";
    QueryStringRead, Syntax, Guided, "query_string_read", "a query string was read as an object", "a=x%20y&b=2" => "{\"a\":\"x y\",\"b\":2}";
    ArrowArrayRead, Syntax, Guided, "arrow_array_read", "an array of PHP or a hash of Ruby was read as an object", "['a' => 'x', 'b' => 2]" => "{\"a\":\"x\",\"b\":2}";
    XmlAttributesRead, Syntax, Guided, "xml_attributes_read", "the attributes of an XML element were read as an object", "<call a=\"x\" b=\"2\"/>" => "{\"a\":\"x\",\"b\":2}";
    CommandLineRead, Syntax, Assumed, "command_line_read", "command-line text was read as an object", "read --file main.go" => "{\"file\":\"main.go\"}";
    MainFieldWrapped, Syntax, Assumed, "main_field_wrapped", "a plain value was put into the tool's main field", "main.go" => "{\"file\":\"main.go\"}";
    // Shape.
    EmptyArgumentsFilled, Shape, Lossless, "empty_arguments_filled", "no arguments became an empty object", "" => "{}";
    StringToNumber, Shape, Guided, "string_to_number", "a number in a string became a number", "{\"n\":\"42\"}" => "{\"n\":42}";
    StringToBoolean, Shape, Guided, "string_to_boolean", "a boolean in a string became a boolean", "{\"b\":\"true\"}" => "{\"b\":true}";
    StringToNull, Shape, Guided, "string_to_null", "the word null in a string became null", "{\"z\":\"null\"}" => "{\"z\":null}";
    NumberToBoolean, Shape, Guided, "number_to_boolean", "0 or 1 became a boolean", "{\"b\":1}" => "{\"b\":true}";
    ScalarToString, Shape, Lossless, "scalar_to_string", "a number or boolean became a string of its text", "{\"s\":42}" => "{\"s\":\"42\"}";
    FloatToInteger, Shape, Lossless, "float_to_integer", "a whole number written with a fraction became an integer", "{\"n\":42.0}" => "{\"n\":42}";
    StringToContainer, Shape, Guided, "string_to_container" aka "json_string_to_array" "unwrap_string_array", "an array or object written inside a string was taken out of it", "{\"l\":\"[1,2]\"}" => "{\"l\":[1,2]}";
    ValueToArray, Shape, Guided, "value_to_array" aka "bare_string_to_array" "wrap_in_array", "a single value became an array of one", "{\"l\":1}" => "{\"l\":[1]}";
    PlaceholderUnwrapped, Shape, Guided, "placeholder_unwrapped" aka "wrap_object_in_array", "an object that only wraps a value was replaced by the value", "{\"l\":{\"item\":[1]}}" => "{\"l\":[1]}";
    ElementUnwrapped, Shape, Guided, "element_unwrapped", "an array of one was replaced by its element, or one of two nested arrays was removed", "{\"s\":[\"x\"]}" => "{\"s\":\"x\"}";
    IndexedObjectToArray, Shape, Guided, "indexed_object_to_array", "an object whose keys count its values became an array of them", "{\"l\":{\"0\":1,\"1\":2}}" => "{\"l\":[1, 2]}";
    ListToObject, Shape, Guided, "list_to_object", "a list of names and values became an object", "[[\"s\", \"x\"]]" => "{\"s\": \"x\"}";
    ListTextSplit, Shape, Guided, "list_text_split", "a list of numbers or listed words in a string became an array", "{\"l\":\"1, 2\"}" => "{\"l\":[1,2]}";
    ContainerToText, Shape, Guided, "container_to_text", "an object or array became its own text, in a field that holds the text of a JSON file or request", "{\"path\":\"a.json\",\"content\":{\"x\":1}}" => "{\"path\":\"a.json\",\"content\":\"{\\\"x\\\":1}\"}";
    EmptyObjectToArray, Shape, Lossless, "empty_object_to_array" aka "object_to_array", "{} became [] where an array is wanted", "{\"l\":{}}" => "{\"l\":[]}";
    EmptyArrayToObject, Shape, Lossless, "empty_array_to_object", "[] became {} where an object is wanted", "[]" => "{}";
    NullDropped, Shape, Lossless, "null_dropped" aka "null_stripped" "drop_null", "null for an optional field was dropped", "{\"s\":\"x\",\"o\":null}" => "{\"s\":\"x\"}";
    EmptyStringDropped, Shape, Guided, "empty_string_dropped", "an empty string that the optional field cannot hold was dropped", "{\"s\":\"x\",\"n\":\"\"}" => "{\"s\":\"x\"}";
    EnumMatched, Shape, Guided, "enum_matched", "a value was respelled as the one declared value it matches", "{\"e\":\"Red\"}" => "{\"e\":\"red\"}";
    KeyRespelled, Shape, Guided, "key_respelled", "a key was respelled as the one declared key it matches", "{\"userId\":1}" => "{\"user_id\":1}";
    KeyRenamed, Shape, Assumed, "key_renamed", "a key took the name of the declared key that it resembles", "{\"file\":\"x\"}" => "{\"path\":\"x\"}";
    PathsUnflattened, Shape, Guided, "paths_unflattened", "keys such as `a[0].b` were rebuilt into arrays and objects", "{\"a[0].b\":1}" => "{\"a\":[{\"b\":1}]}";
    ValueLifted, Shape, Guided, "value_lifted", "a required value buried in a container was lifted to its place", "{\"opts\":[{\"path\":\"x\"}]}" => "{\"opts\":[{}],\"path\":\"x\"}";
    EnvelopeRemoved, Shape, Guided, "envelope_removed", "a wrapper around the arguments was removed", "{\"arguments\":{\"s\":\"x\"}}" => "{\"s\":\"x\"}";
    ToolLabelDropped, Shape, Guided, "tool_label_dropped", "the tool's own name beside its arguments was dropped", "{\"tool\":\"read\",\"s\":\"x\"}" => "{\"s\":\"x\"}";
    DefaultFilled, Shape, Guided, "default_filled", "a default that the schema declares was filled in", "{}" => "{\"d\":1}";
    RelationalDefaultFilled, Shape, Guided, "relational_default_filled", "a default that the tool declares for fields that belong together was filled in", "{\"limit\":5}" => "{\"limit\":5,\"offset\":0}";
    LinkUnwrapped, Shape, Guided, "link_unwrapped" aka "md_link_unwrapped", "a path written as a link to itself became the path", "{\"path\":\"[a.md](http://a.md)\"}" => "{\"path\":\"a.md\"}";
    SwallowedParameterSplit, Shape, Guided, "swallowed_parameter_split", "a parameter swallowed by the string before it was split off", "{\"content\":\"x</content>\\n<parameter name=\\\"path\\\">p\"}" => "{\"content\":\"x\",\"path\":\"p\"}";
    CodeQuotesNormalised, Shape, Assumed + is_opt_in, "code_quotes_normalised", "curly quotes in code became straight", "{\"content\":\"print(“x”)\"}" => "{\"content\":\"print(\\\"x\\\")\"}";
    UnknownKeyDropped, Shape, Assumed + is_opt_in, "unknown_key_dropped", "a key that a closed schema does not know was dropped", "{\"s\":\"x\",\"bogus\":1}" => "{\"s\":\"x\"}";
    // Names.
    NameRespelled, Name, Lossless, "name_respelled", "the tool's name was respelled as the one declared name it matches", "Read-File" => "read_file";
    NameCleaned, Name, Lossless, "name_cleaned", "residue of a chat template or a namespace was removed from the tool's name", "functions.read_file" => "read_file";
    ArgumentsTakenFromName, Name, Guided, "arguments_taken_from_name", "arguments glued to the tool's name were separated from it", "read_file{\"path\":\"x\"}" => "read_file";
    ToolInferred, Name, Assumed, "tool_inferred", "the one tool that the arguments fit was chosen", "" => "read_file";
    // Dialects.
    MarkupMended, Dialect, Guided, "markup_mended", "markup of the call that was missing or misspelt was taken for what it must be", "<tool_call>{\"name\":\"f\",\"arguments\":{}</tool_call>" => "{}";
    MarkupRemoved, Dialect, Lossless, "markup_removed", "a marker that belongs to no call, or a special token, was removed from the text", "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>x</tool_call>" => "{}";
    ArgumentsPlaced, Dialect, Assumed, "arguments_placed", "arguments without names were placed in the order in which the schema requires its members", "[f(1, \"x\")]" => "{\"a\": 1, \"b\": \"x\"}";
}

/// A row as `toolmend repairs --format json` prints it.
impl Serialize for RepairInfo {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (before, after) = self.example;
        let mut row = to.serialize_map(None)?;
        row.serialize_entry("kind", self.name)?;
        row.serialize_entry("layer", &self.layer)?;
        row.serialize_entry("tier", &self.tier)?;
        if !self.aliases.is_empty() {
            row.serialize_entry("aliases", self.aliases)?;
        }
        row.serialize_entry("off_by_default", &self.is_opt_in)?;
        row.serialize_entry("summary", self.summary)?;
        row.serialize_entry("example", &Example { before, after })?;
        row.end()
    }
}

#[derive(Serialize)]
struct Example {
    before: &'static str,
    after: &'static str,
}

impl RepairKind {
    /// Returns the row that describes this kind.
    ///
    /// ```
    /// assert!(toolmend::RepairKind::MissingCommaAdded.info().is_guess);
    /// ```
    pub fn info(self) -> &'static RepairInfo {
        &REPAIRS[self as usize]
    }

    /// Returns the stable `snake_case` name.
    ///
    /// ```
    /// assert_eq!(toolmend::RepairKind::FenceRemoved.name(), "fence_removed");
    /// ```
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns how certain this repair is.
    ///
    /// ```
    /// assert_eq!(toolmend::RepairKind::ValueQuoted.tier(), toolmend::Tier::Assumed);
    /// ```
    pub fn tier(self) -> Tier {
        self.info().tier
    }

    /// Returns the layer that makes this repair.
    ///
    /// ```
    /// assert_eq!(toolmend::RepairKind::EnumMatched.layer(), toolmend::Layer::Shape);
    /// ```
    pub fn layer(self) -> Layer {
        self.info().layer
    }

    /// Returns the stable name of what may be an alias. A name that belongs to no kind is returned as it is.
    ///
    /// ```
    /// assert_eq!(toolmend::RepairKind::resolve_alias("drop_null"), "null_dropped");
    /// assert_eq!(toolmend::RepairKind::resolve_alias("call_in_text"), "call_in_text");
    /// ```
    pub fn resolve_alias(name: &str) -> &str {
        RepairKind::from_name(name).map_or(name, |kind| kind.name())
    }

    /// Returns the kind with exactly this name or alias.
    ///
    /// ```
    /// use toolmend::RepairKind;
    /// assert_eq!(RepairKind::from_name("md_link_unwrapped"), Some(RepairKind::LinkUnwrapped));
    /// assert_eq!(RepairKind::from_name("magic"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        REPAIRS.iter().find(|row| row.name == name || row.aliases.contains(&name)).map(|row| row.kind)
    }
}

wire_names::conversions!(RepairKind, "repair kind", REPAIRS.iter().map(|row| row.name));

/// One change that was made.
///
/// ```
/// let verdict = toolmend::fix("{a: 1}");
/// let repair = &verdict.repairs()[0];
/// assert_eq!((repair.kind.name(), repair.path.as_str(), repair.at.clone()), ("key_quoted", "/a", Some(1..2)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// What was changed.
    pub kind: RepairKind,
    /// JSON pointer of the value in the mended document.
    pub path: String,
    /// Half-open byte range in the input; `None` if the arguments were a parsed value.
    pub at: Option<Range<usize>>,
}

impl Repair {
    pub(crate) fn new(kind: RepairKind, path: String, at: Option<Range<usize>>) -> Self {
        Repair { kind, path, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_kinds_and_names_are_unique() {
        let mut names = std::collections::HashSet::new();
        for (index, row) in REPAIRS.iter().enumerate() {
            assert_eq!(row.kind as usize, index, "{}", row.name);
            for name in row.aliases.iter().chain([&row.name]) {
                assert!(names.insert(*name), "{name} is in the table twice");
                assert_eq!(RepairKind::from_name(name), Some(row.kind));
            }
        }
    }
}
