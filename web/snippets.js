// The question as something to paste, each to run as it stands.

import { announce, copy, el } from './dom.js';
import { parameters } from './link.js';
import { token } from './service.js';

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// A token is a secret: it is named, not shown.
const VARIABLE = 'TAQUIN_TOKEN';

function curl({ origin, body, isGuarded }) {
  const guard = isGuarded ? `  -H "Authorization: Bearer $${VARIABLE}" \\\n` : '';
  return `curl -s ${origin}/solve \\\n${guard}  -H 'Content-Type: application/json' \\\n  -d ${shell(body)}\n`;
}

function link({ origin, question, isGuarded }) {
  const guard = isGuarded ? `-H "Authorization: Bearer $${VARIABLE}" ` : '';
  return `curl -s ${guard}${shell(`${origin}/solve?${parameters(question)}`)}\n`;
}

function python({ origin, body, isGuarded }) {
  const guard = isGuarded ? `\n               "Authorization": "Bearer " + os.environ["${VARIABLE}"],` : '';
  // What a question holds is written alike in JSON and in Python.
  return `import json${isGuarded ? '\nimport os' : ''}
import sys
import urllib.error
import urllib.request

question = ${body}
request = urllib.request.Request(
    "${origin}/solve",
    data=json.dumps(question).encode(),
    headers={"Content-Type": "application/json",${guard}},
)
try:
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
except urllib.error.HTTPError as problem:
    sys.exit(json.load(problem)["detail"])
print(answer["length"], "moves:", answer["moves"])
`;
}

function javascript({ origin, body, isGuarded }) {
  const guard = isGuarded ? `, authorization: \`Bearer \${process.env.${VARIABLE}}\`` : '';
  return `// node ask.mjs
const response = await fetch('${origin}/solve', {
  method: 'POST',
  headers: { 'content-type': 'application/json'${guard} },
  body: JSON.stringify(${body}),
});
const answer = await response.json();
if (!response.ok) throw new Error(answer.detail);
console.log(answer.length, 'moves:', answer.moves);
`;
}

function rust({ origin, body, isGuarded }) {
  // Longer than any that the body could end with.
  const fence = '#'.repeat(Math.max(1, ...[...body.matchAll(/"#*/g)].map(([run]) => run.length)));
  const { hostname, port, protocol } = new URL(origin);
  const host = port ? `${hostname}:${port}` : hostname;
  const guard = isGuarded ? `\n         Authorization: Bearer {token}\\r\\n\\` : '';
  const read = isGuarded ? `\n    let token = std::env::var("${VARIABLE}").expect("a token");` : '';
  const note = protocol === 'https:' ? '// This speaks plain HTTP: name a port of the service that does, or use a client that knows TLS.\n' : '';
  return `// rustc ask.rs && ./ask
${note}use std::io::{Read, Write};
use std::net::TcpStream;

fn main() -> std::io::Result<()> {
    let question = r${fence}"${body}"${fence};${read}
    let mut service = TcpStream::connect("${hostname}:${port || 80}")?;
    write!(
        service,
        "POST /solve HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\${guard}
         Content-Type: application/json\\r\\nContent-Length: {}\\r\\n\\r\\n{question}",
        question.len()
    )?;
    let mut answer = String::new();
    service.read_to_string(&mut answer)?;
    let (_head, solution) = answer.split_once("\\r\\n\\r\\n").unwrap_or_default();
    println!("{solution}");
    Ok(())
}
`;
}

const LANGUAGES = { curl: ['curl', curl], link: ['curl, as a link', link], python: ['Python', python], javascript: ['JavaScript', javascript], rust: ['Rust', rust] };

export class Snippets {
  constructor(panel) {
    this.chosen = 'curl';
    this.buttons = Object.entries(LANGUAGES).map(([name, [text]]) => el('button', {
      type: 'button', class: 'small', 'data-language': name, onclick: () => this.choose(name),
    }, text));
    this.text = el('code', {});
    this.copied = el('button', { type: 'button', class: 'primary', onclick: () => this.copy() }, 'Copy');
    panel.replaceChildren(
      el('p', { class: 'about' }, 'This very question, ready to paste: it runs as it stands, and gives the same answer.'),
      el('div', { class: 'row', role: 'group', 'aria-label': 'Language' }, this.buttons, this.copied),
      el('pre', { class: 'snippet', tabindex: 0 }, this.text));
    this.choose(this.chosen);
  }

  /** Takes over the question that is asked now. */
  show(question) {
    this.question = question;
    this.choose(this.chosen);
  }

  choose(name) {
    this.chosen = name;
    for (const button of this.buttons) button.setAttribute('aria-pressed', String(button.dataset.language === name));
    this.copied.textContent = 'Copy';
    if (!this.question) return;
    const body = JSON.stringify(this.question);
    this.text.textContent = LANGUAGES[name][1]({
      origin: location.origin, question: this.question, body, isGuarded: token() !== '',
    });
  }

  async copy() {
    try {
      await copy(this.text.textContent);
      this.copied.textContent = 'Copied';
      announce('Copied');
    } catch {
      getSelection().selectAllChildren(this.text);
      this.copied.textContent = 'Press Ctrl+C';
    }
  }
}
