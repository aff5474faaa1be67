import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FetchedRelease } from '@reelay/yt-dlp-worker';
import type { Pointer } from './archive.ts';
import type { ToolsUpdate } from './create-tools-update.ts';
import type { LayerVersion } from './layers.ts';
import { archiveKey, describeFault, describeLayer, listPublished } from './plan.ts';

/**
 * Verifies a release, archives it, publishes it as a layer version, and tests it in the canary. Continues what an earlier
 * run has begun.
 * @returns the pointer to the release
 * @throws Error when any step fails; a release that fails in the canary is removed
 */
export async function prepareRelease(
  version: string,
  parts: ToolsUpdate,
  { versions, signal }: { readonly versions: readonly LayerVersion[]; readonly signal: AbortSignal },
): Promise<Pointer> {
  const { layers, archive, canary, asset, onStep } = parts;
  const key = archiveKey(version, asset);
  const published = listPublished(versions, asset).find((layer) => layer.version === version);
  const kept =
    (published && (await archive.find(key, published.sha256))) ?? (await fetchAndKeep(version, parts, signal));
  const layer =
    published?.sha256 === kept.sha256
      ? published
      : await layers.publish({ key, sha256: kept.sha256, description: describeLayer(version, asset, kept.sha256) });
  onStep('published');

  const verdict = await canary(layer.arn, signal);
  const reason = describeFault(verdict, version);
  if (reason !== undefined) {
    // What stays is tried again by the next run, and removed by the next release that works.
    await Promise.allSettled([layers.remove([layer]), archive.remove([key])]);
    throw new Error(`yt-dlp ${version} does not work: ${reason}`);
  }
  onStep('tried');
  const publishedAt = Math.floor(Date.now() / 1000);
  const sites = verdict.ok ? verdict.sites : undefined;
  return { version, key, ...kept, layerVersionArn: layer.arn, publishedAt, ...(sites && { sites }) };
}

async function fetchAndKeep(
  version: string,
  { releases, archive, asset, scratchDir, onStep }: ToolsUpdate,
  signal: AbortSignal,
): Promise<FetchedRelease> {
  const folder = await mkdtemp(join(scratchDir, 'release-'));
  try {
    const path = join(folder, asset);
    const fetched = await releases.fetch(version, asset, path, { signal, onBytes: () => undefined });
    onStep('fetched');
    await archive.put(archiveKey(version, asset), path, fetched.sha256);
    onStep('archived');
    return fetched;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
