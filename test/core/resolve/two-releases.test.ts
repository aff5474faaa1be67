import { afterAll, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { silentLog } from '../../../core/log/log.ts';
import { createResolver } from '../../../core/resolve/create-resolver.ts';
import { startYtDlp } from '../../../core/tools/supervisor.ts';
import { startOrigin } from '../../origin/server.ts';
import { asProblem } from '../../support/as-problem.ts';
import { installedTools, otherYtDlp } from '../../support/installed-tools.ts';
import { patchedYtDlp } from '../../support/patched-yt-dlp.ts';
import { createMemoryState } from './memory-state.ts';

const HOUR_MS = 3_600_000;

const [{ ytDlp: stable }, nightly] = await Promise.all([installedTools(), otherYtDlp()]);
const [site, otherSite] = await Promise.all([startOrigin(), startOrigin({ address: '127.0.0.2' })]);
const egress = createEgress({ allow: [site.host, otherSite.host] });
/** Versions whose worker has received each link since the last look. */
let asked: string[] = [];
let laterMs = 0;
const installed = { stable: patchedYtDlp(stable, site.host), nightly };
const resolver = createResolver({
  tools: { ytDlp: () => installed.stable, alternative: () => installed.nightly },
  state: createMemoryState().state,
  egress,
  log: silentLog,
  now: () => Date.now() + laterMs,
  async start(mode, options) {
    const worker = await startYtDlp(mode, options);
    const request: typeof worker.request = (one, signal) => {
      if (mode === 'worker') asked.push(options.ytDlp.version);
      return worker.request(one, signal);
    };
    return { ...worker, request };
  },
});
afterAll(async () => {
  await resolver.close();
  await egress.close();
  await Promise.all([site.close(), otherSite.close()]);
});

let links = 0;
/** Resolves a link that is not stored yet. @returns the versions that were asked for it */
async function versionsFor(origin: typeof site): Promise<string[]> {
  asked = [];
  const url = origin.url(`/files/clip.mp4?link=${links++}`);
  const resolved = await resolver.resolve(url, { deadline: Date.now() + 150_000 });
  expect(resolved).toMatchObject({ type: 'Media', resource: { origin: { url } } });
  return asked;
}

it('a site that one release fails goes to the other one, loses no link, and returns once it is mended', async () => {
  expect(stable.version).not.toBe(nightly.version);
  expect(await versionsFor(otherSite)).toEqual([stable.version]);
  expect(await versionsFor(site)).toEqual([stable.version, nightly.version]);
  expect(await versionsFor(site)).toEqual([nightly.version]);
  expect(await versionsFor(otherSite)).toEqual([stable.version]);

  laterMs = HOUR_MS;
  expect(await versionsFor(site)).toEqual([stable.version, nightly.version]);
  expect(await versionsFor(site)).toEqual([nightly.version]);

  installed.stable = stable;
  laterMs = 24 * HOUR_MS;
  expect(await versionsFor(site)).toEqual([stable.version]);
  expect(await versionsFor(site)).toEqual([stable.version]);
});

it('canary links move a site before a client asks for it, and back', async () => {
  const canary = site.url('/files/clip.mp4?canary');
  installed.stable = patchedYtDlp(stable, site.host);
  await resolver.testSites([canary]);
  expect(await versionsFor(site)).toEqual([nightly.version]);
  installed.stable = stable;
  await resolver.testSites([canary, otherSite.url('/trouble/404')]);
  expect(await versionsFor(site)).toEqual([stable.version]);
});

it('the other release is asked when a site refuses the URLs of a refresh at once', async () => {
  const url = site.url('/files/clip.mp4?refused');
  const resolved = await resolver.resolve(url, { deadline: Date.now() + 150_000 });
  if (resolved.type !== 'Media') throw new Error('Not one item');
  asked = [];
  const refreshed = await resolver.refresh(resolved.resource);
  expect(asked).toEqual([stable.version]);
  await resolver.refresh(refreshed);
  expect(asked).toEqual([stable.version, nightly.version]);
});

it('media that is gone is not asked for twice', async () => {
  asked = [];
  const gone = resolver.resolve(otherSite.url('/trouble/404'), { deadline: Date.now() + 150_000 });
  await expect(asProblem(gone)).rejects.toMatchObject({ details: { status: 404 } });
  expect(asked).toEqual([stable.version]);
});
