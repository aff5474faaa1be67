import { UnsupportedMp4 } from '../isobmff/index.ts';
import type { Cue } from '../subtitles/index.ts';

/** The text that is shown during some time. Milliseconds. */
export interface TextSample {
  readonly startMs: number;
  readonly durationMs: number;
  /** A sample of `tx3g` (3GPP TS 26.245 §5.17): length, then UTF-8. Empty text: nothing is shown. */
  readonly bytes: Buffer;
}

/** Ten hours with a change each second fit into one track. */
export const MAX_TEXT_SAMPLES = 40_000;
/** All samples are part of the layout, in memory. A film has 200 KB. */
const MAX_TOTAL_BYTES = 4 * 1024 * 1024;
/** Cues shown at once; a hostile file has thousands. */
const MAX_LINES_AT_ONCE = 8;
/** Subtitles exceed what a layout holds. */
export class TextTooLarge extends UnsupportedMp4 {}

/** Without text, where the end of the presentation is not known. */
const LAST_SAMPLE_MS = 1;

/** The length of a text has 16 bits. */
const MAX_TEXT_BYTES = 0xffff;

/**
 * The samples of a text track: each moment from 0 to the end has one, so that gaps are samples without text, and cues shown at
 * once are joined by line breaks.
 * @param cues in the order of their starts
 * @param endMs of the presentation: what is shown later is left out. Infinite: unknown
 * @throws TextTooLarge
 */
export function textSamples(cues: readonly Cue[], endMs: number): readonly TextSample[] {
  const shown = cues.filter(({ startMs }) => startMs < endMs);
  const edges = new Set([0]);
  for (const cue of shown) edges.add(cue.startMs).add(Math.min(cue.endMs, endMs));
  // libavformat shows the last sample until the end of the file, whatever its duration: one without text follows.
  if (shown.length > 0) edges.add(Number.isFinite(endMs) ? endMs : lastOf(edges) + LAST_SAMPLE_MS);
  if (edges.size > MAX_TEXT_SAMPLES + 1) throw new TextTooLarge('Too many subtitles');
  const times = [...edges].sort((a, b) => a - b);
  const samples: TextSample[] = [];
  let open: Cue[] = [];
  let next = 0;
  let totalBytes = 0;
  for (const [index, startMs] of times.entries()) {
    const until = times[index + 1];
    if (until === undefined) break;
    open = open.filter((cue) => cue.endMs > startMs);
    for (let cue = shown[next]; cue && cue.startMs <= startMs; cue = shown[++next]) {
      // Further ones are not shown; keeping them would make each step as long as the file.
      if (open.length < MAX_LINES_AT_ONCE) open.push(cue);
    }
    const bytes = open.length === 0 ? NO_TEXT : textSample(open.map((cue) => cue.text).join('\n'));
    totalBytes += bytes.length;
    if (totalBytes > MAX_TOTAL_BYTES) throw new TextTooLarge('Too much text');
    samples.push({ startMs, durationMs: until - startMs, bytes });
  }
  return samples;
}

const NO_TEXT = Buffer.alloc(2);

/** Text as a sample: its length, then UTF-8. */
export function textSample(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(2 + Math.min(Buffer.byteLength(text), MAX_TEXT_BYTES));
  // Whole characters only.
  const written = bytes.write(text, 2);
  bytes.writeUInt16BE(written);
  return bytes.subarray(0, 2 + written);
}

const lastOf = (times: ReadonlySet<number>): number => [...times].reduce((last, time) => Math.max(last, time), 0);
