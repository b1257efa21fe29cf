//! Texts that agents put into arguments, two for each kind.
//!
//! Each text has what makes its kind hard: quotes, backslashes, brackets, commas before quotes, or marks that look like JSON.

/// A kind of text. `short` has one line, `long` usually more.
pub(crate) struct Content {
    pub(crate) name: &'static str,
    pub(crate) short: &'static str,
    pub(crate) long: &'static str,
}

pub(crate) const PLAIN: Content =
    Content { name: "plain", short: "weekly report", long: "Send it to Ann, then archive the thread." };

pub(crate) const ALL: &[Content] = &[
    PLAIN,
    Content {
        name: "rust",
        short: "println!(\"{:?}\", &v[1..]);",
        long: "fn main() {\n    let s: &'static str = \"a\\n\";\n    println!(\"{s}, {}\", 'x');\n}\n",
    },
    Content {
        name: "python",
        short: "print(\"hi\", end=\"\")",
        long: "def f(d):\n    \"\"\"Doc.\"\"\"\n    return {\"k\": d['k'], \"n\": [1, 2]}\n",
    },
    Content {
        name: "javascript",
        short: "const f = (a) => `${a}, \"b\"`;",
        long: "export default {\n  name: 'x',\n  run: () => fetch(\"/api\", {method: \"POST\"}),\n};\n",
    },
    Content {
        name: "shell",
        short: "echo 'it'\\''s done' | grep -c \"done\"",
        long: "for f in *.log; do\n  awk '{print $1, \"x\"}' \"$f\" \\\n    | sort -u\ndone\n",
    },
    Content {
        name: "windows path",
        short: "C:\\Users\\new\\tables\\book.txt",
        long: "copy \"D:\\data\\report.csv\" \"\\\\server\\share\\bin\\\"",
    },
    Content {
        name: "posix path",
        short: "/srv/app/it's here/main.rs",
        long: "./a.txt:12, ../b/c.txt:7 [read-only]",
    },
    Content {
        name: "html",
        short: "<a href=\"/x?a=1&b=2\" class='y'>z</a>",
        long: "<ul id=\"list\">\n  <li data-v=\"{&quot;a&quot;: 1}\">one, \"two\"</li>\n</ul>\n",
    },
    Content {
        name: "latex",
        short: "\\frac{\\alpha}{2} \\to \\nabla f",
        long: "\\begin{tabular}{ll}\n\\textbf{a} & \"b\" \\\\\n\\end{tabular}\n",
    },
    Content {
        name: "sql",
        short: "SELECT \"id\", 'x' FROM t WHERE name = 'O''Hara';",
        long: "UPDATE \"users\"\nSET meta = '{\"a\": [1, 2]}', note = NULL\nWHERE id IN (1, 2);\n",
    },
    Content {
        name: "diff",
        short: "-  \"version\": \"1.0\",",
        long: "--- a/x.json\n+++ b/x.json\n@@ -1,3 +1,3 @@\n {\n-  \"n\": 1,\n+  \"n\": 2,\n }\n",
    },
    Content {
        name: "markdown",
        short: "- [ ] see [\"docs\"](https://example.org/a?b=c) **now**",
        long: "| key | value |\n|---|---|\n| `\"a\"` | {1, 2} |\n\n```json\n{\"a\": \"b\"}\n```\n",
    },
    Content {
        name: "regex",
        short: "^\\d{1,3}(\\.\\d+)?\\s*[\"']$",
        long: "(?P<key>\"[^\"\\\\]*\")\\s*:\\s*(?P<value>[^,}\\]]+)",
    },
    Content {
        name: "json",
        short: "{\"name\": \"x\", \"tags\": [\"a\", \"b\"]}",
        long: "{\n  \"path\": \"inner.txt\",\n  \"text\": \"say \\\"hi\\\"\\n\",\n  \"n\": [1, null]\n}\n",
    },
    Content {
        name: "cjk",
        short: "「東京」、2026年：\"晴れ\"",
        long: "第一行，说“你好”。\n第二行：{值: \"甲\"}、[乙]\n",
    },
    Content {
        name: "hebrew", short: "צה\"ל, ארה\"ב", long: "שלום \"עולם\": מס' 5\nדו\"ח, חוו\"ד\n"
    },
    Content {
        name: "arabic",
        short: "قال «مرحبا»، ثم \"وداعا\"",
        long: "السطر الأول: [١، ٢]\nالسطر \"الثاني\"؛ تم\n",
    },
    Content {
        name: "emoji",
        short: "ship it 🚀, \"now\" 👩‍💻",
        long: "✅ done: {a}\n❌ \"b\", c\n🏳️‍🌈 it's fine\n",
    },
];
