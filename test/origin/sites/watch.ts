import { randomUUID } from 'node:crypto';
import type { Exchange, OriginHandler } from '../handler.ts';
import { html, send, sendFile } from '../respond.ts';
import data from './watch.json' with { type: 'json' };
import { describeList } from './watch-lists.ts';
import { type Address, describeMedia } from './watch-media.ts';
import { refusal, ruleOf } from './watch-rules.ts';

/**
 * A site with separate video and audio files. `/site/{kind}/{id}` is the page that the test extractor
 * handles; `/site-api/…` is its metadata; `/site-media/{rule}/{file}` are the files with the rule that the site
 * enforces: `open` (none), `referer`, `strict`, or `first-minute`, which refuses all bytes after it. `?block=HOW&at=ADDRESSES`
 * fails for these client addresses alone, with a status or as one of the failures; `?bound` issues URLs for the address that
 * asked, `?refuse=ADDRESSES` URLs that are refused to these.
 */
export interface Watch {
  readonly page: OriginHandler;
  readonly api: OriginHandler;
  readonly media: OriginHandler;
  readonly expireUrls: () => void;
}

/** Lifetime of a media URL. With `?wait=` it is refused for that many seconds. */
const LIFE_SECONDS = 3600;

/** Failures of the extractor: [act, message]. The messages are those of YouTube's extractor. */
const FAILURES: Readonly<Record<string, readonly string[]>> = data.failures;

export function createWatch(): Watch {
  let generation = 0;
  /** Requested items: some respond differently to the second request. */
  const seen = new Set<string>();

  async function api(exchange: Exchange): Promise<void> {
    const { path, url, mediaDir, response } = exchange;
    const [kind = '', ...rest] = path.split('/');
    const id = rest.join('/');
    const answer = (value: unknown) => send(exchange, 'application/json', JSON.stringify(value));
    if (kind === 'status') return send(exchange, 'text/plain', id, Number(id));
    if (kind === 'list') return answer({ info: describeList(url, id) });

    const firstTime = !seen.has(path);
    seen.add(path);
    if (kind === 'slow-once' && firstTime) return answer({ act: 'sleep' });
    const client = exchange.request.socket.remoteAddress ?? '';
    const block = url.searchParams.get('at')?.split(',').includes(client) ? url.searchParams.get('block') : undefined;
    if (block && Number(block)) return send(exchange, 'text/plain', 'Blocked', Number(block));
    const failure = FAILURES[block ?? kind];
    if (failure) return answer({ act: failure[0], message: failure[1] });

    const wait = Number(url.searchParams.get('wait') ?? 0);
    const availableAt = wait > 0 ? Date.now() / 1000 + wait : undefined;
    const address: Address = (rule, file, formatId) => {
      const link = new URL(`/site-media/${ruleOf(kind, rule, formatId, firstTime)}/${file}`, url.origin);
      const expire = Math.floor(Date.now() / 1000) + LIFE_SECONDS;
      const query = new URLSearchParams({ token: `${generation}.${randomUUID()}`, expire: `${expire}`, formatId });
      if (availableAt !== undefined) query.set('from', String(availableAt));
      if (url.searchParams.has('bound')) query.set('client', client);
      const refused = url.searchParams.get('refuse');
      if (refused) query.set('refuse', refused);
      link.search = String(query);
      return link.href;
    };
    const info = await describeMedia({ kind, id, origin: url.origin, mediaDir, address, availableAt });
    if (!info) return send(exchange, 'text/plain', 'Not here', 404);
    response.setHeader('set-cookie', ['watch=let-me-in; Path=/site-media/', 'elsewhere=secret; Path=/elsewhere/']);
    return answer({ info });
  }

  function media(exchange: Exchange): void | Promise<void> {
    const [rule = '', ...file] = exchange.path.split('/');
    const reason = refusal(exchange, rule, generation);
    return reason ? send(exchange, 'text/plain', reason, 403) : sendFile(exchange, file.join('/'));
  }

  return {
    page: (exchange) => html(exchange, 'Only the extractor makes sense of this.', `<title>${exchange.path}</title>`),
    api,
    media,
    expireUrls: () => {
      generation++;
    },
  };
}
