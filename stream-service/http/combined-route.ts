import type { FastifyInstance } from 'fastify';
import type { Log } from '../../core/log/index.ts';
import type { Track } from '../../core/state/index.ts';
import { COMBINED } from '../mux/index.ts';
import type { StreamSession, StreamSessions } from '../sessions/index.ts';
import { needsRemux, type OpenSource } from '../source/index.ts';
import { type CombineDependencies, createCombine } from './combine.ts';
import { downloadHeaders } from './download-headers.ts';
import type { FindRendition, FoundRendition } from './find-rendition.ts';
import { sendHead, sendRepresentation } from './send-representation.ts';
import { routePath } from './stream-routes.ts';

export interface CombinedRouteDependencies extends CombineDependencies {
  readonly findRendition: FindRendition;
  readonly visits: StreamSessions;
  /** As `openSource`, but never resolves again: for HEAD. Absent: HEAD says only what the table knows. */
  readonly peekSource?: OpenSource;
  readonly log: Log;
}

const PATH = routePath('Combined');
interface Route {
  Params: { key: string };
}

/** GET and HEAD /api/Stream/Combined/{key}: video and audio from two tracks, as one MP4 from its beginning. */
export function combinedRoute(app: FastifyInstance, dependencies: CombinedRouteDependencies): void {
  const { findRendition, visits, log } = dependencies;
  const combine = createCombine(dependencies);
  const { mimeType, fileExtension } = COMBINED;

  app.head<Route>(PATH, async (request, reply) => {
    const found = await findRendition(request.params.key, 'Combined');
    const sizes = await lookAt(found, () => visits.open(request.ip, reply.raw), dependencies);
    reply.headers({ ...downloadHeaders(found, fileExtension), ...estimate(sizes) });
    return sendHead(reply, { size: undefined, mimeType, fileExtension, acceptRanges: 'none' });
  });

  app.get<Route>(PATH, async (request, reply) => {
    const found = await findRendition(request.params.key, 'Combined');
    const visit = visits.open(request.ip, reply.raw);
    const { body, sources } = await combine(found, visit);

    const sizes = sources.map((source, index) => source.size ?? trackBytes(found.tracks[index]));
    reply.headers({ ...downloadHeaders(found, fileExtension), ...estimate(sizes) });
    const representation = { size: undefined, etag: undefined, mimeType, fileExtension, read: () => body };
    return sendRepresentation(request, reply, representation, { visit, log });
  });
}

/** What GET would say, by the first bytes of the tracks; what the table knows where it knows all, or they cannot be had. */
async function lookAt(
  { resource, tracks }: FoundRendition,
  begin: () => StreamSession,
  { peekSource, log }: CombinedRouteDependencies,
): Promise<(number | undefined)[]> {
  const known = tracks.map(trackBytes);
  const isKnown = tracks.every((track) => needsRemux(track) || track.sizeIsExact);
  if (!peekSource || isKnown) return known;
  try {
    const visit = begin();
    const look = async (track: Track) => {
      if (needsRemux(track)) return track.sizeBytes;
      const source = await peekSource(resource, track, visit.signal);
      visit.onClose(() => source.close());
      return source.size ?? track.sizeBytes;
    };
    return await Promise.all(tracks.map(look));
  } catch (error) {
    log.info('HEAD could not look at the source', { error: String(error) });
    return known;
  }
}

/** The file is the sum of its tracks and a thousandth more: a hint for progress bars, never a Content-Length. */
function estimate(sizes: readonly (number | undefined)[]): Record<string, string> {
  const total = sizes.reduce<number | undefined>(
    (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
    0,
  );
  return total ? { 'estimated-content-length': String(total) } : {};
}

const trackBytes = (track: { readonly sizeBytes?: number } | undefined) => track?.sizeBytes;
