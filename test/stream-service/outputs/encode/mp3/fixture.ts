import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FileSource, SegmentedSource, Source } from '@reelay/source';
import { toStreamProblem } from '../../../../../core/api/problem.ts';
import { silentLog } from '../../../../../core/log/index.ts';
import type { Resource, Track } from '../../../../../core/state/resource.ts';
import { createFfmpegInputServer } from '../../../../../stream-service/ffmpeg/ffmpeg-input-server.ts';
import { createComputedExtents } from '../../../../../stream-service/outputs/computed-extents.ts';
import { openConversion } from '../../../../../stream-service/outputs/encode/encode.ts';
import type { EncodedName, SelectedSound } from '../../../../../stream-service/outputs/encode/encoded-formats.ts';
import type { FrameEncoding } from '../../../../../stream-service/outputs/encode/frames/frame-layout.ts';
import {
  createFrameStreams,
  type FrameStreamsOptions,
} from '../../../../../stream-service/outputs/encode/frames/frame-streams.ts';
import {
  type ClipTimes,
  type Representation,
  toReadError,
} from '../../../../../stream-service/outputs/representation.ts';
import {
  type AdmissionLimits,
  createAdmission,
  noopObserver,
} from '../../../../../stream-service/sessions/stream-sessions.ts';
import { createFaultHandler } from '../../../../origin/faults.ts';
import { closeAfterwards } from '../../../../support/close-afterwards.ts';
import { ffmpegPath } from '../../../../support/on-path.ts';
import { resourceWith, startUpstream, trackAt } from '../../../source/upstream.ts';

export const LIMITS: AdmissionLimits = { maxStreams: 100, maxStreamsPerClient: 100, maxFfmpeg: 4 };

export const track = { formatId: 'best' } as Track;

export const resourceOf = (traits: Partial<Resource>): Resource =>
  ({ id: 'resource', title: null, author: null, isLive: false, renditions: [], ...traits }) as Resource;

/** LAME's fastest algorithm, for tests of sample positions: they do not depend on it. */
export const fastLame = (encoding: FrameEncoding): FrameEncoding => ({
  ...encoding,
  outputArgs: ['-compression_level', '9', ...encoding.outputArgs],
});

/** Segments of 24 s instead of 144 s, with a boundary early in the conversion. */
export const shortSegments = (encoding: FrameEncoding): FrameEncoding => ({ ...encoding, groupFrames: 1000 });

interface ConversionOptions extends Partial<FrameStreamsOptions> {
  readonly limits?: Partial<AdmissionLimits>;
  readonly buildId?: string;
  readonly path?: string;
  readonly format?: EncodedName;
}

/** Conversions to MP3, or another format. @param change of the encoding of those of known length */
export async function startMp3(
  options: ConversionOptions = {},
  change: (encoding: FrameEncoding) => FrameEncoding = (encoding) => encoding,
) {
  const inputServer = closeAfterwards(await createFfmpegInputServer());
  const admission = createAdmission({ ...LIMITS, ...options.limits });
  const ffmpeg = {
    version: '',
    path: options.path ?? ffmpegPath(),
    source: 'system',
    buildId: options.buildId ?? 'build',
  } as const;
  const extents = createComputedExtents();
  const defaults = { inputServer, admission, observer: noopObserver, log: silentLog, parallelism: 2, extents };
  const dependencies = { ...defaults, ...options };
  const streams = createFrameStreams(dependencies);
  const changed: typeof streams = {
    ...streams,
    ranged: (input, layout, tag) => streams.ranged(input, { ...layout, encoding: change(layout.encoding) }, tag),
  };
  const open = async (resource: Resource, track: Track, source: Source, clip?: ClipTimes, chosen?: SelectedSound) =>
    openConversion(
      options.format ?? 'mp3',
      { resource, track, source, ffmpeg, client: 'client' },
      { clip, ...chosen },
      changed,
    );
  return { open, admission };
}

/** A file in memory. Reading fails at offset `cutAt`; `sized: false` hides its size. */
export function fileSource(bytes: Buffer, { cutAt = Number.POSITIVE_INFINITY, sized = true } = {}) {
  const reading = new Set<Readable>();
  const source: FileSource = {
    needsRemux: false,
    size: sized ? bytes.length : undefined,
    validator: '"entity"',
    read(first, last = bytes.length - 1) {
      const stream = Readable.from(chunks(first, last), { objectMode: false });
      reading.add(stream);
      stream.once('close', () => reading.delete(stream));
      return stream;
    },
    close: () => undefined,
  };
  async function* chunks(first: number, last: number) {
    for (let at = first; at <= last; at += 65_536) {
      if (at >= cutAt) throw new Error('The source failed');
      yield bytes.subarray(at, Math.min(at + 65_536, last + 1));
    }
  }
  return Object.assign(source, { reading });
}

/** Bytes as those of all segments of a list of six seconds. */
export const segmentsOf = (bytes: Buffer | Readable): SegmentedSource => ({
  needsRemux: true,
  size: undefined,
  durationSeconds: 6,
  readAll: () => (Buffer.isBuffer(bytes) ? fileSource(bytes).read(0) : bytes),
  close: () => undefined,
});

/** The segments of a playlist on disk. Reading fails at the segment `deadFrom`. */
export async function segmentedSource(playlist: string, { deadFrom = Number.POSITIVE_INFINITY } = {}) {
  const folder = playlist.replace(/[^/]+$/, '');
  const text = await readFile(playlist, 'utf8');
  const [, map] = /#EXT-X-MAP:URI="([^"]+)"/.exec(text) ?? [];
  const init = map ? [await readFile(folder + map)] : [];
  let durationSeconds = 0;
  const files: string[] = [];
  for (const [, seconds, file] of text.matchAll(/#EXTINF:([\d.]+).*\n([^#\n]+)/g)) {
    files.push(folder + file);
    durationSeconds += Number(seconds);
  }
  async function* chunks() {
    yield* init;
    for (const [index, file] of files.entries()) {
      if (index >= deadFrom) throw new Error('A segment could not be read');
      yield await readFile(file);
    }
  }
  const readAll = () => Readable.from(chunks(), { objectMode: false });
  return { ...segmentsOf(Buffer.alloc(0)), durationSeconds, readAll };
}

/** The segments of a playlist on disk as the file that they are read as. */
export async function listedFile(playlist: string): Promise<Source> {
  const upstream = await startUpstream();
  upstream.use(async (request, response) => {
    const bytes = await readFile(join(playlist, '..', request.url ?? ''));
    createFaultHandler({ bytes })(request, response);
  });
  const listed = trackAt(`${upstream.origin}/${basename(playlist)}`, { delivery: 'hls' });
  const resource = resourceWith(listed);
  const { findFile, openSource } = upstream.openers();
  const file = await findFile(resource, listed);
  if (!file) throw new Error('The list makes no file');
  return openSource(resource, { ...listed, file });
}

/** Reads a byte range, both ends included. */
export const readRange = (representation: Representation, first: number, last?: number): Promise<Buffer> =>
  buffer(representation.read(first, last));

/** The Problem that a read failing before its first byte is answered with. @throws Error when the read succeeds */
export const problemOf = (reading: Promise<unknown>) =>
  reading.then(
    () => {
      throw new Error('The read succeeded');
    },
    (error: unknown) => toStreamProblem(toReadError(error)),
  );
