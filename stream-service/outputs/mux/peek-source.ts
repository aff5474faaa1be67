import { Readable } from 'node:stream';
import { probeSegmentStart, type SegmentStart } from '@reelay/seekable-media/mpegts/segment-probe';
import { hasBytes, type SegmentedSource, type Source } from '@reelay/source';

/** More bytes of a segment add no further facts. */
const MAX_PEEK_BYTES = 256 * 1024;

/** A source whose first bytes have been read; its first reader still gets them. */
export interface PeekedSource {
  readonly source: Source;
  readonly start: SegmentStart;
  /** Ends the read under way unless a reader has taken it over. */
  close(): void;
}

/** Reads how a segmented source starts. A file is not read: it was probed when it was resolved. */
export async function peekSourceStart(source: Source, signal: AbortSignal): Promise<PeekedSource> {
  if (!source.needsRemux) return { source, start: {}, close: () => undefined };
  const opened = source.readAll();
  const abort = () => opened.destroy(new Error('Aborted'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const { start, stream } = await readStart(opened);
    const resumable = withOpenRead(source, stream);
    return { source: resumable, start, close: resumable.close };
  } catch (error) {
    opened.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The source with a read from its beginning under way, which the first such read takes over. */
function withOpenRead(source: SegmentedSource, stream: Readable): SegmentedSource {
  let open: Readable | undefined = stream;
  // Also reported to the reader, if there is one yet.
  stream.on('error', () => undefined);
  return {
    ...source,
    readAll() {
      const taken = open ?? source.readAll();
      open = undefined;
      return taken;
    },
    close() {
      open?.destroy();
      open = undefined;
      source.close();
    },
  };
}

/** Reads the start of a stream; the stream returned still has those bytes. */
async function readStart(stream: Readable): Promise<{ readonly start: SegmentStart; readonly stream: Readable }> {
  let head = Buffer.alloc(0);
  while (await hasBytes(stream)) {
    head = Buffer.concat([head, stream.read() ?? Buffer.alloc(0)]);
    const start = probeSegmentStart(head);
    if (!start.isComplete && head.length < MAX_PEEK_BYTES) continue;
    stream.unshift(head);
    return { start, stream };
  }
  if (head.length === 0) throw new Error('The source ended without a byte');
  return { start: probeSegmentStart(head), stream: Readable.from([head]) };
}
