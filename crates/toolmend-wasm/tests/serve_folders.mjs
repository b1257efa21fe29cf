// Serves folders to a browser on this machine.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** Serves `folders`, a path for each name, and returns the origin and a function that ends it. */
export async function serveFolders(folders) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const [, name, ...rest] = decodeURIComponent(pathname).split('/');
    const path = normalize(rest.join('/') || '.');
    const file = join(folders[name] ?? '', pathname.endsWith('/') ? join(path, 'index.html') : path);
    if (folders[name] === undefined || path.split(sep).includes('..')) return end(response, 404);
    try {
      const content = readFileSync(file);
      response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain; charset=utf-8');
      return end(response, 200, content);
    } catch {
      return end(response, 404);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

function end(response, status, content = '') {
  response.statusCode = status;
  response.end(content);
}
