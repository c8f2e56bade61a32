// Proxies: one that breaks off a response in the middle, one that offers the service below a path, one that requires a
// token, and one that has a page of its own.

import { createServer, request } from 'node:http';

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
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { base: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() || server.close() };
}

/** Forwards requests below `path` and removes it; all others are not found. */
export async function below(base, path) {
  const server = createServer((asked, answer) => {
    const { method, headers, url } = asked;
    if (!url.startsWith(`${path}/`)) {
      answer.writeHead(404).end();
      return;
    }
    asked.pipe(request(base + url.slice(path.length), { method, headers }, (given) => {
      answer.writeHead(given.statusCode, given.headers);
      given.pipe(answer);
    }));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { base: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() || server.close() };
}

/** Offers a page at `path`, and forwards all other requests. */
export async function beside(base, path, page) {
  const server = createServer((asked, answer) => {
    const { method, headers, url } = asked;
    if (url.split('?')[0] === path) {
      answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
      return;
    }
    asked.pipe(request(base + url, { method, headers }, (given) => {
      answer.writeHead(given.statusCode, given.headers);
      given.pipe(answer);
    }));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { base: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() || server.close() };
}

/** Forwards the pages, and all requests with the token; to others it responds as a guarded service does. */
export async function guarded(base, token) {
  const server = createServer((asked, answer) => {
    const { method, headers, url } = asked;
    const isPage = url === '/' || url.startsWith('/web/');
    if (!isPage && headers.authorization !== `Bearer ${token}`) {
      answer.writeHead(401, { 'content-type': 'application/problem+json', 'www-authenticate': 'Bearer' });
      answer.end(JSON.stringify({ type: '/problems/unauthorized', title: 'Token required', status: 401 }));
      return;
    }
    asked.pipe(request(base + url, { method, headers }, (given) => {
      answer.writeHead(given.statusCode, given.headers);
      given.pipe(answer);
      answer.on('close', () => given.destroy());
    }));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { base: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() || server.close() };
}
