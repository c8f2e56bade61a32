// A request as a program in each language.

import { parameters } from './link.js';

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

/** The parts of an address for programs that write to a socket. HTTP/1.0 keeps chunks out of their responses. */
function plainHttp(origin) {
  const { hostname, port, host, pathname, protocol } = new URL(`${origin}/solve`);
  const note = protocol === 'https:' ? '// Plain HTTP only: use a plain port of the service, or a client with TLS.\n' : '';
  return { hostname, port: port || '80', host, path: pathname, note };
}

function rust({ origin, body, isGuarded }) {
  // Longer than any run of # after a quote in the body.
  const fence = '#'.repeat(Math.max(1, ...[...body.matchAll(/"#*/g)].map(([run]) => run.length)));
  const { hostname, port, host, path, note } = plainHttp(origin);
  const guard = isGuarded ? `\n         Authorization: Bearer {token}\\r\\n\\` : '';
  const read = isGuarded ? `\n    let token = std::env::var("${VARIABLE}").expect("${VARIABLE} is set");` : '';
  return `// rustc solve.rs && ./solve
${note}use std::io::{Read, Write};
use std::net::TcpStream;

fn main() -> std::io::Result<()> {
    let body = r${fence}"${body}"${fence};${read}
    let mut service = TcpStream::connect("${hostname}:${port}")?;
    write!(
        service,
        "POST ${path} HTTP/1.0\\r\\nHost: ${host}\\r\\n\\${guard}
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

function cpp({ origin, body, isGuarded }) {
  const { hostname, port, host, path, note } = plainHttp(origin);
  let fence = 'json';
  while (body.includes(`)${fence}"`)) fence += '_';
  const guard = isGuarded ? `\n        "Authorization: Bearer " + token + "\\r\\n"` : '';
  const read = isGuarded ? `
    const char* variable = std::getenv("${VARIABLE}");
    if (variable == nullptr) return fail("${VARIABLE} is not set");
    const std::string token = variable;` : '';
  return `// g++ -std=c++17 -o solve solve.cpp && ./solve
${note}#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

int fail(const std::string& message) {
    std::cerr << message << '\\n';
    return 1;
}

int connect_to(const char* host, const char* port) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host, port, &wanted, &found) != 0) return -1;
    int service = -1;
    for (auto* at = found; at != nullptr && service < 0; at = at->ai_next) {
        service = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (service >= 0 && connect(service, at->ai_addr, at->ai_addrlen) != 0) {
            close(service);
            service = -1;
        }
    }
    freeaddrinfo(found);
    return service;
}

int main() {
    const std::string body = R"${fence}(${body})${fence}";${read}
    const std::string request =
        "POST ${path} HTTP/1.0\\r\\nHost: ${host}\\r\\n"${guard}
        "Content-Type: application/json\\r\\nContent-Length: " + std::to_string(body.size()) + "\\r\\n\\r\\n" + body;
    const int service = connect_to("${hostname.replace(/^\[|\]$/g, '')}", "${port}");
    if (service < 0) return fail("no connection");
    for (std::size_t sent = 0; sent < request.size();) {
        const auto count = send(service, request.data() + sent, request.size() - sent, 0);
        if (count <= 0) return fail("the connection closed");
        sent += static_cast<std::size_t>(count);
    }
    std::string response;
    char part[4096];
    for (ssize_t count; (count = recv(service, part, sizeof part, 0)) > 0;) {
        response.append(part, static_cast<std::size_t>(count));
    }
    close(service);
    const auto end_of_head = response.find("\\r\\n\\r\\n");
    if (end_of_head == std::string::npos) return fail("no response");
    std::cout << response.substr(end_of_head + 4) << '\\n';
}
`;
}

function csharp({ origin, body, isGuarded }) {
  const guard = isGuarded ? `
client.DefaultRequestHeaders.Add("Authorization", "Bearer " + Environment.GetEnvironmentVariable("${VARIABLE}"));` : '';
  return `// Program.cs of a console project (dotnet new console); dotnet run
using System;
using System.Net.Http;
using System.Text;
using System.Text.Json;

var body = @"${body.replaceAll('"', '""')}";
using var client = new HttpClient();${guard}
using var content = new StringContent(body, Encoding.UTF8, "application/json");
using var response = await client.PostAsync("${origin}/solve", content);
using var document = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
var solution = document.RootElement;
if (!response.IsSuccessStatusCode)
{
    Console.Error.WriteLine(solution.GetProperty("detail"));
    return 1;
}
Console.WriteLine(solution.GetProperty("length") + " moves: " + solution.GetProperty("moves"));
return 0;
`;
}

/** Names, titles and writers of the languages. A writer takes `origin`, `request`, its JSON `body`, and `isGuarded`. */
export const LANGUAGES = {
  curl: ['curl', curl], link: ['curl, as a link', link], python: ['Python', python], javascript: ['JavaScript', javascript],
  rust: ['Rust', rust], cpp: ['C++', cpp], csharp: ['C#', csharp],
};
