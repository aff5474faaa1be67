import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProxyPool } from '../../../core/egress/proxy-pool.ts';
import { silentLog } from '../../../core/log/index.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }));
afterEach(() => void vi.useRealTimers());

const SECOND_MS = 1_000;

function createPool(count: number) {
  const lines: unknown[][] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const urls = Array.from({ length: count }, (_, index) => `http://user:secret@proxy-${index}.example:1`);
  const pool = createProxyPool(urls, { info: note, warn: note, error: note });
  const ids = urls.map(() => pool.nextIdentity());
  const proxies = [...pool.proxies];
  /** The positions of the proxies that the next resolves get. */
  const turns = (length: number) => Array.from({ length }, () => ids.indexOf(pool.nextIdentity()));
  return { pool, ids, proxies, turns, lines };
}

describe('rules for sites', () => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const urls = ['http://a.example:1', 'socks5://b.example:1', 'http://c.example:1'];
  const ids = urls.map((url) => createProxyPool([url], log).nextIdentity());
  const rules = ['youtube.com=1', 'api.vimeo.com=direct', '*.vimeo.com=2', 'B\u00fccher.example=DIRECT'];
  const pool = () => createProxyPool(urls, log, { rules });

  it.each([
    ['https://youtube.com/watch?v=1', ids[0]],
    ['https://www.YouTube.com./watch?v=1', ids[0]],
    ['http://player.vimeo.com:8080/1', ids[1]],
    ['https://api.vimeo.com/1', 'direct'],
    ['https://xn--bcher-kva.example/', 'direct'],
  ])('name the identity of %s', (link, identity) => {
    const { nextIdentity: next, reportFailure, proxies } = pool();
    for (const proxy of proxies) reportFailure(proxy);
    expect([next(link), next(link)]).toEqual([identity, identity]);
  });

  it.each([
    'https://vimeo.com/1',
    'https://notyoutube.com/',
    'https://youtube.com.example/',
    'https://example.com/?youtube.com',
    '',
  ])('leave %j to the proxies in turn', (link) => {
    const { nextIdentity: next } = pool();
    expect([next(link), next(link), next(link)]).toEqual(ids);
  });

  it.each(['youtube.com=4', 'youtube.com=0', 'youtube.com', 'youtube.com=http://user:secret@a.example'])(
    'must name a proxy (%s)',
    (rule) => {
      expect(() => createProxyPool(urls, log, { rules: ['a.example=1', rule] })).toThrow(
        /^Proxy rule 2 is not [^\n]+$/,
      );
    },
  );
});

describe('a proxy that failed', () => {
  it('is left out for 30 seconds', () => {
    const { pool, proxies, turns } = createPool(3);
    pool.reportFailure(proxies[1] as URL);
    expect(turns(4)).toEqual([0, 2, 0, 2]);
    vi.setSystemTime(30 * SECOND_MS);
    expect(turns(3)).toEqual([0, 1, 2]);
  });

  it('is left out twice as long after each further failure, up to half an hour', () => {
    const { pool, proxies, turns } = createPool(2);
    let now = 0;
    for (const restSeconds of [30, 60, 120, 240, 480, 960, 1800, 1800]) {
      pool.reportFailure(proxies[0] as URL);
      vi.setSystemTime(now + restSeconds * SECOND_MS - 1);
      expect(turns(2)).toEqual([1, 1]);
      now += restSeconds * SECOND_MS;
      vi.setSystemTime(now);
      expect(turns(4)).toContain(0);
    }
  });

  it('counts requests that fail together once', () => {
    const { pool, proxies, turns } = createPool(2);
    for (let request = 0; request < 5; request++) pool.reportFailure(proxies[0] as URL);
    vi.setSystemTime(30 * SECOND_MS);
    expect(turns(4)).toContain(0);
  });

  it('is used again at once after a success, and is left out briefly after the next failure', () => {
    const { pool, proxies, turns } = createPool(2);
    pool.reportFailure(proxies[0] as URL);
    vi.setSystemTime(30 * SECOND_MS);
    pool.reportFailure(proxies[0] as URL);
    pool.reportSuccess(proxies[0] as URL);
    expect(turns(4)).toContain(0);
    pool.reportFailure(proxies[0] as URL);
    vi.setSystemTime(60 * SECOND_MS);
    expect(turns(4)).toContain(0);
  });

  it('is used in turn while all are left out', () => {
    const { pool, proxies, turns } = createPool(2);
    for (const proxy of proxies) pool.reportFailure(proxy);
    expect(turns(4).sort()).toEqual([0, 0, 1, 1]);
  });

  it('keeps serving the resources that were resolved through it', () => {
    const { pool, ids, proxies } = createPool(2);
    pool.reportFailure(proxies[0] as URL);
    expect(pool.resolve(ids[0] as string)).toBe(proxies[0]);
  });

  it('is logged once when it fails and once when it works, by its position', () => {
    const { pool, proxies, lines } = createPool(2);
    pool.reportSuccess(proxies[1] as URL);
    pool.reportFailure(proxies[1] as URL);
    vi.setSystemTime(30 * SECOND_MS);
    pool.reportFailure(proxies[1] as URL);
    pool.reportSuccess(proxies[1] as URL);
    pool.reportSuccess(proxies[1] as URL);
    expect(lines).toEqual([
      ['Outgoing proxy failed, new resolves use the others', { proxy: 2, excludedSeconds: 30 }],
      ['Outgoing proxy recovered', { proxy: 2 }],
    ]);
  });
});

