// The current request as a program in several languages.

import { announce, copy, el } from './dom.js';
import { parameters } from './link.js';
import { BASE, token } from './service.js';

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// Tokens are secret: programs read them from this variable.
const VARIABLE = 'TAQUIN_TOKEN';

function curl({ origin, body, isGuarded }) {
  const guard = isGuarded ? `  -H "Authorization: Bearer $${VARIABLE}" \\\n` : '';
  return `curl -s ${origin}/solve \\\n${guard}  -H 'Content-Type: application/json' \\\n  -d ${shell(body)}\n`;
}

function link({ origin, request, isGuarded }) {
  const guard = isGuarded ? `-H "Authorization: Bearer $${VARIABLE}" ` : '';
  return `curl -s ${guard}${shell(`${origin}/solve?${parameters(request)}`)}\n`;
}

function python({ origin, body, isGuarded }) {
  const guard = isGuarded ? `\n               "Authorization": "Bearer " + os.environ["${VARIABLE}"],` : '';
  // The body is valid in JSON and in Python.
  return `import json${isGuarded ? '\nimport os' : ''}
import sys
import urllib.error
import urllib.request

body = ${body}
request = urllib.request.Request(
    "${origin}/solve",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json",${guard}},
)
try:
    with urllib.request.urlopen(request) as response:
        solution = json.load(response)
except urllib.error.HTTPError as error:
    sys.exit(json.load(error)["detail"])
print(solution["length"], "moves:", solution["moves"])
`;
}

function javascript({ origin, body, isGuarded }) {
  const guard = isGuarded ? `, authorization: \`Bearer \${process.env.${VARIABLE}}\`` : '';
  return `// node solve.mjs
const response = await fetch('${origin}/solve', {
  method: 'POST',
  headers: { 'content-type': 'application/json'${guard} },
  body: JSON.stringify(${body}),
});
const solution = await response.json();
if (!response.ok) throw new Error(solution.detail);
console.log(solution.length, 'moves:', solution.moves);
`;
}

function rust({ origin, body, isGuarded }) {
  // Longer than any run of # after a quote in the body.
  const fence = '#'.repeat(Math.max(1, ...[...body.matchAll(/"#*/g)].map(([run]) => run.length)));
  const { hostname, port, protocol } = new URL(origin);
  const host = port ? `${hostname}:${port}` : hostname;
  const guard = isGuarded ? `\n         Authorization: Bearer {token}\\r\\n\\` : '';
  const read = isGuarded ? `\n    let token = std::env::var("${VARIABLE}").expect("${VARIABLE} is set");` : '';
  const note = protocol === 'https:' ? '// Plain HTTP only: use a plain port of the service, or a client with TLS.\n' : '';
  return `// rustc solve.rs && ./solve
${note}use std::io::{Read, Write};
use std::net::TcpStream;

fn main() -> std::io::Result<()> {
    let body = r${fence}"${body}"${fence};${read}
    let mut service = TcpStream::connect("${hostname}:${port || 80}")?;
    write!(
        service,
        "POST /solve HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\${guard}
         Content-Type: application/json\\r\\nContent-Length: {}\\r\\n\\r\\n{body}",
        body.len()
    )?;
    let mut response = String::new();
    service.read_to_string(&mut response)?;
    let (_head, solution) = response.split_once("\\r\\n\\r\\n").unwrap_or_default();
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
      el('p', { class: 'about' }, 'The current request, ready to run.'),
      el('div', { class: 'row', role: 'group', 'aria-label': 'Language' }, this.buttons, this.copied),
      el('pre', { class: 'snippet', tabindex: 0 }, this.text));
    this.choose(this.chosen);
  }

  /** Sets the current request. */
  show(request) {
    this.request = request;
    this.choose(this.chosen);
  }

  choose(name) {
    this.chosen = name;
    for (const button of this.buttons) button.setAttribute('aria-pressed', String(button.dataset.language === name));
    this.copied.textContent = 'Copy';
    if (!this.request) return;
    const body = JSON.stringify(this.request);
    this.text.textContent = LANGUAGES[name][1]({
      origin: BASE, request: this.request, body, isGuarded: token() !== '',
    });
  }

  async copy() {
    try {
      await copy(this.text.textContent);
      this.copied.textContent = 'Copied';
      announce('Copied');
    } catch {
      getSelection().selectAllChildren(this.text);
      this.copied.textContent = 'Press Ctrl+C or ⌘C';
    }
  }
}
