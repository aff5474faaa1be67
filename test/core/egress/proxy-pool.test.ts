import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProxyPool } from '../../../core/egress/proxy/proxy-pool.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }));
afterEach(() => void vi.useRealTimers());

const SECOND_MS = 1_000;

function createPool(count: number) {
  const lines: unknown[][] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const urls = Array.from({ length: count }, (_, index) => `http://user:secret@proxy-${index}.example:1`);
  const pool = createProxyPool(urls, { info: note, warn: note, error: note });
  const ids = urls.map(() => pool.next());
  const proxies = [...pool.proxies];
  /** The positions of the proxies that the next resolves get. */
  const turns = (length: number) => Array.from({ length }, () => ids.indexOf(pool.next()));
  return { pool, ids, proxies, turns, lines };
}

describe('rules for sites', () => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const urls = ['http://a.example:1', 'socks5://b.example:1', 'http://c.example:1'];
  const ids = urls.map((url) => createProxyPool([url], log).next());
  const rules = ['youtube.com=1', 'api.vimeo.com=direct', '*.vimeo.com=2', 'B\u00fccher.example=DIRECT'];
  const pool = () => createProxyPool(urls, log, rules);

  it.each([
    ['https://youtube.com/watch?v=1', ids[0]],
    ['https://www.YouTube.com./watch?v=1', ids[0]],
    ['http://player.vimeo.com:8080/1', ids[1]],
    ['https://api.vimeo.com/1', 'direct'],
    ['https://xn--bcher-kva.example/', 'direct'],
  ])('name the identity of %s', (link, identity) => {
    const { next, reportFailure, proxies } = pool();
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
    const { next } = pool();
    expect([next(link), next(link), next(link)]).toEqual(ids);
  });

  it.each(['youtube.com=4', 'youtube.com=0', 'youtube.com', 'youtube.com=http://user:secret@a.example'])(
    'must name a proxy (%s)',
    (rule) => {
      expect(() => createProxyPool(urls, log, ['a.example=1', rule])).toThrow(/^Proxy rule 2 is not [^\n]+$/);
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
