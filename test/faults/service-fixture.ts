import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { SourceLimits } from '@reelay/source';
import { expect } from 'vitest';
import { createEgress } from '../../core/egress/create-egress.ts';
import { createResolver } from '../../core/resolve/create-resolver.ts';
import { keyOf } from '../../core/state/keys.ts';
import type { Resource } from '../../core/state/resource.ts';
import { createSourceOpeners } from '../../stream-service/source/open-source.ts';
import { type Origin, startOrigin } from '../origin/server.ts';
import { startService } from '../stream-service/fixture.ts';
import { usePairMedia } from '../stream-service/outputs/layout/pair-fixture.ts';
import { installedTools } from '../support/installed-tools.ts';
import { openTemporaryState } from '../support/temporary-state.ts';
import { createFaultSite, type FaultSite, type Item } from './media-fixture.ts';

/** Production limits scaled down, so that each fault affects each stream within milliseconds. */
export const SCALED_LIMITS: Partial<SourceLimits> = {
  defaultChunkBytes: 128 * 1024,
  minChunkBytes: 32 * 1024,
  readAheadBytes: 256 * 1024,
  stallTimeoutMs: 400,
  maxAttempts: 4,
  initialBackoffMs: 1,
  maxBackoffMs: 4,
  maxRetryAfterMs: 20,
};

/** The real resolver and stream service, with a site that fails on demand. */
export interface ServiceFixture {
  readonly origin: Origin;
  readonly site: FaultSite;
  /** Returns the URL of the stream of a new item. The first one of its kind is resolved, further ones are copies of it. */
  stream(item: Item): Promise<string>;
  close(): Promise<void>;
}

export async function startServiceFixture(): Promise<ServiceFixture> {
  const media = await usePairMedia();
  const site = createFaultSite(media.pathOf);
  const origin = await startOrigin({ mounts: site.mounts });
  const table = await openTemporaryState();
  const { state } = table;
  const egress = createEgress({ allow: [origin.host] });
  const { ytDlp, ffmpeg } = await installedTools();
  const pluginDirs = [resolve(import.meta.dirname, '../origin/plugin')];
  const resolver = createResolver({ tools: { ytDlp: () => ytDlp }, egress, state, pluginDirs });
  const { openSource, listSegments, inspectWindow } = createSourceOpeners({
    egress,
    refresh: resolver.refresh,
    limits: SCALED_LIMITS,
  });
  const service = await startService(
    () => undefined,
    {},
    {
      state: { ...state },
      openSource,
      listSegments,
      inspectWindow,
      ffmpeg: () => ffmpeg,
    },
  );
  const resolved = new Map<Item, Resource>();

  const resolveItem = async (item: Item): Promise<Resource> => {
    const link = origin.url(`/site/${item}/1`);
    const result = await resolver.resolve(link, { deadline: Date.now() + 150_000 });
    return result.type === 'Media' ? result.resource : expect.fail(`${link} is a list`);
  };

  return {
    origin,
    site,
    async stream(item) {
      const first = resolved.get(item) ?? (await resolveItem(item));
      resolved.set(item, first);
      // With an id of its own, so that the service has cached nothing of it.
      const resource = { ...site.resolveAgain(first), id: randomResourceId() };
      await state.putResource(resource);
      const { id, renditions, mp3 } = resource;
      const asMp3 = item.startsWith('mp3');
      const isPair = item.startsWith('Combined') || item.startsWith('Pair');
      const rendition = renditions.find(({ urlType }) => urlType === (isPair ? 'Combined' : 'Media'));
      const endpoint = item.startsWith('Combined') ? 'Combined' : 'Media';
      const key = keyOf(id, (asMp3 ? mp3?.renditionId : rendition?.id) ?? '');
      return `${service.url}/api/Stream/${endpoint}/${key}${asMp3 ? '?format=mp3' : ''}`;
    },
    async close() {
      await service.close();
      await resolver.close();
      await egress.close();
      await table.close();
      await origin.close();
    },
  };
}

/** As long as an id that is derived from an origin. */
const randomResourceId = (): string => randomBytes(17).toString('base64url').slice(0, 22);
