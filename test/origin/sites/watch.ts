import { randomUUID } from 'node:crypto';
import type { Exchange, OriginHandler } from '../handler.ts';
import { html, send, sendFile } from '../respond.ts';
import { describeList } from './watch-lists.ts';
import { type Address, describeMedia } from './watch-media.ts';
import { refusal, ruleOf } from './watch-rules.ts';

/**
 * A site with separate video and audio files. `/site/{kind}/{id}` is the page that the test extractor
 * handles; `/site-api/…` is its metadata; `/site-media/{rule}/{file}` are the files with the rule that the site
 * enforces: `open` (none), `referer`, `strict`, or `first-minute`, which refuses all bytes after it.
 */
export interface Watch {
  readonly page: OriginHandler;
  readonly api: OriginHandler;
  readonly media: OriginHandler;
  readonly expireUrls: () => void;
}

/** Default lifetime of a media URL; `?life=` overrides it. */
const LIFE_SECONDS = 3600;

/** Failures of the extractor: [act, message]. */
const FAILURES: Readonly<Record<string, readonly [act: string, message?: string]>> = {
  drm: ['drm'],
  login: ['login', 'Members only'],
  geo: ['geo', 'Not in your country'],
  private: ['expected', 'This video is private'],
  gone: ['expected', 'This video has been deleted'],
  'no-formats': ['no_formats', 'Video unavailable'],
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
    if (kind === 'gone-later' && !firstTime) return answer({ act: 'expected', message: 'This video has been deleted' });
    const failure = FAILURES[kind];
    if (failure) return answer({ act: failure[0], message: failure[1] });

    const life = Number(url.searchParams.get('life') ?? LIFE_SECONDS);
    const address: Address = (rule, file, formatId) => {
      const link = new URL(`/site-media/${ruleOf(kind, rule, formatId, firstTime)}/${file}`, url.origin);
      const expire = Math.floor(Date.now() / 1000) + life;
      link.search = String(
        new URLSearchParams({ token: `${generation}.${randomUUID()}`, expire: `${expire}`, formatId }),
      );
      return link.href;
    };
    const info = await describeMedia({ kind, id, origin: url.origin, mediaDir, address });
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
