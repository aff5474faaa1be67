import { withSpan } from '../../log/index.ts';
import { hasEncryptedSampleEntry } from '../../media/isobmff/index.ts';
import { sniff } from '../../media/sniff/index.ts';
import type { Track } from '../../state/index.ts';
import type { ContainerRequest, Contents } from './container-reader.ts';
import type { Block, GuardedReader } from './guarded-reader.ts';
import { createProbePool } from './probe-process.ts';

/** Traits of a file, read from its bytes. */
export type ProbeResult = Contents & Partial<Pick<Track, 'bitrate'>>;

/** Bytes, in place of an unknown file size. */
const UNKNOWN_SIZE = 2 ** 40;

/** Shared by all probes; started by the first one. */
const containers = createProbePool();

/** Ends the processes that read containers; the next probe starts another. */
export const closeProbe = containers.close;

/** For which client a file is read, and until when. */
export interface ProbeOptions {
  readonly client: string;
  readonly signal: AbortSignal;
}

/**
 * Reads codecs, height and exact duration of a file from its container. A file that is only recognized by its magic bytes
 * is media without these.
 * @returns undefined when it is not media
 * @throws when the process that reads containers does not start; the signal's reason when it is aborted in the queue
 */
export async function probe(reader: GuardedReader, options: ProbeOptions): Promise<ProbeResult | undefined> {
  const [{ bytes: head }] = reader.blocks;
  if (head.length === 0) return undefined;
  const contents = await readFile(reader, options);
  // An unknown format, a damaged file, or one whose index is beyond the read limits: the magic bytes decide.
  if (contents === undefined) return sniffed(head);
  return contents ? { ...contents, ...bitrateOf(reader.size, contents.durationSeconds) } : undefined;
}

/** Codecs and height from the start of a segment, or from an initialization section; undefined when it has none. */
export async function probeSegment(
  bytes: Buffer,
  { client, signal }: ProbeOptions,
): Promise<Pick<Track, 'video' | 'audio'> | undefined> {
  const blocks = [{ start: 0, bytes }];
  const request = { size: bytes.length, blocks, wantsDuration: false, isLast: true };
  const { contents } = await withSpan('read container', () => containers.read(request, client, signal));
  return contents ? { video: contents.video, audio: contents.audio } : undefined;
}

/** Parses the container from the blocks read so far, and again after each block that turns out to be missing. */
async function readFile(reader: GuardedReader, { client, signal }: ProbeOptions): Promise<Contents | null | undefined> {
  const { size = UNKNOWN_SIZE, blocks } = reader;
  for (let isLast = false; ; ) {
    const request: ContainerRequest = { size, blocks, wantsDuration: true, isLast };
    const { contents, missing } = await withSpan('read container', () => containers.read(request, client, signal));
    if (!missing) return contents;
    // Beyond the limits or out of reach: the last attempt uses the blocks that are there.
    isLast = await reader.load(...missing).then(
      () => false,
      () => true,
    );
  }
}

function sniffed(head: Buffer): ProbeResult | undefined {
  const found = sniff(head);
  return found && { container: found.container, video: found.audioOnly ? null : {}, audio: {} };
}

const bitrateOf = (size: number | undefined, seconds: number | undefined) =>
  size && seconds ? { bitrate: (size * 8) / seconds / 1000 } : {};

/**
 * Whether the blocks read so far contain an encrypted MP4 sample entry. Reading the blocks themselves does not depend on
 * the container reader, which may fail on encrypted files.
 */
export const isEncrypted = (blocks: readonly Block[]): boolean =>
  blocks.some(({ bytes }) => hasEncryptedSampleEntry(bytes));
