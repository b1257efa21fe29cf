//! The table of markers: special tokens with their roles, and words of tags with their meanings.
//!
//! This is data. A new dialect adds its markers here if no other dialect has them. A marker has one meaning for all
//! rows.

/// What follows a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextPart {
    /// Whatever the text looks like.
    Body,
    /// The name of a tool.
    Name,
    /// The id of the call.
    Id,
    /// The arguments.
    Arguments,
    /// The name and the arguments, as in the attributes of a tag: `f" key="value"]`.
    Attributes,
}

/// The two kinds of text in an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    Content,
    Reasoning,
}

/// What a token means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A frame for calls begins.
    Open(NextPart),
    /// The same, but ordinary text can look like this token, so a call has to follow.
    Maybe(NextPart),
    /// Separates the parts of one call.
    Part(NextPart),
    /// Does what a tag with a word of this meaning does.
    // Case: dialects/solar_open2/single
    OpenTag(Word),
    /// The same for a closing tag.
    CloseTag(Word),
    /// A call, or the frame around calls, ends.
    Close,
    /// A section of this kind of text begins.
    Begin(TextKind),
    /// A section ends, and content continues.
    End,
    /// The header of a message begins.
    Header(Header),
    /// The text of a message begins.
    Message,
    /// The message ends.
    MessageEnd,
    /// The result of a tool begins, which a model cannot know.
    Result,
    /// The turn of another speaker begins, which the model cannot write. At the end of an output it means nothing.
    Turn,
    /// Means nothing.
    Noise,
    /// Means nothing, and the text around it is continuous.
    // Case: dialects/deepseek_v31/output-tokens
    Hidden,
    /// Means nothing at the end of the output. Anywhere else it is text.
    Tail,
    /// Ends the output.
    Stop,
}

/// How the header of a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// `<|start|>assistant to=f<|channel|>commentary json<|message|>`
    Channel,
    /// `<|open|>call tool="f"<|sep|>`
    Element,
    /// `<|from|>assistant\n<|recipient|>f\n<|content|>`
    Recipient,
    /// `<|message_model|>f<|content_invoke_tool_json|>`
    Author,
    /// `<|channel>thought\n`
    Label,
}

use Header::{Author, Channel, Element, Label, Recipient};
use NextPart::{Arguments, Body, Id, Name};
use Role::{
    Begin, Close, CloseTag, End, Header as Head, Hidden, Maybe, Message, MessageEnd, Noise, Open, OpenTag,
    Part, Result as Answer, Stop, Tail, Turn,
};
use TextKind::{Content, Reasoning};

