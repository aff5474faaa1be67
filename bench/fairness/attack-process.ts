/**
 * One hostile client with its own origin, in a process of its own. `/` of the origin answers what has been achieved.
 * Arguments: the attack, the port to listen on, and `host:port` of the service and of a server of media.
 */
import { serveHostileLinks } from '../../test/attacks/hostile-links.ts';
import { createFaultHandler, type FaultHandler } from '../../test/origin/faults.ts';
import type { OriginHandler } from '../../test/origin/handler.ts';
import { json } from '../../test/origin/respond.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { ATTACKS } from './attacks.ts';
import { describeHostileItem, HOSTILE_FILES } from './hostile-files.ts';

const [name = '', port, service = '', media = '', from = ''] = process.argv.slice(2);
const achieved: Record<string, number> = {};
const files = new Map<string, FaultHandler>();

const origin = await startOrigin({
  mediaDir: '.',
  port: Number(port),
  mounts: {
    '/slow/': serveSlowly,
    '/hostile/': serveHostileLinks(),
    '/hostile-files/': serveFile,
    '/site-api/': (exchange) => json(exchange, describeHostileItem(exchange.path, exchange.url.origin)),
    '/': ({ response }) => void response.end(JSON.stringify(achieved)),
  },
});
await ATTACKS[name]?.({ service, media, origin: origin.host, from, count });

function count(what: string, amount = 1): void {
  achieved[what] = (achieved[what] ?? 0) + amount;
}

/** One byte a second, without end. */
function serveSlowly({ response, signal }: Parameters<OriginHandler>[0]): void {
  count('pages');
  response.writeHead(200, { 'content-type': 'text/html' });
  const timer = setInterval(() => response.write(' '), 1000);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

function serveFile({ path, request, response }: Parameters<OriginHandler>[0]): void {
  const make = HOSTILE_FILES[path];
  if (!make) return void response.writeHead(404).end();
  const serve = files.get(path) ?? createFaultHandler({ bytes: make() });
  files.set(path, serve);
  serve(request, response);
}
