//! Rows whose calls are written as in Python, and those of Gemma.

use super::{Dialect, Form, INFERRED, PYTHON, ROW, Recognition, Values};

pub(super) const ROWS: &[Dialect] = &[
    Dialect {
        name: "lfm2",
        families: "LFM2, LFM2.5",
        reasoning: "think",
        marks: &["<|tool_call_start|>"],
        section: ("<|tool_call_start|>[", "]<|tool_call_end|>"),
        ..PYTHON
    },
    Dialect {
        name: "olmo3",
        families: "OLMo 3",
        reasoning: "think",
        marks: &["<function_calls>"],
        section: ("<function_calls>\n", "\n</function_calls>"),
        join: "\n",
        ..PYTHON
    },
    Dialect {
        name: "llama_builtin",
        families: "Llama 3 built-in tools",
        marks: &["<|python_tag|>"],
        call: "<|python_tag|>{name}.call({parameters})",
        join: "\n",
        recognised_by: &[Recognition::InterpreterCode],
        has_models: false,
        ..PYTHON
    },
    Dialect {
        name: "tool_code",
        families: "Gemma 3, Gemini",
        source: INFERRED,
        marks: &["tool_code"],
        section: ("```tool_code\n", "\n```"),
        call: "print(default_api.{name}({parameters}))",
        join: "\n",
        recognised_by: &[Recognition::Program],
        fence_labels: &["tool_code", "python", "py"],
        ..PYTHON
    },
    Dialect {
        name: "py_call",
        families: "NexusRaven, Gorilla, any",
        source: INFERRED,
        marks: &["<<function>>", "Call:"],
        join: "\n",
        recognised_by: &[Recognition::PythonLine],
        ..PYTHON
    },
    Dialect {
        name: "pythonic",
        families: "Llama 4, Llama 3.2, ToolACE, Gemma 3",
        source: INFERRED,
        section: ("[", "]"),
        is_fallback: true,
        ..PYTHON
    },
    Dialect {
        name: "gemma4",
        families: "Gemma 4",
        form: Form::Gemma,
        reasoning: "gemma4",
        marks: &["<|tool_call>", "call:"],
        call: "<|tool_call>call:{name}{{parameters}}<tool_call|>",
        parameter: "{key}:{value}",
        values: Values::Quoted("<|\"|>"),
        is_fallback: true,
        recognised_by: &[Recognition::GemmaLine],
        ..ROW
    },
    Dialect {
        name: "functiongemma",
        families: "FunctionGemma",
        form: Form::Gemma,
        marks: &["<start_function_call>"],
        call: "<start_function_call>call:{name}{{parameters}}<end_function_call>",
        parameter: "{key}:{value}",
        values: Values::Quoted("<escape>"),
        ..ROW
    },
];
