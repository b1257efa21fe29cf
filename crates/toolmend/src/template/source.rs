//! Where a chat template comes from.

use std::fmt;

use serde_json::Value;

/// A chat template, as it is shipped with a model.
///
/// It shows how the model writes calls. [`learn`](ChatTemplate::learn) finds the dialect in it.
///
/// ```
/// use toolmend::ChatTemplate;
/// let template = ChatTemplate::new(concat!(
///     "{% for message in messages %}<|{{ message.role }}|>{{ message.content or '' }}",
///     "{% for call in message.tool_calls or [] %}",
///     "<|act|>{{ call.function.name }}<|with|>{{ call.function.arguments | tojson }}<|done|>",
///     "{% endfor %}<|end|>{% endfor %}",
///     "{% if add_generation_prompt %}<|assistant|>{% endif %}",
/// ));
/// let learned = template.learn("acme").unwrap();
/// assert_eq!(learned.dialect(), "acme");
/// assert!(learned.toml().contains(r#"call = "<|act|>{name}<|with|>{arguments}<|done|>""#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatTemplate {
    pub(super) jinja: Option<String>,
    /// The special tokens that templates know by name, such as `eos_token`.
    pub(super) tokens: Vec<(String, String)>,
    /// The declarative description of the model's answers.
    pub(super) response_template: Option<Value>,
}

/// Why nothing can be learned from a chat template.
///
/// It shows what was expected and what was found, with the text in question.
///
/// ```
/// let template = toolmend::ChatTemplate::new("{{ messages[0].content }}");
/// let error = template.learn("acme").unwrap_err();
/// assert!(error.to_string().contains("does not write the call"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    message: String,
}

impl TemplateError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        TemplateError { message: message.into() }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TemplateError {}

impl ChatTemplate {
    /// A template in Jinja.
    ///
    /// ```
    /// let template = toolmend::ChatTemplate::new("{{ messages[0].content }}");
    /// assert!(template.learn("acme").is_err(), "it writes no calls");
    /// ```
    pub fn new(jinja: impl Into<String>) -> Self {
        ChatTemplate { jinja: Some(jinja.into()), tokens: Vec::new(), response_template: None }
    }

    /// The template in the text of a `tokenizer_config.json`: its `chat_template`, with the names of the special tokens.
    ///
    /// If there are several templates, the one for tools is used. A `response_template` is used if the template shows no
    /// calls.
    ///
    /// # Errors
    /// If the text is not JSON, or has neither a `chat_template` nor a `response_template`.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// let config = r#"{"chat_template": "{{ messages[0].content }}", "eos_token": "</s>"}"#;
    /// assert_eq!(ChatTemplate::from_tokenizer_config(config), Ok(
    ///     ChatTemplate::new("{{ messages[0].content }}").with_token("eos_token", "</s>"),
    /// ));
    /// ```
    pub fn from_tokenizer_config(json: &str) -> Result<Self, TemplateError> {
        let template = Self::from_config_without_template(json)?;
        if template.jinja.is_none() && template.response_template.is_none() {
            let message = "expected `chat_template` or `response_template` in the configuration of the tokenizer, found \
                           neither; newer models keep the template in the file chat_template.jinja";
            return Err(TemplateError::new(message));
        }
        Ok(template)
    }

    /// The same for a configuration whose template may be in a file of its own.
    ///
    /// # Errors
    /// If the text is not JSON.
    fn from_config_without_template(json: &str) -> Result<Self, TemplateError> {
        let config: Value = serde_json::from_str(json).map_err(|error| {
            TemplateError::new(format!("expected the configuration of a tokenizer as JSON: {error}"))
        })?;
        let tokens = config.as_object().into_iter().flatten().filter(|(name, _)| name.ends_with("_token"));
        // A token is its text, or an object with it.
        let text = |token: &Value| token.as_str().or(token["content"].as_str()).map(str::to_owned);
        let tokens = tokens.filter_map(|(name, token)| Some((name.clone(), text(token)?)));
        Ok(ChatTemplate {
            jinja: chat_template(&config["chat_template"]).map(str::to_owned),
            tokens: tokens.collect(),
            response_template: Some(config["response_template"].clone()).filter(Value::is_object),
        })
    }

    /// A template in Jinja, with the text of the `tokenizer_config.json` beside it.
    ///
    /// # Errors
    /// If the configuration is not JSON.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// let template = ChatTemplate::with_tokenizer_config("{{ eos_token }}", r#"{"eos_token": "</s>"}"#);
    /// assert_eq!(template, Ok(ChatTemplate::new("{{ eos_token }}").with_token("eos_token", "</s>")));
    /// ```
    pub fn with_tokenizer_config(jinja: impl Into<String>, json: &str) -> Result<Self, TemplateError> {
        let config = Self::from_config_without_template(json)?;
        Ok(ChatTemplate { jinja: Some(jinja.into()), ..config })
    }

    /// Adds a special token that the template knows by name, such as `eos_token`.
    ///
    /// ```
    /// use toolmend::ChatTemplate;
    /// let template = ChatTemplate::new("{{ messages[0].content }}{{ eos_token }}").with_token("eos_token", "</s>");
    /// # let _ = template;
    /// ```
    #[must_use]
    pub fn with_token(mut self, name: impl Into<String>, token: impl Into<String>) -> Self {
        self.tokens.push((name.into(), token.into()));
        self
    }
}

/// The template of a configuration: one text, or a list of named ones.
fn chat_template(template: &Value) -> Option<&str> {
    let Some(list) = template.as_array() else { return template.as_str() };
    let named = |name: &str| list.iter().find(|template| template["name"] == name);
    let chosen = named("tool_use").or_else(|| named("default")).or(list.first())?;
    chosen["template"].as_str()
}
