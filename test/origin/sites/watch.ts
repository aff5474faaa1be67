import { randomUUID } from 'node:crypto';
import type { Exchange, OriginHandler } from '../handler.ts';
import { html, send, sendFile } from '../respond.ts';
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

/** Default lifetime of a media URL; `?life=` overrides it. With `?wait=` it is refused for that many seconds. */
const LIFE_SECONDS = 3600;

/** Failures of the extractor: [act, message]. */
const FAILURES: Readonly<Record<string, readonly [act: string, message?: string]>> = {
  drm: ['drm'],
  login: ['login', 'Members only'],
  geo: ['geo', 'Not in your country'],
  private: ['expected', 'This video is private'],
  gone: ['expected', 'This video has been deleted'],
  'no-formats': ['no_formats', 'Video unavailable'],
  // As YouTube's extractor raises them.
  bot: ['no_formats', 'Sign in to confirm you’re not a bot. Use --cookies for the authentication'],
  age: ['no_formats', 'Sign in to confirm your age. This video may be inappropriate for some users'],
  members: ['no_formats', 'Join this channel to get access to members-only content like this video'],
  rental: ['no_formats', 'This video requires payment to watch'],
  premiere: ['no_formats', 'Premieres in 2 hours'],
  ended: ['no_formats', 'This live stream recording is not available'],
  'rate-limit': [
    'no_formats',
    "This content isn't available, try again later. The session has been rate-limited for up to an hour",
  ],
  skipped: ['skipped'],
  'refused-api': ['refused_api'],
  'not-live': ['not_live'],
  puzzled: ['unexpected', 'Cannot make sense of the page'],
  bug: ['bug'],
  sleep: ['sleep'],
  spin: ['spin'],
  memory: ['memory'],
  exit: ['exit'],
  kill: ['kill'],
  noise: ['noise'],
};

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

    const life = Number(url.searchParams.get('life') ?? LIFE_SECONDS);
    const wait = Number(url.searchParams.get('wait') ?? 0);
    const availableAt = wait > 0 ? Date.now() / 1000 + wait : undefined;
    const address: Address = (rule, file, formatId) => {
      const link = new URL(`/site-media/${ruleOf(kind, rule, formatId, firstTime)}/${file}`, url.origin);
      const expire = Math.floor(Date.now() / 1000) + life;
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
