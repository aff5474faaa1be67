import type { FastifyInstance } from 'fastify';
import type { Log } from '../layers/contract/index.ts';
import { sendOutline, sendRepresentation } from './answer.ts';
import { downloadHeaders } from './download-headers.ts';
import type { FindRendition, Found } from './find-rendition.ts';
import type { Mux } from './mp4/mux.ts';
import { COMBINED, combinedPlan } from './mp4/mux-plan.ts';
import type { RequireFfmpeg } from './require-ffmpeg.ts';
import type { OpenSource, Source } from './source/source.ts';
import type { Visit, Visits } from './visits.ts';

export interface CombinedRouteDependencies {
  readonly findRendition: FindRendition;
  readonly visits: Visits;
  readonly openSource: OpenSource;
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
  readonly log: Log;
}

const PATH = '/api/Stream/Combined/:key';
interface Route {
  Params: { key: string };
}

/** GET and HEAD /api/Stream/Combined/{key}: video and audio from two tracks, as one MP4 from its beginning. */
export function combinedRoute(app: FastifyInstance, dependencies: CombinedRouteDependencies): void {
  const { findRendition, visits, mux, requireFfmpeg, log } = dependencies;
  const { mimeType, fileExtension } = COMBINED;

  app.head<Route>(PATH, async (request, reply) => {
    const found = await findRendition(request.params.key, 'Combined');
    reply.headers({ ...downloadHeaders(found, fileExtension), ...estimate(found.tracks.map(trackBytes)) });
    return sendOutline(reply, { size: undefined, mimeType, fileExtension, acceptRanges: 'none' });
  });

  app.get<Route>(PATH, async (request, reply) => {
    const found = await findRendition(request.params.key, 'Combined');
    const visit = visits.begin(request.ip, reply.raw);
    const ffmpeg = await requireFfmpeg();
    const opening = openSideBySide(found, visit, dependencies.openSource);
    const [video, audio = video] = found.tracks;
    // FFmpeg takes as long to start as a source to open: neither waits for the other.
    const body = mux(ffmpeg, { sources: opening, plan: combinedPlan(audio), durationSeconds: durationOf(found) });
    visit.atEnd(() => body.destroy());
    const sources = await Promise.all(opening);

    const sizes = sources.map((source, index) => sourceBytes(source) ?? trackBytes(found.tracks[index]));
    reply.headers({ ...downloadHeaders(found, fileExtension), ...estimate(sizes) });
    const representation = { size: undefined, etag: undefined, mimeType, fileExtension, read: () => body };
    return sendRepresentation(request, reply, representation, { visit, log });
  });
}

/** Both, or none: the first failure ends the opening of the other one. */
function openSideBySide({ resource, tracks }: Found, visit: Visit, openSource: OpenSource): Promise<Source>[] {
  const failed = new AbortController();
  const signal = AbortSignal.any([visit.signal, failed.signal]);
  const opening = tracks.map(async (track) => {
    const source = await openSource(resource, track, signal);
    visit.atEnd(() => source.close());
    return source;
  });
  for (const each of opening) each.catch((error) => failed.abort(error));
  return opening;
}

/** Seconds of the longer track, from its container where that is known; undefined when live. */
function durationOf({ resource, tracks }: Found): number | undefined {
  if (resource.isLive) return undefined;
  const known = tracks.flatMap(({ durationSeconds }) => durationSeconds ?? []);
  return known.length === tracks.length ? Math.max(...known) : resource.durationSeconds;
}

/** The file is the sum of its tracks and a thousandth more: a hint for progress bars, never a Content-Length. */
function estimate(sizes: readonly (number | undefined)[]): Record<string, string> {
  const total = sizes.reduce<number | undefined>(
    (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
    0,
  );
  return total ? { 'estimated-content-length': String(total) } : {};
}

const sourceBytes = (source: Source) => (source.kind === 'file' ? source.size : undefined);
const trackBytes = (track: { readonly sizeBytes?: number } | undefined) => track?.sizeBytes;
