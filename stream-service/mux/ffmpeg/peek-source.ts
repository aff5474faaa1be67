import { Readable } from 'node:stream';
import { probeSegmentStart, type SegmentStart } from '../../../core/media/segment-probe/index.ts';
import { hasBytes, type SegmentedSource, type Source } from '../../source/index.ts';

/** Bytes in which a segment has said what it holds, or never will. */
const MOST_BYTES = 256 * 1024;

/** A source whose first bytes have been looked at: its first reader still gets them. */
export interface PeekedSource {
  readonly source: Source;
  readonly beginning: SegmentStart;
  /** Ends the reading that nobody has taken over. */
  close(): void;
}

/**
 * Looks at how segments begin. Of a file nothing is asked: what it is has been seen when it was resolved.
 * @throws whatever reading the source throws, and when `signal` aborts
 */
export async function peekSourceStart(source: Source, signal: AbortSignal): Promise<PeekedSource> {
  if (!source.needsRemux) return { source, beginning: {}, close: () => undefined };
  const run = source.readFrom(0);
  const leave = () => run.stream.destroy(new Error('No longer wanted'));
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    const { beginning, stream } = await beginningOf(run.stream);
    const begun = adopting(source, { ...run, stream });
    return { source: begun, beginning, close: begun.close };
  } catch (error) {
    run.stream.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The source, whose reading from the beginning is under way. */
function adopting(source: SegmentedSource, run: ReturnType<SegmentedSource['readFrom']>): SegmentedSource {
  let waiting: typeof run | undefined = run;
  // Whoever reads it sees the failure too, but may not have begun.
  run.stream.on('error', () => undefined);
  return {
    ...source,
    readFrom(seconds) {
      const taken = seconds === 0 ? waiting : undefined;
      if (taken) waiting = undefined;
      return taken ?? source.readFrom(seconds);
    },
    close() {
      waiting?.stream.destroy();
      waiting = undefined;
      source.close();
    },
  };
}

/** Reads as much of a stream as it takes to tell how it begins. What is given in its place still has those bytes. */
async function beginningOf(stream: Readable): Promise<{ readonly beginning: SegmentStart; readonly stream: Readable }> {
  let head = Buffer.alloc(0);
  while (await hasBytes(stream)) {
    head = Buffer.concat([head, stream.read() ?? Buffer.alloc(0)]);
    const beginning = probeSegmentStart(head);
    if (!beginning.isComplete && head.length < MOST_BYTES) continue;
    stream.unshift(head);
    return { beginning, stream };
  }
  if (head.length === 0) throw new Error('The source ended without a byte');
  return { beginning: probeSegmentStart(head), stream: Readable.from([head]) };
}
