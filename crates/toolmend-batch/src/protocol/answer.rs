//! Answers of the batch protocol: one line of JSON per record or file, as `batch` and `fix --format json` print it.
//!
//! A line says what it answers and how that went. The fields of verdicts and turns are those of
//! [`Encoding`](toolmend::Encoding); none of them is defined here.

use serde::Serialize;
use serde_json::value::RawValue;

/// A finished line of the protocol.
#[derive(Debug)]
pub struct Answer {
    line: Vec<u8>,
    error: Option<String>,
}

/// The id of a record, and the fields of its answer.
#[derive(Serialize)]
struct ToRecord<'a, F: Serialize> {
    id: Option<Box<RawValue>>,
    #[serde(flatten)]
    fields: &'a F,
}

/// The name of a file, and the fields of its answer.
#[derive(Serialize)]
struct ToFile<'a, F: Serialize> {
    file: &'a str,
    #[serde(flatten)]
    fields: &'a F,
}

/// The fields of an answer to a line that is not a record.
#[derive(Serialize)]
struct ErrorFields<'a> {
    error: &'a str,
}

impl Answer {
    /// Answers the record with this id, given as JSON text, with the fields of a verdict or a turn.
    ///
    /// ```
    /// use toolmend_batch::protocol::Answer;
    /// let line = Answer::to_record(Some("7"), &toolmend::fix("[1,]")).into_line();
    /// assert!(line.starts_with(br#"{"id":7,"outcome":"mended","value":[1],"#));
    /// ```
    pub fn to_record(id: Option<&str>, fields: &impl Serialize) -> Self {
        // The id was read from a record, so it is JSON.
        let id = id.and_then(|id| RawValue::from_string(toolmend::compact_json(id)).ok());
        Answer { line: write_line(&ToRecord { id, fields }), error: None }
    }

    /// Answers for the file of this name with the fields of a verdict or a turn.
    ///
    /// ```
    /// use toolmend_batch::protocol::Answer;
    /// let line = Answer::to_file("a.json", &toolmend::fix("{}")).into_line();
    /// assert_eq!(line, b"{\"file\":\"a.json\",\"outcome\":\"clean\",\"value\":{},\"repairs\":[]}\n");
    /// ```
    pub fn to_file(name: &str, fields: &impl Serialize) -> Self {
        Answer { line: write_line(&ToFile { file: name, fields }), error: None }
    }

    /// Answers a line that is not a record with what is wrong with it.
    ///
    /// ```
    /// use toolmend_batch::protocol::Answer;
    /// assert_eq!(Answer::error(None, "not JSON").into_line(), b"{\"id\":null,\"error\":\"not JSON\"}\n");
    /// ```
    pub fn error(id: Option<&str>, message: &str) -> Self {
        let answer = Answer::to_record(id, &ErrorFields { error: message });
        Answer { error: Some(message.to_owned()), ..answer }
    }

    /// Returns what is wrong with the line, if it is not a record.
    pub fn error_text(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the line, with its final newline.
    pub fn into_line(self) -> Vec<u8> {
        self.line
    }
}

fn write_line(fields: &impl Serialize) -> Vec<u8> {
    // Verdicts and turns always have a JSON form, and a vector takes every write.
    let mut line = serde_json::to_vec(fields).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_strings_keep_their_spelling() {
        let text = "{ \"a\" : 1.10,\n \"b\": 123456789012345678901234567890, \"c\": \"\\u00e9\\/\" }";
        let line = Answer::to_record(Some("\"x\""), &toolmend::fix(text)).into_line();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"id\":\"x\",\"outcome\":\"clean\",\"value\":{\"a\":1.10,\"b\":123456789012345678901234567890,\"c\":\"\\u00e9\\/\"},\"repairs\":[]}\n"
        );
    }

    #[test]
    fn an_error_is_a_line_too() {
        let line = Answer::error(None, "a \"b\"").into_line();
        assert_eq!(line, b"{\"id\":null,\"error\":\"a \\\"b\\\"\"}\n");
    }
}
