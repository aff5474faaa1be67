import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { createCheckResolver } from '../../../lambdas/tools-update/check-release.ts';
import type { YtDlp } from '../../../packages/yt-dlp-worker/src/tools.ts';

const ytDlp = { version: '2026.11.20' } as YtDlp;

/** A resolver that fails for links of these hosts, and the links that it was asked for. */
function createFakes({ failing = [] as string[], warm = async () => undefined } = {}) {
  const asked: string[] = [];
  const resolve = async (url: string) => {
    asked.push(url);
    if (failing.includes(new URL(url).host)) throw new Error(`Extraction failed: ${url}`);
    return {} as never;
  };
  return { asked, resolver: { warm, resolve } };
}

describe('createCheckResolver', () => {
  const check = (fakes: ReturnType<typeof createFakes>, links?: string[]) =>
    createCheckResolver({ find: async () => ytDlp, resolver: fakes.resolver, log: silentLog })({
      kind: 'check',
      links,
    });

  it('returns the version of a resolver whose worker starts', async () =>
    expect(await check(createFakes())).toEqual({ ok: true, version: '2026.11.20' }));

  it('resolves every link again instead of reading it from the table', async () => {
    const fakes = createFakes();
    const links = ['https://a.example/watch?v=1', 'https://b.example/2#part'];
    for (let round = 0; round < 2; round += 1) expect(await check(fakes, links)).toMatchObject({ ok: true });
    expect(fakes.asked.map((url) => url.split('#')[0])).toEqual([...links, ...links].map((link) => link.split('#')[0]));
    expect(new Set(fakes.asked).size).toBe(4);
  });

  it('returns the host of a link that does not resolve, and neither link nor cause', async () => {
    const links = ['https://a.example/1', 'https://b.example/secret'];
    expect(await check(createFakes({ failing: ['b.example'] }), links)).toEqual({
      ok: false,
      reason: 'a canary link of b.example does not resolve',
    });
  });

  it('returns the reason when the worker does not start, and asks for no link', async () => {
    const fakes = createFakes({ warm: () => Promise.reject(new Error('exited before it was ready')) });
    expect(await check(fakes, ['https://a.example/'])).toEqual({ ok: false, reason: 'exited before it was ready' });
    expect(fakes.asked).toEqual([]);
  });

  it('reports a layer without yt-dlp', async () => {
    const checkWithout = createCheckResolver({
      find: async () => undefined,
      resolver: createFakes().resolver,
      log: silentLog,
    });
    expect(await checkWithout({ kind: 'check' })).toEqual({ ok: false, reason: 'the layer has no yt-dlp' });
  });
});
