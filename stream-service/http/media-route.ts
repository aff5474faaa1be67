import type { FastifyInstance } from 'fastify';
import { predictRangeStart } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { RequireFfmpeg } from '../ffmpeg/index.ts';
import type { Mux } from '../mux/ffmpeg/index.ts';
import { remuxPlan } from '../mux/index.ts';
import type { OpenMp3, Representation } from '../representation.ts';
import type { StreamSession, StreamSessions } from '../sessions/index.ts';
import { needsRemux, type OpenSource } from '../source/index.ts';
import { downloadHeaders } from './download-headers.ts';
import { fileRepresentation } from './file-representation.ts';
import type { FindRendition, FoundRendition } from './find-rendition.ts';
import { mp3Outline } from './mp3-head.ts';
import { type RepresentationHead, sendHead, sendRepresentation } from './send-representation.ts';
import { routePath } from './stream-routes.ts';

export interface MediaRouteDependencies {
  readonly findRendition: FindRendition;
  readonly visits: StreamSessions;
  readonly openSource: OpenSource;
  /** As `openSource`, but never resolves again: for HEAD. Absent: HEAD says only what the table knows. */
  readonly peekSource?: OpenSource;
  readonly openMp3: OpenMp3;
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
  readonly log: Log;
}

const PATH = routePath('Media');
interface Route {
  Params: { key: string };
  Querystring: { format?: string | string[] };
}

/** GET and HEAD /api/Stream/Media/{key}: one rendition, as it is, remuxed, or converted to MP3. */
export function mediaRoute(app: FastifyInstance, dependencies: MediaRouteDependencies): void {
  const { findRendition, visits, log } = dependencies;

  // Explicit: the framework's own HEAD would run GET and read the whole source to its end.
  app.head<Route>(PATH, async (request, reply) => {
    const found = await findRendition(request.params.key, 'Media');
    const begin = () => visits.open(request.ip, reply.raw);
    const outline = await lookAt(found, wantsMp3(request.query, found), begin, dependencies);
    return sendHead(reply.headers(downloadHeaders(found, outline.fileExtension)), outline);
  });

  app.get<Route>(PATH, async (request, reply) => {
    const found = await findRendition(request.params.key, 'Media');
    const visit = visits.open(request.ip, reply.raw);
    const asMp3 = wantsMp3(request.query, found);
    const first = asMp3 ? 0 : predictRangeStart(request.headers.range);
    const representation = await open(found, { asMp3, first }, visit, dependencies);
    reply.headers(downloadHeaders(found, representation.fileExtension));
    return sendRepresentation(request, reply, representation, { visit, log });
  });
}

/** Of several `format` the first counts. On a rendition that cannot be heard none does. */
function wantsMp3({ format }: Route['Querystring'], { tracks: [track] }: FoundRendition): boolean {
  return [format].flat()[0]?.toLowerCase() === 'mp3' && track.audio !== null;
}

async function open(
  { key, resource, rendition, tracks: [track] }: FoundRendition,
  { asMp3, first }: { readonly asMp3: boolean; readonly first: number },
  visit: StreamSession,
  { openSource, openMp3, mux, requireFfmpeg }: MediaRouteDependencies,
): Promise<Representation> {
  // Before the source is troubled for nothing.
  if (asMp3 || needsRemux(track)) await requireFfmpeg();
  const source = await openSource(resource, track, visit.signal, first);
  visit.onClose(() => source.close());
  if (asMp3) return openMp3(resource, track, source);
  if (!source.needsRemux) return fileRepresentation(source, { key, ...rendition });

  const ffmpeg = await requireFfmpeg();
  const plan = remuxPlan(track);
  const durationSeconds = source.durationSeconds && (track.durationSeconds ?? source.durationSeconds);
  return {
    ...plan,
    size: undefined,
    etag: undefined,
    read: () => mux(ffmpeg, { sources: [source], plan, durationSeconds }),
  };
}

/** What GET would say of a file or its conversion, by its first bytes; what the table knows where that cannot be had. */
async function lookAt(
  found: FoundRendition,
  asMp3: boolean,
  begin: () => StreamSession,
  dependencies: MediaRouteDependencies,
) {
  const { peekSource, requireFfmpeg } = dependencies;
  const build = asMp3 ? await requireFfmpeg().catch(() => undefined) : undefined;
  const outline = asMp3 ? mp3Outline(found.resource, found.tracks[0], build) : outlineOf(found);
  if (!peekSource || needsRemux(found.tracks[0])) return outline;
  try {
    // A look takes a place like a stream; who has none left is told what the table knows.
    const peeking = { ...dependencies, openSource: peekSource };
    const representation = await open(found, { asMp3, first: 0 }, begin(), peeking);
    return { ...representation, acceptRanges: representation.size === undefined ? 'none' : 'bytes' } as const;
  } catch (error) {
    dependencies.log.info('HEAD could not look at the source', { error: String(error) });
    return outline;
  }
}

function outlineOf({ rendition, tracks: [track] }: FoundRendition): RepresentationHead {
  if (needsRemux(track)) return { ...remuxPlan(track), size: undefined, acceptRanges: 'none' };
  return { ...rendition, size: track.sizeIsExact ? track.sizeBytes : undefined, acceptRanges: 'bytes' };
}
