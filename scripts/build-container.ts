/**
 * Prepares the files of the image for one machine; its Dockerfile runs this.
 * `node scripts/build-container.ts --architecture amd64 --out DIR [--yt-dlp DIR]`
 */
import { cp, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { assetFor, createReleases, unpackRelease } from '@reelay/yt-dlp-worker';
import { createEgress } from '../core/egress/index.ts';
import { prepareOneMachineContext } from '../infra/build/index.ts';

/** Architectures by the names of container platforms (`TARGETARCH`), as yt-dlp and Node spell them. */
const ARCHITECTURES = { amd64: ['x86_64', 'x64'], arm64: ['arm64', 'arm64'] } as const;

const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

const { values } = parseArgs({
  options: {
    architecture: { type: 'string' },
    out: { type: 'string' },
    // An unpacked release to take instead of the newest.
    'yt-dlp': { type: 'string' },
  },
});
const [architecture, processor] = ARCHITECTURES[values.architecture as keyof typeof ARCHITECTURES] ?? [];
if (!architecture || !values.out) throw new Error('Use: --architecture amd64|arm64 --out DIR [--yt-dlp DIR]');
const given = values['yt-dlp'];
await prepareOneMachineContext({
  outDir: resolve(values.out),
  architecture,
  placeYtDlp: given ? (dir) => cp(given, dir, { recursive: true }) : placeNewestYtDlp,
});

/** The newest official release, verified by signature and checksum. It cannot run here, which may have another processor. */
async function placeNewestYtDlp(dir: string): Promise<void> {
  const asset = assetFor('linux', processor, false);
  if (!asset) throw new Error(`yt-dlp has no build for ${processor}`);
  const egress = createEgress({ allow: [] });
  try {
    const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
    const releases = createReleases({ download: egress.request, channel: 'nightly' });
    await mkdir(dir, { recursive: true });
    const archive = join(dir, asset);
    await releases.fetch(await releases.findNewest(signal), asset, archive, { onBytes: () => undefined, signal });
    await unpackRelease(archive, asset, dir);
  } finally {
    await egress.close();
  }
}
