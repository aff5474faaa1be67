/**
 * One hostile client with its own origin, in a process of its own. `/` of the origin answers what has been achieved.
 * Arguments: the attack, the port to listen on, and `host:port` of the service and of a server of media.
 */
import { serveHostileLinks } from '../../test/attacks/hostile-links.ts';
import type { OriginHandler } from '../../test/origin/handler.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { ATTACKS } from './attacks.ts';
import { describeHostileItem, HOSTILE_FILES } from './hostile-files.ts';

const [name = '', port, service = '', media = '', from = ''] = process.argv.slice(2);
const achieved: Record<string, number> = {};
const files = new Map<string, Buffer>();

const origin = await startOrigin({
  mediaDir: '.',
  port: Number(port),
  mounts: {
    '/slow/': serveSlowly,
    '/hostile/': serveHostileLinks(),
    '/hostile-files/': serveFile,
    '/site-api/': ({ path, response, url }) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(describeHostileItem(path, url.origin)));
    },
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
  const bytes = files.get(path) ?? HOSTILE_FILES[path]?.();
  if (!bytes) return void response.writeHead(404).end();
  files.set(path, bytes);
  const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const end = Math.min(last === '' ? Number.POSITIVE_INFINITY : Number(last), bytes.length - 1);
  const part = bytes.subarray(Number(first), end + 1);
  response.writeHead(206, {
    'content-type': 'video/mp4',
    'content-length': part.length,
    'content-range': `bytes ${first}-${end}/${bytes.length}`,
  });
  response.end(request.method === 'HEAD' ? undefined : part);
}
