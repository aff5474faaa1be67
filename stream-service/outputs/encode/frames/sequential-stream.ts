import { Readable } from 'node:stream';
import type { Release } from '../../../sessions/index.ts';
import type { Source } from '../../../source/index.ts';
import type { EncoderOptions } from './encoder-options.ts';
import type { FrameEncoding } from './frame-encoding.ts';
import { encodeSequentially } from './segment-encoder.ts';

export interface SequentialStreamOptions {
  readonly source: Source;
  readonly tag: Buffer;
  readonly encoding: FrameEncoding;
  readonly encoder: EncoderOptions;
  /** Takes a slot for a process that runs as long as the stream. @throws CapacityExceeded */
  readonly acquire: () => Release;
}

/**
 * Reads the tag and all audio: of a file from its beginning, of a live source from now on. Destroying it ends the
 * encoder.
 */
export function sequentialStream(options: SequentialStreamOptions): Readable {
  const controller = new AbortController();
  const body = Readable.from(bytes(options, controller.signal), { objectMode: false });
  body.once('close', () => controller.abort());
  return body;
}

async function* bytes(options: SequentialStreamOptions, signal: AbortSignal) {
  const { source, tag, encoding, encoder, acquire } = options;
  const release = acquire();
  try {
    // The tag is sent with the first frames: until then, a failure can still be answered.
    let head = tag;
    for await (const chunk of encodeSequentially(source, encoding, encoder, signal)) {
      yield head.length > 0 ? Buffer.concat([head, chunk]) : chunk;
      head = head.subarray(head.length);
    }
    if (head.length > 0) throw new Error('The source has no audio');
  } finally {
    release();
  }
}
