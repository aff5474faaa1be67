import { expect, it } from 'vitest';
import type { ToolsUpdate } from '../../../lambdas/tools-update/create-tools-update.ts';
import { describeLayer } from '../../../lambdas/tools-update/plan.ts';
import { prepareRelease } from '../../../lambdas/tools-update/prepare-release.ts';

it('says why a release does not work although its removal fails', async () => {
  const [version, asset, sha256] = ['2026.11.20', 'yt-dlp_linux.zip', 'a'.repeat(64)];
  const removed: string[] = [];
  const remove = (name: string) => async () => {
    removed.push(name);
    throw new Error('Rate exceeded');
  };
  const parts = {
    asset,
    layers: { remove: remove('layer') },
    archive: { find: async () => ({ sha256, bytes: 1 }), remove: remove('archive') },
    canary: async () => ({ ok: false, reason: 'it crashes' }),
    onStep: () => undefined,
  } as unknown as ToolsUpdate;
  const versions = [{ arn: 'an-arn', number: 1, description: describeLayer(version, asset, sha256) }];
  const { signal } = new AbortController();
  await expect(prepareRelease(version, parts, { versions, signal })).rejects.toThrow(
    'yt-dlp 2026.11.20 does not work: it crashes',
  );
  expect(removed).toEqual(['layer', 'archive']);
});
