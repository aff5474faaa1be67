import { afterAll, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import type { YtDlpMode } from '../../../packages/yt-dlp-worker/src/tools.ts';
import { PLUGIN_DIR } from '../../contract/target-settings.ts';
import { asProblem } from '../../support/as-problem.ts';
import { misfit } from '../../support/misfit-yt-dlp.ts';
import { startResolver } from './start-resolver.ts';

/** Links of the test origin through a yt-dlp that the worker does not fit. */
const modes: YtDlpMode[] = [];
const warnings: [string, unknown?][] = [];
const { resolver, resolve, single } = await startResolver({
  pluginDirs: [PLUGIN_DIR],
  adapt: misfit,
  onYtDlpMode: (mode) => modes.push(mode),
  log: { ...silentLog, warn: (...warning) => void warnings.push(warning) },
});
afterAll(() => {
  expect(modes).toEqual(['process-per-link']);
  expect(warnings).toContainEqual([
    'yt-dlp runs as one process per link',
    expect.objectContaining({ jsRuntime: `node ${process.versions.node}` }),
  ]);
});

it('resolves a file, an HLS playlist and a page', async () => {
  await resolver.warm();
  const [file, hls] = await Promise.all(['/files/clip.mp4', '/hls/master.m3u8'].map(single));
  expect(file?.renditions.map(({ label }) => label)).toContain('180p');
  expect(hls?.tracks.length).toBeGreaterThan(1);
});

it('resolves an item with headers, cookies and several formats, and refreshes it', async () => {
  const before = await single('/site/watch/refresh');
  const after = await resolver.refresh(before);
  const urls = ({ tracks }: typeof before) => tracks.map(({ url }) => url);
  expect(after.renditions).toEqual(before.renditions);
  expect(urls(after)).not.toEqual(urls(before));
  expect(before.tracks[0]).toMatchObject({ cookies: [{ name: 'watch', path: '/site-media/' }], chunkBytes: 262_144 });
});

it('resolves the entries of a list, without those that are gone', async () => {
  const resolved = await resolve('/site/list/mixed?n=2&dead=2');
  expect(resolved).toMatchObject({ type: 'PlayList', items: [{ resource: {} }] });
});

// Of each way in which a failure is found: what yt-dlp writes, what its proxy refuses and limits, and how it ends. All kinds
// of failures are in link-processes.all.test.ts, and their statuses, which do not depend on the mode, in test/contract/failures.test.ts.
it.each([
  ['/trouble/404', 404],
  ['/inward/redirect?to=http://10.1.2.3/x.mp4', 404],
  ['/trouble/huge', 415],
  ['/site/kill/1', 502],
])('%s is a %d', (path, status) => expect(asProblem(resolve(path))).rejects.toMatchObject({ details: { status } }));

it('/site/spin/1 never ends and is a 502 at the deadline', () =>
  expect(asProblem(resolve('/site/spin/1', 3))).rejects.toMatchObject({ details: { status: 502 } }));
