import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installedTools } from '../../../test/support/installed-tools.ts';
import { misfit } from '../../../test/support/misfit-yt-dlp.ts';
import { ytDlpWithoutScripts } from '../../../test/support/patched-yt-dlp.ts';
import { openTestProxySession } from '../../../test/support/proxy-session.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { smokeTestYtDlp } from '../src/smoke-test.ts';
import type { YtDlp } from '../src/tools.ts';

const { ytDlp } = await installedTools();
const dir = await temporaryFolder();

/** A fake worker that answers every request with the same line. */
const worker = async (name: string, answer: string): Promise<YtDlp> => {
  const path = join(dir, name);
  const answers = `s => JSON.parse(s).id + ' ' + ${JSON.stringify(answer)}`;
  await writeFile(
    path,
    `console.log('{"ready":true}');
     require('node:readline').createInterface({ input: process.stdin }).on('line', s => console.log((${answers})(s)));`,
  );
  return { version: '1', command: [process.execPath, path, '--'], source: 'path' };
};

describe('smokeTestYtDlp', () => {
  it('accepts the real yt-dlp as a worker, which solves a JavaScript challenge', async () => {
    const unsolved: string[] = [];
    const onUnsolvedChallenge = (reason: string) => unsolved.push(reason);
    expect(await smokeTestYtDlp(ytDlp, { openProxy: openTestProxySession, onUnsolvedChallenge })).toEqual({
      mode: 'worker',
      sites: { count: expect.any(Number), names: ['YouTube', 'Vimeo', 'TikTok'] },
    });
    expect(unsolved).toEqual([]);
  });

  it('rejects a release without the scripts for JavaScript challenges, and reports another yt-dlp', async () => {
    const incomplete = ytDlpWithoutScripts(ytDlp);
    await expect(smokeTestYtDlp(incomplete, { openProxy: openTestProxySession })).rejects.toThrow(
      /^yt-dlp-ejs is missing/,
    );
    const unsolved: string[] = [];
    const onUnsolvedChallenge = (reason: string) => unsolved.push(reason);
    const ofSystem: YtDlp = { ...incomplete, source: 'system' };
    const result = await smokeTestYtDlp(ofSystem, { openProxy: openTestProxySession, onUnsolvedChallenge });
    expect(result.mode).toBe('worker');
    expect(unsolved).toEqual([expect.stringMatching(/^yt-dlp-ejs is missing/)]);
  });

  it('accepts a yt-dlp that the worker does not fit as one process per link', async () =>
    expect(await smokeTestYtDlp(misfit(ytDlp), { openProxy: openTestProxySession })).toEqual({
      mode: 'process-per-link',
    }));

  it.each<[string, () => Promise<YtDlp>, RegExp]>([
    ['does not exist', async () => ({ ...ytDlp, command: [join(dir, 'nothing')] }), /before it was ready/],
    ['exits at once', async () => ({ ...ytDlp, command: [process.execPath, '-e', '0', '--'] }), /before it was ready/],
    ['finds nothing', () => worker('a', '{"ok":false,"error":{"kind":"bug"}}'), /does not resolve a plain file: bug/],
    [
      'finds something else',
      () => worker('b', '{"ok":true,"info":{"formats":[]}}'),
      /does not offer a plain file as its own/,
    ],
  ])('rejects a yt-dlp that %s', async (_, candidate, reason) => {
    await expect(smokeTestYtDlp(await candidate(), { openProxy: openTestProxySession })).rejects.toThrow(reason);
  });

  it('rejects a yt-dlp that cannot reach its proxy', async () => {
    const lend = async () => ({ proxyUrl: 'http://a:b@127.0.0.1:9', close: () => undefined });
    await expect(smokeTestYtDlp(ytDlp, { openProxy: lend })).rejects.toThrow(/does not resolve a plain file: proxy/);
  });
});
