import type { Readable } from 'node:stream';
import type { Resource, Track } from '../core/state/index.ts';
import type { Source } from './source/index.ts';

/** What a Stream endpoint sends: a direct file, a conversion, a remux. One path answers them all. */
export interface Representation {
  /** Bytes, exact. Undefined: nobody knows before its end, so neither length nor ranges are offered. */
  readonly size: number | undefined;
  readonly mimeType: string;
  /** With a leading dot. */
  readonly fileExtension: string;
  /** Strong validator, quotes included (RFC 9110 §8.8.3). Undefined without a size: no range is ever joined. */
  readonly etag: string | undefined;
  /**
   * Reads from `first` to `last`, both included; without `last` to the end, the only way when `size` is unknown.
   * Exactly these bytes come, or the stream is destroyed with an error; where that happens before the first byte and
   * the error is a Problem, it is what the client is answered. Destroying the stream ends whatever feeds it. A chunk
   * belongs to whoever takes it: its memory is not used again.
   */
  read(first: number, last?: number): Readable;
}

/** The conversion of a track to MP3. `source` is the open track. */
export type OpenMp3 = (resource: Resource, track: Track, source: Source) => Promise<Representation>;