/// Special tokens. `|` stands for both bars, `_` for everything that detokenisers make of it.
pub(crate) const TOKENS: &[(&str, Role)] = &[
    // Frames for calls.
    ("<|tool_call|>", Open(Body)),
    ("<|/tool_call|>", Close),
    ("<|tool_call>", Open(Body)),
    ("<tool_call|>", Close),
    ("<|tool_call_start|>", Open(Body)),
    ("<|tool_call_end|>", Close),
    ("<|tool_list_start|>", Open(Body)),
    ("<|tool_list_end|>", Close),
    ("<|tool_calls_section_begin|>", Open(Body)),
    ("<|tool_call_section_begin|>", Open(Body)),
    ("<|tool_calls_section_end|>", Close),
    ("<|tool_call_section_end|>", Close),
    ("<|tool_call_begin|>", Open(Name)),
    ("<|tool_call_argument_begin|>", Part(Arguments)),
    ("<|tool_calls_begin|>", Open(Body)),
    ("<|tool_calls|>", Open(Body)),
    ("<|tool_calls_end|>", Close),
    ("<|tool_sep|>", Part(Body)),
    ("<|calls|>", Close),
    ("<|tool_call:begin|>", Open(Id)),
    ("<|tool_call:name|>", Part(Name)),
    ("<|tool_call:args|>", Part(Arguments)),
    ("<|tool_call:end|>", Close),
    ("<|tool_call:start|>", Open(Body)),
    ("<|tool_arg:start|>", OpenTag(Word::Key)),
    ("<|tool_arg:value|>", OpenTag(Word::Value)),
    ("<|tool_arg:end|>", CloseTag(Word::Value)),
    ("<|plamo:begin_tool_requests:plamo|>", Open(Body)),
    ("<|plamo:begin_tool_request:plamo|>", Open(Body)),
    ("<|plamo:begin_tool_name:plamo|>", Open(Name)),
    ("<|plamo:end_tool_name:plamo|>", Noise),
    ("<|plamo:begin_tool_arguments:plamo|>", Part(Arguments)),
    ("<|plamo:constrain|>json", Noise),
    ("<|plamo:msg|>", Noise),
    ("<|plamo:end_tool_arguments:plamo|>", Close),
    ("<|plamo:end_tool_request:plamo|>", Close),
    ("<|plamo:end_tool_requests:plamo|>", Close),
    ("[unused11]", Maybe(Body)),
    ("[unused12]", Close),
    ("<start_function_call>", Open(Body)),
    ("<end_function_call>", Close),
    ("<|action_start|>", Open(Body)),
    ("<|action_end|>", Close),
    ("<|plugin|>", Noise),
    ("<|interpreter|>", Noise),
    ("<|FunctionCallBegin|>", Open(Body)),
    ("<|FunctionCallEnd|>", Close),
    ("<|tools_prefix|>", Open(Body)),
    ("<|tools_suffix|>", Close),
    ("<|START_ACTION|>", Open(Body)),
    ("<|END_ACTION|>", Close),
    ("<|function_call|>", Open(Body)),
    ("<|python_tag|>", Open(Body)),
    ("<|python_start|>", Open(Body)),
    ("<|python_end|>", Close),
    ("[TOOL_CALLS]", Open(Body)),
    ("[/TOOL_CALLS]", Close),
    ("[TOOL_CALLS", Maybe(Body)),
    ("[ARGS]", Part(Arguments)),
    ("[ARGS", Part(Arguments)),
    ("[CALL_ID]", Part(Id)),
    ("[TOOL_CALL]", Open(Body)),
    ("[/TOOL_CALL]", Close),
    ("[TOOL_REQUEST]", Open(Body)),
    ("[END_TOOL_REQUEST]", Close),
    ("<<<[TOOL_REQUEST]>>>", Open(Body)),
    ("<<<[END_TOOL_REQUEST]>>>", Close),
    ("functools[", Maybe(Body)),
    ("✿FUNCTION✿:", Open(Name)),
    ("✿FUNCTION✿", Open(Name)),
    ("✿ARGS✿:", Part(Arguments)),
    ("✿ARGS✿", Part(Arguments)),
    ("✿RESULT✿", Answer),
    ("✿RETURN✿", Answer),
    ("<<function>>", Open(Body)),
    ("<bot_end>", Stop),
    // Reasoning, and the sections around it.
    ("<|START_THINKING|>", Begin(Reasoning)),
    ("<|END_THINKING|>", End),
    ("<|START_RESPONSE|>", Begin(Content)),
    ("<|END_RESPONSE|>", End),
    ("<|START_TEXT|>", Begin(Content)),
    ("<|END_TEXT|>", End),
    ("[THINK]", Begin(Reasoning)),
    ("[/THINK]", End),
    ("◁think▷", Begin(Reasoning)),
    ("◁/think▷", End),
    ("<|think|>", Begin(Reasoning)),
    ("<|inner_prefix|>", Begin(Reasoning)),
    ("<|inner_suffix|>", End),
    ("<|plamo:begin_think:plamo|>", Begin(Reasoning)),
    ("<|plamo:end_think:plamo|>", End),
    ("<|think:start|>", Begin(Reasoning)),
    ("<|think:end|>", End),
    ("[unused16]", Begin(Reasoning)),
    ("[unused17]", End),
    ("[BEGIN FINAL RESPONSE]", End),
    ("[END FINAL RESPONSE]", Noise),
    // Messages.
    ("<|start|>", Head(Channel)),
    ("<|channel|>", Head(Channel)),
    ("<|constrain|>", Noise),
    ("<|message|>", Message),
    ("<|call|>", MessageEnd),
    ("<|end|>", MessageEnd),
    ("<|return|>", MessageEnd),
    ("<|eom|>", MessageEnd),
    ("<|eot|>", MessageEnd),
    ("<|open|>", Head(Element)),
    ("<|close|>", Head(Element)),
    ("<|sep|>", Noise),
    ("<|end_of_msg|>", Stop),
    ("<|from|>", Head(Recipient)),
    ("<|recipient|>", Head(Recipient)),
    ("<|content|>", Message),
    ("<|stop|>", MessageEnd),
    ("<|message_model|>", Head(Author)),
    ("<|content_invoke_tool_json|>", Open(Body)),
    ("<|content_invoke_tool_text|>", Begin(Content)),
    ("<|content_tool_error|>", Begin(Content)),
    ("<|content_thinking|>", Begin(Reasoning)),
    ("<|content_text|>", Begin(Content)),
    ("<|end_message|>", MessageEnd),
    ("<|content_model_end_sampling|>", Stop),
    ("<|channel>", Head(Label)),
    ("<channel|>", End),
    ("<|message_sep|>", MessageEnd),
    ("<|role_sep|>", Noise),
    ("<|begin|>assistant", Noise),
    ("<|begin|>", Noise),
    // Results that only tools can give.
    ("<|tool_response|>", Answer),
    ("<|tool_response>", Answer),
    ("<|observation|>", Answer),
    ("<|tool_outputs_begin|>", Answer),
    ("<|tool_outputs_end|>", Noise),
    ("<|tool_output_begin|>", Hidden),
    ("<|tool_output_end|>", Hidden),
    ("<start_function_response>", Answer),
    ("[TOOL_RESULTS]", Answer),
    // Ends of turns.
    ("<|ifm|im_end|>", Noise),
    ("<|ifm|im_start|>", Noise),
    ("<|plamo:tag|>", Noise),
    ("<|im:start|>assistant", Noise),
    ("<|im:start|>", Noise),
    ("<|im:content|>", Noise),
    ("<|im:end|>", Noise),
    ("<|endofturn|>", Noise),
    ("<|iquestcoder_assistant|>", Noise),
    ("<|im_end|>", Noise),
    ("<|im_start|>assistant -> tool/function_call", Open(Body)),
    ("<|im_start|>assistant", Noise),
    ("<|im_start|>", Noise),
    ("<|eot_id|>", Noise),
    ("<|eom_id|>", Noise),
    ("<|endoftext|>", Noise),
    ("<|end_of_text|>", Noise),
    ("<|end_of_sentence|>", Noise),
    ("<|end_of_turn|>", Noise),
    ("<|END_OF_TURN_TOKEN|>", Noise),
    ("<|START_OF_TURN_TOKEN|>", Noise),
    ("<|CHATBOT_TOKEN|>", Noise),
    ("<|begin_of_text|>", Noise),
    ("<|begin_of_sentence|>", Noise),
    ("<|im_sep|>", Noise),
    ("<|end_of_role|>", Noise),
    ("<|start_of_role|>assistant<|end_of_role|>", Noise),
    ("<end_of_turn>", Noise),
    ("<end_of_sentence>", Noise),
    ("<|hy_eos:opensource|>", Noise),
    ("<seed:eos>", Noise),
    ("[e~[", Noise),
    ("<SPECIAL_12>", Noise),
    ("<|start_header_id|>assistant<|end_header_id|>", Noise),
    ("<|start_header_id|>", Noise),
    ("<|end_header_id|>", Noise),
    ("<turn|>", Noise),
    ("<|turn>model", Noise),
    ("<EOS>", Tail),
    ("<eos>", Tail),
    ("<sep>", Tail),
    ("</s>", Tail),
    ("</assistant>", Tail),
    // Turns of others.
    ("<|user|>", Turn),
    ("<|User|>", Turn),
    ("<|USER_TOKEN|>", Turn),
    ("<|SYSTEM_TOKEN|>", Turn),
    ("<|im_start|>user", Turn),
    ("<|im_start|>system", Turn),
    ("<|im_start|>developer", Turn),
    ("<|im_start|>tool", Turn),
    ("<|im_start|>function", Turn),
    ("<|ifm|im_start|>user", Turn),
    ("<|ifm|im_start|>tool", Turn),
    ("<|im_user|>", Turn),
    ("<|im_system|>", Turn),
    ("<|im:start|>user", Turn),
    ("<|im:start|>tool", Turn),
    ("<|begin|>user", Turn),
    ("<|begin|>tool", Turn),
    ("<|start_header_id|>user<|end_header_id|>", Turn),
    ("<|start_header_id|>system<|end_header_id|>", Turn),
    ("<|start_header_id|>ipython<|end_header_id|>", Turn),
    ("<|start_header_id|>tool<|end_header_id|>", Turn),
    ("<|header_start|>user<|header_end|>", Turn),
    ("<|header_start|>ipython<|header_end|>", Turn),
    ("<|start_of_role|>user<|end_of_role|>", Turn),
    ("<|start_of_role|>system<|end_of_role|>", Turn),
    ("<|start_of_role|>tool<|end_of_role|>", Turn),
    ("<|start_of_role|>tool_response<|end_of_role|>", Turn),
    ("<start_of_turn>user", Turn),
    ("<|turn>user", Turn),
    ("<|turn>system", Turn),
    ("<|turn>tool", Turn),
    ("</s>[INST]", Turn),
    ("<|assistant|>", Noise),
    ("<|Assistant|>", Noise),
];

