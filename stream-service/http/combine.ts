import type { Readable } from 'node:stream';
import { UnsupportedMp4 } from '../../core/media/isobmff/index.ts';
import type { Track } from '../../core/state/index.ts';
import type { RequireFfmpeg } from '../ffmpeg/index.ts';
import type { Mux } from '../mux/ffmpeg/index.ts';
import { combinedPlan } from '../mux/index.ts';
import { muxNatively } from '../mux/native/index.ts';
import type { StreamSession } from '../sessions/index.ts';
import { needsRemux, type OpenSource, type Source } from '../source/index.ts';
import type { FoundRendition } from './find-rendition.ts';
import { toUpstreamProblem } from './send-representation.ts';

export interface CombineDependencies {
  readonly openSource: OpenSource;
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
}

export interface Combined {
  readonly body: Readable;
  /** Open, in the order of the tracks. */
  readonly sources: readonly Source[];
}

/** @throws Problem 404, 502, 503 */
export type Combine = (found: FoundRendition, visit: StreamSession) => Promise<Combined>;

const MP4 = /^(mp4|m4a|m4v)$/i;

/** Puts video and audio into one MP4: MP4 files in this process, where bytes pass once; the rest by FFmpeg. */
export function createCombine({ openSource, mux, requireFfmpeg }: CombineDependencies): Combine {
  const byFfmpeg = async (found: FoundRendition, visit: StreamSession): Promise<Combined> => {
    const ffmpeg = await requireFfmpeg();
    const opening = openSideBySide(found, visit, openSource);
    // FFmpeg takes as long to start as a source to open: neither waits for the other.
    const body = mux(ffmpeg, workOf(found, opening));
    visit.onClose(() => body.destroy());
    return { body, sources: await Promise.all(opening) };
  };

  return async (found, visit) => {
    if (!found.tracks.every(isMp4File)) return byFfmpeg(found, visit);
    const sources = await Promise.all(openSideBySide(found, visit, openSource));
    const inputs = found.tracks.map(({ durationSeconds }, index) => ({
      source: sources[index] as Source,
      kind: index === 0 ? ('vide' as const) : ('soun' as const),
      durationSeconds: durationSeconds ?? found.resource.durationSeconds,
    }));
    const body = await muxNatively(inputs, visit.signal).catch(async (error) => {
      if (!(error instanceof UnsupportedMp4)) throw toUpstreamProblem(error);
      return mux(await requireFfmpeg(), workOf(found, sources));
    });
    visit.onClose(() => body.destroy());
    return { body, sources };
  };
}

const isMp4File = (track: Track) => !needsRemux(track) && MP4.test(track.container);

function workOf(found: FoundRendition, sources: readonly (Source | Promise<Source>)[]) {
  const [video, audio = video] = found.tracks;
  return { sources, plan: combinedPlan(video, audio), durationSeconds: durationOf(found) };
}

/** Both, or none: the first failure ends the opening of the other one. */
function openSideBySide(
  { resource, tracks }: FoundRendition,
  visit: StreamSession,
  openSource: OpenSource,
): Promise<Source>[] {
  const failed = new AbortController();
  const signal = AbortSignal.any([visit.signal, failed.signal]);
  const opening = tracks.map(async (track) => {
    const source = await openSource(resource, track, signal);
    visit.onClose(() => source.close());
    return source;
  });
  for (const each of opening) each.catch((error) => failed.abort(error));
  return opening;
}

/** Seconds of the longer track, from its container where that is known; undefined when live. */
function durationOf({ resource, tracks }: FoundRendition): number | undefined {
  if (resource.isLive) return undefined;
  const known = tracks.flatMap(({ durationSeconds }) => durationSeconds ?? []);
  return known.length === tracks.length ? Math.max(...known) : resource.durationSeconds;
}
