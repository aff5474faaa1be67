import { once } from 'node:events';
import type { Answer, Exchange } from '../handler.ts';
import { pause, send } from '../respond.ts';

const MIB = 1024 * 1024;

/** `/trouble/404`: a page with that status. */
function status(exchange: Exchange, code: number): void {
  if (code === 401) exchange.response.setHeader('www-authenticate', 'Basic realm="test"');
  if (code === 429) exchange.response.setHeader('retry-after', '1');
  send(exchange, 'text/html; charset=utf-8', `<h1>${code}</h1>`, code);
}

/** A page of 100 MiB, streamed as fast as it is read. */
async function huge({ response, signal }: Exchange): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  const piece = Buffer.alloc(MIB, '<p>word word word</p>\n');
  for (let sent = 0; sent < 100 && !signal.aborted; sent++) {
    if (!response.write(piece)) await once(response, 'drain', { signal });
  }
  response.end('</body></html>');
}

/** A page at one byte per second. */
async function drip({ response, signal }: Exchange): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.write('<');
  while (!signal.aborted) {
    await pause(1_000, undefined, { signal });
    response.write('!');
  }
}

const TROUBLE: Readonly<Record<string, (exchange: Exchange) => void | Promise<void>>> = {
  huge,
  drip,
  /** Never responds. */
  silence: ({ response }) => once(response, 'close').then(() => undefined),
  /** Closes the connection at once. */
  reset: ({ request }) => void request.socket.resetAndDestroy(),
  /** Closes the connection within the response head. */
  garbage: ({ request }) => void request.socket.end('HTTP/1.1 200 O'),
  /** Sends less than Content-Length. */
  short: ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': 10_000 });
    response.write('<html><body>', () => response.destroy());
  },
};

/** `/trouble/{status}`, `/trouble/huge`, `/trouble/drip`, …: failing and hostile responses. */
export function trouble(exchange: Exchange): Answer {
  if (/^[45]\d\d$/.test(exchange.path)) return status(exchange, Number(exchange.path));
  return TROUBLE[exchange.path]?.(exchange) ?? send(exchange, 'text/plain', 'Not here', 404);
}
