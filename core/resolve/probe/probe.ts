import { sniff } from '../../media/sniff/index.ts';
import type { Track } from '../../state/index.ts';
import type { Contents } from './container-reader.ts';
import type { GuardedReader } from './guarded-reader.ts';
import { createProbeProcess } from './probe-process.ts';

/** What the bytes of a file say of it. */
export type ProbeResult = Contents & Partial<Pick<Track, 'bitrate'>>;

/** Stands for the end of a file that does not say where it ends. */
const FAR_AWAY = 2 ** 40;

/** One for all that is probed here. It starts with the first. */
const containers = createProbeProcess();

/** Ends the process that reads containers; the next file starts another. */
export const closeProbe = containers.close;

/**
 * Reads what a file is from its container: codecs, height, the exact duration. A container that cannot be read but is
 * known by its magic bytes is media too, without figures. Undefined: not media.
 * @throws when the process that reads containers does not start
 */
export async function probe(reader: GuardedReader, signal: AbortSignal): Promise<ProbeResult | undefined> {
  const [{ bytes: head }] = reader.blocks;
  if (head.length === 0) return undefined;
  const contents = await readFile(reader, signal);
  // Not one of its formats, damaged, or its index is out of reach: the magic bytes decide.
  if (contents === undefined) return sniffed(head);
  return contents ? { ...contents, ...bitrateOf(reader.size, contents.durationSeconds) } : undefined;
}

/** Codecs and height as the beginning of a segment, or its initialization section, says them. Undefined: it does not. */
export async function probeSegment(
  bytes: Buffer,
  signal: AbortSignal,
): Promise<Pick<Track, 'video' | 'audio'> | undefined> {
  const blocks = [{ start: 0, bytes }];
  const question = { size: bytes.length, blocks, wantsDuration: false, isLast: true };
  const { contents } = await containers.ask(question, signal);
  return contents ? { video: contents.video, audio: contents.audio } : undefined;
}

/** From the beginning, again with each block that turns out to be missing. */
async function readFile(reader: GuardedReader, signal: AbortSignal): Promise<Contents | null | undefined> {
  const { size = FAR_AWAY, blocks } = reader;
  for (let isLast = false; ; ) {
    const { contents, missing } = await containers.ask({ size, blocks, wantsDuration: true, isLast }, signal);
    if (!missing) return contents;
    // Out of its bounds, or of reach: what is there must do.
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