describe('an address that a site blocks', () => {
  const lines: unknown[][] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const log = { info: note, warn: note, error: note };
  const proxyUrls = ['http://user:secret@a.example:1', 'http://user:secret@b.example:1'];
  const LINK = 'https://www.site.example/watch';
  const SAME_SITE = 'https://m.site.example/other';
  const MINUTE_MS = 60 * SECOND_MS;
  const addressPool = (count: number, rules: string[] = []) => {
    lines.length = 0;
    const addresses = Array.from({ length: count }, (_, index) => `192.0.2.${index + 1}`);
    return createProxyPool([], log, { rules, sourceAddresses: addresses });
  };
  const [A, B] = ['address-192.0.2.1', 'address-192.0.2.2'] as const;

  it('is left out for the site alone', () => {
    const { nextIdentity: next, reportBlocked } = addressPool(2);
    reportBlocked(LINK, A);
    expect([next(SAME_SITE), next(SAME_SITE), next(SAME_SITE)]).toEqual([B, B, B]);
    expect(new Set([next('https://other.example/'), next('https://other.example/')])).toEqual(new Set([A, B]));
  });

  it('rests twice as long after each further block, up to six hours', () => {
    const { nextIdentity: next, reportBlocked, blockedAddresses: blocked } = addressPool(2);
    for (const restMinutes of [5, 10, 20, 40, 80, 160, 320, 360, 360]) {
      reportBlocked(LINK, A);
      reportBlocked(LINK, A);
      expect(blocked()).toEqual([{ site: 'site.example', address: '192.0.2.1', restSeconds: restMinutes * 60 }]);
      vi.setSystemTime(Date.now() + restMinutes * MINUTE_MS - 1);
      expect([next(LINK), next(LINK)]).toEqual([B, B]);
      vi.setSystemTime(Date.now() + 1);
      expect([next(LINK), next(LINK)]).toContain(A);
    }
  });

  it('rests as long as the site says', () => {
    const { reportBlocked, blockedAddresses: blocked } = addressPool(1);
    reportBlocked(LINK, A, 3600);
    expect(blocked()[0]?.restSeconds).toBe(3600);
  });

  it('is tested by one link at a time, and in turn again once it is served', () => {
    const { nextIdentity: next, reportBlocked, reportServed } = addressPool(2);
    const turns = () => [1, 2, 3, 4].map(() => next(LINK)).filter((id) => id === A).length;
    reportBlocked(LINK, A);
    vi.setSystemTime(5 * MINUTE_MS);
    expect(turns()).toBe(1);
    // The link that tested it has left.
    vi.setSystemTime(6 * MINUTE_MS);
    expect(turns()).toBe(1);
    reportServed(LINK, A);
    expect(turns()).toBe(2);
    expect(lines).toEqual([
      ['Site blocks an outgoing address', { site: 'site.example', address: '192.0.2.1', restSeconds: 300 }],
      ['Site serves an outgoing address again', { site: 'site.example', address: '192.0.2.1' }],
    ]);
  });

  it('is used while all are blocked, the one whose rest ends first', () => {
    const { nextIdentity: next, otherIdentity: nextAfter, reportBlocked } = addressPool(2);
    reportBlocked(LINK, B);
    vi.setSystemTime(SECOND_MS);
    reportBlocked(LINK, A);
    expect([next(LINK), next(LINK)]).toEqual([B, B]);
    expect(nextAfter(LINK, new Set([B]))).toBeUndefined();
  });

  it('is followed by the other proxies, then by the source addresses', () => {
    const pool = createProxyPool(proxyUrls, log, { sourceAddresses: ['192.0.2.1'] });
    const tried = new Set([pool.nextIdentity(LINK)]);
    for (let id = pool.otherIdentity(LINK, tried); id; id = pool.otherIdentity(LINK, tried)) tried.add(id);
    expect([...tried].map((id) => id.replace(/-.*/, ''))).toEqual(['proxy', 'proxy', 'address']);
    for (const id of tried) pool.reportBlocked(LINK, id);
    expect(JSON.stringify(pool.blockedAddresses())).not.toContain('secret');
  });

  it('is kept where a rule names it', () => {
    const { nextIdentity: next, otherIdentity: nextAfter, reportBlocked } = addressPool(2, ['site.example=direct']);
    reportBlocked(LINK, 'direct');
    expect([next(LINK, A), nextAfter(LINK, new Set(['direct']))]).toEqual(['direct', undefined]);
  });

  it('gives way, where a stored resource prefers it', () => {
    const { nextIdentity: next, reportBlocked } = addressPool(2);
    expect([next(LINK, B), next(LINK, B)]).toEqual([B, B]);
    reportBlocked(LINK, B);
    expect(next(LINK, B)).toBe(A);
  });

  it('is remembered for 256 sites', () => {
    const { reportBlocked, blockedAddresses: blocked } = addressPool(1);
    for (let site = 0; site < 300; site++) reportBlocked(`https://site-${site}.example/`, A);
    expect(blocked()).toHaveLength(256);
  });
});

it('takes the identities of direct connections of other processes for its own', () => {
  const { nextIdentity: next, resolve, sourceAddress } = createProxyPool([], silentLog, { directId: 'direct@here' });
  for (const id of ['direct', 'direct@there', 'proxy-gone']) {
    expect(next('https://site.example/', id)).toBe('direct@here');
    expect([resolve(id), sourceAddress(id)]).toEqual([undefined, undefined]);
  }
});
