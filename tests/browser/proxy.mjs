// Proxies: one that breaks off a response in the middle, one that offers the service below a path, one that requires a
// token, and one that has a page of its own.

import { createServer, request } from 'node:http';

/** Starts a proxy on a free port of loopback. */
async function listening(server) {
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { base: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() || server.close() };
}

/** Sends a request on to `target`, and its response back. The response ends with the connection of the client. */
function forward(asked, answer, target) {
  const { method, headers } = asked;
  asked.pipe(request(target, { method, headers }, (given) => {
    answer.writeHead(given.statusCode, given.headers);
    given.pipe(answer);
    answer.on('close', () => given.destroy());
  }));
}

/** Forwards everything, but breaks off an event stream after a number of chunks. */
export async function breaking(base, pieces) {
  const server = createServer((asked, answer) => {
    const { method, headers, url } = asked;
    const passed = request(base + url, { method, headers }, (given) => {
      answer.writeHead(given.statusCode, given.headers);
      if (given.headers['content-type'] !== 'text/event-stream') {
        given.pipe(answer);
        return;
      }
      let rest = pieces;
      given.on('data', (piece) => {
        answer.write(piece);
        rest -= 1;
        if (rest > 0) return;
        passed.destroy();
        // The chunks must be sent before the connection ends.
        setTimeout(() => answer.destroy(), 50);
      });
      given.on('error', () => {});
    });
    asked.pipe(passed);
  });
  return listening(server);
}

/** Forwards requests below `path` and removes it; all others are not found. */
export async function below(base, path) {
  const server = createServer((asked, answer) => {
    const { url } = asked;
    if (!url.startsWith(`${path}/`)) {
      answer.writeHead(404).end();
      return;
    }
    forward(asked, answer, base + url.slice(path.length));
  });
  return listening(server);
}

/** Offers a page at `path`, and forwards all other requests. */
export async function beside(base, path, page) {
  const server = createServer((asked, answer) => {
    const { url } = asked;
    if (url.split('?')[0] === path) {
      answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
      return;
    }
    forward(asked, answer, base + url);
  });
  return listening(server);
}

/** Forwards the pages, and all requests with the token; to others it responds as a guarded service does. */
export async function guarded(base, token) {
  const server = createServer((asked, answer) => {
    const { headers, url } = asked;
    const isPage = url === '/' || url.startsWith('/web/');
    if (!isPage && headers.authorization !== `Bearer ${token}`) {
      answer.writeHead(401, { 'content-type': 'application/problem+json', 'www-authenticate': 'Bearer' });
      answer.end(JSON.stringify({ type: '/problems/unauthorized', title: 'Token required', status: 401 }));
      return;
    }
    forward(asked, answer, base + url);
  });
  return listening(server);
}
