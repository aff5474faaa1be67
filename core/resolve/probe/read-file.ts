import { discardResponse, type GuardedResponse } from '@reelay/guarded-fetch';
import { sniff } from '@reelay/seekable-media/codecs';
import { parseContentRange } from '@reelay/source/request-headers';
import { ParsingLimitExceeded, UpstreamError } from '../../errors/index.ts';
import {
  type ContainerRequest,
  type ContainerResponse,
  type Contents,
  FIND_ENCRYPTED_ENTRY,
  type FileBlock,
  type ParsingOptions,
  parse,
  READ_CONTAINER,
} from '../../parsing/index.ts';
import { capabilitiesOf, type Track } from '../../state/index.ts';
import { readBody, requestTrack, type TrackRequest } from './request-track.ts';

/** Bytes of one read: they contain most headers, so that one round trip is enough. */
const BLOCK_BYTES = 64 * 1024;
/** Bounds on the reads of one file. */
const MAX_BYTES = 6 * 1024 * 1024;
const MAX_REQUESTS = 12;

/** A remote file that can be read anywhere, within bounds on bytes and requests. */
export interface RemoteFile {
  /** Status of the first response; only 200 and 206 have bytes. */
  readonly status: number;
  /** Bytes; undefined when the source does not report it. */
  readonly size: number | undefined;
  /** The source sends it compressed: what was read is decoded, and nothing else can be. */
  readonly isCompressed: boolean;
  /** What was read: the start of the file first. */
  readonly blocks: readonly [FileBlock, ...FileBlock[]];
  /**
   * Adds a block with the bytes from `start` up to, not including, `end`.
   * @throws OutOfReach; UpstreamError; the signal's reason once it is aborted
   */
  load(start: number, end: number): Promise<void>;
}

/** Thrown for bytes beyond the bounds, or of a source without ranges: they cannot be read, however often it is tried. */
class OutOfReach extends Error {
  override readonly name = 'OutOfReach';
}

/**
 * Opens a file and reads its first bytes.
 * @throws EgressRefused, UpstreamError
 */
export async function openFile(track: Track, request: Omit<TrackRequest, 'range'>): Promise<RemoteFile> {
  const first = await requestTrack(track, { ...request, range: { first: 0, last: BLOCK_BYTES - 1 } });
  if (first.status === 206 && !startsAt(first, 0)) {
    discardResponse(first);
    throw new UpstreamError('The source returned a different range');
  }
  const hasBytes = first.status === 200 || first.status === 206;
  if (!hasBytes) discardResponse(first);
  const head = hasBytes ? await readBody(first, BLOCK_BYTES).catch(orNothing(first)) : Buffer.alloc(0);
  const size = sizeOf(first, head);
  const blocks: [FileBlock, ...FileBlock[]] = [{ start: 0, bytes: head }];
  let totalBytes = head.length;

  const load = async (start: number, end: number) => {
    const last = Math.min(Math.max(end, start + BLOCK_BYTES), size ?? end) - 1;
    if (first.status !== 206 || first.wasDecoded) throw new OutOfReach('The source does not support ranges');
    if (blocks.length >= MAX_REQUESTS || totalBytes + last - start > MAX_BYTES)
      throw new OutOfReach('Read limit exceeded');
    const response = await requestTrack(track, { ...request, range: { first: start, last } });
    if (response.status !== 206 || !startsAt(response, start)) {
      discardResponse(response);
      const isTransient = response.status === 429 || response.status >= 500;
      throw new (isTransient ? UpstreamError : OutOfReach)('The source did not return the range');
    }
    const bytes = await readBody(response, last - start + 1);
    if (bytes.length < end - start) throw new OutOfReach('The file ends before the range');
    totalBytes += bytes.length;
    blocks.push({ start, bytes });
  };

  return { status: first.status, size, isCompressed: first.wasDecoded === true, blocks, load };
}

/** What is not even compressed as it is said to be is no media. */
const orNothing =
  ({ wasDecoded }: GuardedResponse) =>
  (error: unknown): Buffer => {
    if (wasDecoded) return Buffer.alloc(0);
    throw error;
  };

const startsAt = ({ headers }: GuardedResponse, offset: number): boolean =>
  parseContentRange(headers['content-range'])?.first === offset;

/** Bytes of the whole file, from Content-Range, else Content-Length, else from the body when it is complete. */
function sizeOf({ status, headers, wasDecoded }: GuardedResponse, head: Buffer): number | undefined {
  if (wasDecoded || (headers['content-encoding'] && headers['content-encoding'] !== 'identity')) return undefined;
  if (status === 206) return parseContentRange(headers['content-range'])?.total;
  return digits(headers['content-length']) ?? (head.length < BLOCK_BYTES ? head.length : undefined);
}

const digits = (text: string | undefined): number | undefined =>
  text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** Traits of a file, read from its bytes. */
