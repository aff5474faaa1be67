import type { Readable } from 'node:stream';
import { isMp4Container } from '../../core/media/codecs/index.ts';
import { UnsupportedMp4 } from '../../core/media/isobmff/index.ts';
import type { LayoutExtras } from '../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition, Track } from '../../core/state/index.ts';
import type { RequireFfmpeg } from '../ffmpeg/index.ts';
import type { Mux } from '../mux/ffmpeg/index.ts';
import { COMBINED, combinedPlan } from '../mux/index.ts';
import { muxNatively } from '../mux/native/index.ts';
import { type RepresentationHead, type RepresentationOpener, toReadError } from '../representation.ts';
import type { StreamSession } from '../sessions/index.ts';
import { needsRemux, type OpenSource, type Source } from '../source/index.ts';
import { requireFittingText } from './embedded-text.ts';
import { openTrack, openTracks } from './open-track.ts';

export interface CombinedDependencies {
  readonly openSource: OpenSource;
  /** As `openSource`, without resolving again. */
  readonly peekSource?: OpenSource;
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
}

interface Muxing {
  readonly body: Readable;
  /** Open, in the order of the tracks. */
  readonly sources: readonly Source[];
}

/** A video and an audio track as one MP4: MP4 files muxed in this process, others by FFmpeg. */
export function combined(
  found: KeyedRendition,
  dependencies: CombinedDependencies,
  extras: LayoutExtras = {},
): RepresentationOpener {
  const { peekSource } = dependencies;
  const { tracks } = found;
  const isExact = tracks.every((track) => needsRemux(track) || track.sizeIsExact);
  const muxed = tracks.every(isMp4File) ? muxFiles : muxByFfmpeg;

  return {
    describe: () => headOf(tracks.map(({ sizeBytes }) => sizeBytes)),
    inspect:
      isExact || !peekSource ? undefined : async (session) => headOf(await inspectSizes(found, session, peekSource)),
    async open(session) {
      requireFittingText(extras, durationOf(found));
      const { body, sources } = await muxed({ ...found, extras }, session, dependencies);
      session.onClose(() => body.destroy());
      const sizes = sources.map((source, index) => source.size ?? tracks[index]?.sizeBytes);
      return { ...headOf(sizes), read: () => body };
    },
  };
}

/** A rendition to mux, with what is added to it. */
interface ExtendedRendition extends KeyedRendition {
  readonly extras: LayoutExtras;
}

async function muxFiles(
  found: ExtendedRendition,
  session: StreamSession,
  dependencies: CombinedDependencies,
): Promise<Muxing> {
  const { openSource, mux, requireFfmpeg } = dependencies;
  const sources = await Promise.all(openTracks(openSource, found, session));
  const inputs = found.tracks.map(({ durationSeconds }, index) => ({
    source: sources[index] as Source,
    kind: index === 0 ? ('vide' as const) : ('soun' as const),
    durationSeconds: durationSeconds ?? found.resource.durationSeconds,
  }));
  const body = await muxNatively(inputs, session.signal, found.extras).catch(async (error) => {
    if (!(error instanceof UnsupportedMp4)) throw toReadError(error);
    return mux(await requireFfmpeg(), muxJob(found, sources, session));
  });
  return { body, sources };
}

async function muxByFfmpeg(
  found: ExtendedRendition,
  session: StreamSession,
  { openSource, mux, requireFfmpeg }: CombinedDependencies,
): Promise<Muxing> {
  const ffmpeg = await requireFfmpeg();
  const opening = openTracks(openSource, found, session);
  // FFmpeg starts while the sources are being opened.
  const body = mux(ffmpeg, muxJob(found, opening, session));
  session.onClose(() => body.destroy());
  return { body, sources: await Promise.all(opening) };
}

/** Whether a track is a file that this process may mux, or that may have a layout. */
export const isMp4File = (track: Track): boolean => !needsRemux(track) && isMp4Container(track.container);

function muxJob(found: ExtendedRendition, sources: readonly (Source | Promise<Source>)[], { client }: StreamSession) {
  const { extras } = found;
  const [video, audio = video] = found.tracks;
  return { sources, plan: combinedPlan(video, audio), durationSeconds: durationOf(found), extras, client };
}

/** Seconds of the longer track, by its container where that was read; undefined when live. */
function durationOf({ resource, tracks }: KeyedRendition): number | undefined {
  if (resource.isLive) return undefined;
  const known = tracks.flatMap(({ durationSeconds }) => durationSeconds ?? []);
  return known.length === tracks.length ? Math.max(...known) : resource.durationSeconds;
}

/** Bytes of each track: of files as their sources say, of segments as the table knows. */
const inspectSizes = (found: KeyedRendition, session: StreamSession, peekSource: OpenSource) =>
  Promise.all(
    found.tracks.map(async (track) => {
      if (needsRemux(track)) return track.sizeBytes;
      const source = await openTrack(peekSource, found, track, session);
      return source.size ?? track.sizeBytes;
    }),
  );

/** The size is that of the tracks and about a thousandth more: an estimate, never a Content-Length. */
function headOf(trackBytes: readonly (number | undefined)[]): RepresentationHead {
  const { mimeType, fileExtension } = COMBINED;
  const total = trackBytes.reduce((sum = Number.NaN, bytes = Number.NaN) => sum + bytes, 0);
  return { mimeType, fileExtension, size: undefined, acceptRanges: 'none', estimatedBytes: total || undefined };
}
