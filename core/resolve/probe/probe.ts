import { ParsingLimitExceeded } from '../../errors/index.ts';
import { withSpan } from '../../log/index.ts';
import { sniff } from '../../media/sniff/index.ts';
import {
  type Block,
  type ContainerRequest,
  type ContainerResponse,
  type Contents,
  FIND_ENCRYPTED_ENTRY,
  parse,
  READ_CONTAINER,
} from '../../parsing/index.ts';
import type { Track } from '../../state/index.ts';
import { type GuardedReader, OutOfReach } from './guarded-reader.ts';

/** Traits of a file, read from its bytes. */
export interface ProbeResult extends Contents, Partial<Pick<Track, 'bitrate'>> {
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

/** For which client a container is read, and until when. */
export interface ProbeOptions {
  readonly client: string;
  readonly signal: AbortSignal;
}

/**
 * Reads codecs, height and exact duration of a file from its container. A file that is only recognized by its magic bytes
 * is media without these.
 * @returns undefined when it is not media
 * @throws what reading throws when the magic bytes say nothing either; the signal's reason
 */
export async function probe(reader: GuardedReader, options: ProbeOptions): Promise<Probed<ProbeResult | undefined>> {
  const [{ bytes: head }] = reader.blocks;
  if (head.length === 0) return { result: undefined };
  const { result: contents, failure } = await readFile(reader, options).catch((error) => {
    if (!sniffed(head)) throw error;
    return { result: undefined, failure: error };
  });
  // An unknown format, a damaged file, or one whose index is beyond the read limits: the magic bytes decide.
  if (contents === undefined) return { result: sniffed(head), failure };
  const result = contents ? { ...contents, ...bitrateOf(reader.size, contents.durationSeconds) } : undefined;
  return { result, failure };
}

/** Codecs and height from the start of a segment, or from an initialization section; undefined when it has none. */
export async function probeSegment(
  bytes: Buffer,
  options: ProbeOptions,
): Promise<Pick<Track, 'video' | 'audio'> | undefined> {
  const blocks = [{ start: 0, bytes }];
  const request = { size: bytes.length, blocks, wantsDuration: false, isLast: true };
  const { contents } = await readContainer(request, options);
  return contents ? { video: contents.video, audio: contents.audio } : undefined;
}

/** An empty response for a container that cannot be read within the limits of parsing, however often it is tried. */
async function readContainer(request: ContainerRequest, options: ProbeOptions): Promise<ContainerResponse> {
  return withSpan('read container', () => parse(READ_CONTAINER, request, options)).catch((error) => {
    if (error instanceof ParsingLimitExceeded) return {};
    throw error;
  });
}

/** Parses the container from the blocks read so far, and again after each block that turns out to be missing. */
async function readFile(reader: GuardedReader, options: ProbeOptions): Promise<Probed<Contents | null | undefined>> {
  const { size = UNKNOWN_SIZE, blocks } = reader;
  let failure: unknown;
  for (;;) {
    const request: ContainerRequest = { size, blocks, wantsDuration: true, isLast: failure !== undefined };
    const { contents, missing } = await readContainer(request, options);
    if (!missing) return { result: contents, failure: failure instanceof OutOfReach ? undefined : failure };
    // The last attempt uses the blocks that are there.
    await reader.load(...missing).catch((error) => {
      failure = error;
    });
  }
}

function sniffed(head: Buffer): ProbeResult | undefined {
  const found = sniff(head);
  return found && { container: found.container, video: found.audioOnly ? null : {}, audio: {}, isAssumed: true };
}

const bitrateOf = (size: number | undefined, seconds: number | undefined) =>
  size && seconds ? { bitrate: (size * 8) / seconds / 1000 } : {};

/**
 * Whether the blocks read so far contain an encrypted MP4 sample entry. Reading the blocks themselves does not depend on
 * the container reader, which may fail on encrypted files.
 */
export const isEncrypted = (blocks: readonly Block[], options: ProbeOptions): Promise<boolean> =>
  parse(
    FIND_ENCRYPTED_ENTRY,
    blocks.map(({ bytes }) => bytes),
    options,
  );
