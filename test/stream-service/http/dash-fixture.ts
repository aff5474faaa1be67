import type { ServerResponse } from 'node:http';
import type { SourceLimits } from '@reelay/source';
import { afterAll, afterEach } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import type { Resource } from '../../../core/state/resource.ts';
import { createSourceOpeners } from '../../../stream-service/source/open-source.ts';
import { startResolver } from '../../core/resolve/start-resolver.ts';
import { type Service, startService } from '../fixture.ts';

/** DASH that the real yt-dlp resolves, for the tests of one file. @param answer serves the media */
export async function useResolvedDash(answer: (path: string, response: ServerResponse) => void) {
  let manifest = () => '';
  let count = 0;
  let service: Service | undefined;
  const { origin, resolver } = await startResolver({
    mounts: {
      '/dash/': ({ path, response }) => {
        if (!path.endsWith('.mpd')) return answer(path, response);
        response.writeHead(200, { 'content-type': 'application/dash+xml' }).end(manifest());
      },
    },
  });
  const egress = createEgress({ allow: [origin.host] });
  afterEach(() => service?.close());
  afterAll(() => egress.close());

  return {
    /** @param list the manifest, as it is whenever it is loaded */
    async resolve(list: () => string): Promise<Resource> {
      manifest = list;
      const resolved = await resolver.resolve(origin.url(`/dash/${count++}.mpd`), { deadline: Date.now() + 60_000 });
      if (resolved.type !== 'Media') throw new Error('Not one item');
      return resolved.resource;
    },
    /** In another process than the one before. */
    async start(resource: Resource, limits: Partial<SourceLimits>): Promise<Service> {
      await service?.close();
      const { refresh, latest } = resolver;
      const openers = createSourceOpeners({ egress, refresh, latest, limits });
      const sources = Object.fromEntries(resource.tracks.map(({ formatId }) => [formatId, openers.openSource]));
      service = await startService(resource, sources, openers);
      return service;
    },
  };
}

/** When the segments of a timeline of FFmpeg begin, and how long they are, in ticks. */
export function segmentsIn(timeline: string) {
  let now = 0;
  return [...timeline.matchAll(/<S (?:t="(\d+)" )?d="(\d+)"(?: r="(\d+)")?/g)].flatMap(([, t, d, r = 0]) =>
    Array.from({ length: Number(r) + 1 }, (_, index) => {
      const start = index === 0 && t !== undefined ? Number(t) : now;
      now = start + Number(d);
      return { start, ticks: Number(d) };
    }),
  );
}

export const timelineOf = (segments: ReturnType<typeof segmentsIn>): string =>
  `<SegmentTimeline>${segments.map(({ start, ticks }) => `<S t="${start}" d="${ticks}"/>`).join('')}</SegmentTimeline>`;