/// What the word of a tag means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// A frame for one or several calls.
    Frame,
    /// One call, with its name in the tag.
    Call,
    /// One argument, with its key in the tag.
    Parameter,
    /// The key of an argument.
    Key,
    /// The value of an argument.
    Value,
    /// The type of an argument, between its key and its value.
    // Case: dialects/k2_horizon_typed/single
    Type,
    /// The name of the tool.
    Name,
    /// All arguments.
    Arguments,
    /// Separates the name from the arguments.
    Separator,
    /// Reasoning.
    Think,
    /// The result of a tool.
    Result,
    /// The model's answer, in families that put it into tags.
    // Case: dialects/ernie45/answer
    Answer,
    /// An echo of the declared tools.
    Declarations,
}

/// Words of tags, in lower case and without `-` and `_`.
pub(super) const WORDS: &[(&str, Word)] = &[
    ("toolcall", Word::Frame),
    ("toolcalls", Word::Frame),
    ("toolscall", Word::Frame),
    ("iquestcodertoolcall", Word::Frame),
    ("iquesttoolcall", Word::Frame),
    ("functioncall", Word::Frame),
    ("functioncalls", Word::Frame),
    ("functioninvocation", Word::Frame),
    ("toolrequest", Word::Frame),
    ("toolrequests", Word::Frame),
    ("tooluse", Word::Frame),
    ("toolaction", Word::Frame),
    ("usemcptool", Word::Frame),
    ("tool", Word::Frame),
    ("calls", Word::Frame),
    ("function", Word::Call),
    ("invoke", Word::Call),
    ("rivoke", Word::Call),
    ("callrecord", Word::Call),
    ("parameter", Word::Parameter),
    ("param", Word::Parameter),
    ("argument", Word::Parameter),
    ("argkey", Word::Key),
    ("paramkey", Word::Key),
    ("argvalue", Word::Value),
    ("paramvalue", Word::Value),
    ("argtype", Word::Type),
    ("name", Word::Name),
    ("toolname", Word::Name),
    ("functionname", Word::Name),
    ("arguments", Word::Arguments),
    ("parameters", Word::Arguments),
    ("args", Word::Arguments),
    ("toolsep", Word::Separator),
    ("think", Word::Think),
    ("thinking", Word::Think),
    ("thinkfast", Word::Think),
    ("thinkfaster", Word::Think),
    ("thought", Word::Think),
    ("reasoning", Word::Think),
    ("toolresponse", Word::Result),
    ("toolresult", Word::Result),
    ("tooloutput", Word::Result),
    ("functionresponse", Word::Result),
    ("functionresult", Word::Result),
    ("functionresults", Word::Result),
    ("tools", Word::Declarations),
    ("response", Word::Answer),
    ("answer", Word::Answer),
];