export interface FileTraits extends Contents, Partial<Pick<Track, 'bitrate'>> {
  /** They are assumed: the file was recognized by its magic bytes alone. */
  readonly isAssumed?: true;
}

/** What was found, as far as it could be read. */
export interface Probed<T> {
  readonly result: T;
  /**
   * Why the result is incomplete, and may be another one next time: time ran out, a request failed, or the process that reads
   * containers was killed.
   */
  readonly failure?: unknown;
}

/** Bytes, in place of an unknown file size. */
const UNKNOWN_SIZE = 2 ** 40;

/**
 * Reads codecs, height and exact duration of a file from its container. A file that is only recognized by its magic bytes
 * is media without these.
 * @returns undefined when it is not media
 * @throws what reading throws when the magic bytes say nothing either; the signal's reason
 */
export async function readTraits(file: RemoteFile, options: ParsingOptions): Promise<Probed<FileTraits | undefined>> {
  const { size = UNKNOWN_SIZE, blocks } = file;
  const [{ bytes: head }] = blocks;
  if (head.length === 0) return { result: undefined };
  const sniffed = sniffTraits(head);
  let answer: ContainerResponse;
  let failure: unknown;
  try {
    // Again after each block that turns out to be missing.
    do {
      answer = await readContainer({ size, blocks, wantsDuration: true, isLast: failure !== undefined }, options);
      // The last attempt uses the blocks that are there.
      if (answer.missing)
        await file.load(...answer.missing).catch((error) => {
          failure = error;
        });
    } while (answer.missing);
  } catch (error) {
    if (!sniffed) throw error;
    return { result: sniffed, failure: error };
  }
  if (failure instanceof OutOfReach) failure = undefined;
  const { contents } = answer;
  // An unknown format, a damaged file, or one whose index is beyond the read limits: the magic bytes decide.
  const traits = contents === undefined ? sniffed : contents;
  const result = traits ? { ...traits, ...bitrateOf(file.size, traits.durationSeconds) } : undefined;
  return { result, failure };
}

/** Codecs and height from the start of a segment, or from an initialization section; undefined when it has none. */
export async function readSegmentTraits(
  bytes: Buffer,
  options: ParsingOptions,
): Promise<Pick<Track, 'video' | 'audio'> | undefined> {
  const blocks = [{ start: 0, bytes }];
  const request = { size: bytes.length, blocks, wantsDuration: false, isLast: true };
  const { contents } = await readContainer(request, options);
  return contents ? { video: contents.video, audio: contents.audio } : undefined;
}

/** An empty response for a container that cannot be read within the limits of parsing, however often it is tried. */
async function readContainer(request: ContainerRequest, options: ParsingOptions): Promise<ContainerResponse> {
  return parse(READ_CONTAINER, request, options).catch((error) => {
    if (error instanceof ParsingLimitExceeded) return {};
    throw error;
  });
}

function sniffTraits(head: Buffer): FileTraits | undefined {
  const { container, audioOnly, durationSeconds } = sniff(head) ?? {};
  const seconds = durationSeconds === undefined ? {} : { durationSeconds };
  return container ? { container, video: audioOnly ? null : {}, audio: {}, ...seconds, isAssumed: true } : undefined;
}

const bitrateOf = (size: number | undefined, seconds: number | undefined) =>
  size && seconds ? { bitrate: (size * 8) / seconds / 1000 } : {};

/**
 * Whether the blocks read so far contain an encrypted MP4 sample entry. Reading the blocks themselves does not depend on
 * the container reader, which may fail on encrypted files.
 */
export const isEncrypted = (blocks: readonly FileBlock[], options: ParsingOptions): Promise<boolean> =>
  parse(
    FIND_ENCRYPTED_ENTRY,
    blocks.map(({ bytes }) => bytes),
    options,
  );

export const withoutDuration = ({ durationSeconds: _, ...track }: Track): Track => track;

/** Completes yt-dlp's description of a format in yt-dlp's own notation (`mp4 - 1280x720`). */
export const describeTraits = (description: string, { video }: Pick<Track, 'video'>): string =>
  description.replace(
    / - unknown$/,
    video?.height ? ` - ${video.width}x${video.height}` : video ? '$&' : ' - audio only',
  );

/**
 * Whether it is an HLS media playlist whose segments have to be read: no multivariant playlist describes it, or one without
 * CODECS (FFmpeg writes such), which leaves open whether a variant with AUDIO has audio in its own segments.
 */
export const isUndescribedPlaylist = (track: Track): boolean =>
  capabilitiesOf(track).mayOmitCodecs && !hasCodec(track) && (track.video !== null || track.bitrate === undefined);

export const hasCodec = ({ video, audio }: Track): boolean => (video?.codec ?? audio?.codec) !== undefined;
