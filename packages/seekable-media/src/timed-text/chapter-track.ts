import type { Chapter } from '../chapters/index.ts';
import { box, DATA_INFORMATION, fullBox, u32 } from '../isobmff/index.ts';
import { type TextSample, textSample } from './text-samples.ts';
import { MATRIX, type TextTrack, textHeader } from './text-track.ts';

/** Behind the text of a sample: it is UTF-8 (QuickTime File Format, Text Sample Data). */
const ENCODING = box('encd', u32(0x100));
/** Copy, white, in the middle, reserved: 16 bits each (QuickTime File Format, Base Media Info). */
const GRAPHICS_MODE = Buffer.from([0, 0x40, 0x80, 0, 0x80, 0, 0x80, 0, 0, 0, 0, 0]);

const MEDIA_INFORMATION = [box('gmhd', fullBox('gmin', 0, 0, GRAPHICS_MODE), box('text', MATRIX)), DATA_INFORMATION];
/** `text` (Text Sample Description): flags, colours, box, font and its name, of which nothing is shown. */
const SAMPLE_ENTRY = box('text', Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), Buffer.alloc(44));

/**
 * Chapters as the track of text that QuickTime introduced: other tracks refer to it, and players list it instead of showing
 * it. Its samples are one chunk, since players read all of them first.
 * @param chapters in ascending order
 * @param endSeconds of the presentation; infinite: unknown
 */
export function chapterTrack(chapters: readonly Chapter[], endSeconds: number): TextTrack | undefined {
  const first = chapters[0];
  const last = chapters.at(-1);
  if (!first || !last) return undefined;
  const toMs = (seconds: number) => Math.round(seconds * 1000);
  const untitled = { title: '', startSeconds: 0 };
  const named = first.startSeconds > 0 ? [untitled, ...chapters] : chapters;
  const lastEnd = [endSeconds, last.endSeconds].find(Number.isFinite) ?? last.startSeconds + 1;
  const samples = named.map(({ title, startSeconds }, index): TextSample => {
    const startMs = toMs(startSeconds);
    const durationMs = Math.max(1, toMs(named[index + 1]?.startSeconds ?? lastEnd) - startMs);
    return { startMs, durationMs, bytes: Buffer.concat([textSample(title), ENCODING]) };
  });
  const bytes = Buffer.concat(samples.map((sample) => sample.bytes));
  return {
    isChapters: true,
    header: textHeader({ handler: 'text', name: 'Chapters', language: 'und' }, MEDIA_INFORMATION, SAMPLE_ENTRY),
    durationSeconds: lastEnd,
    chunks: [{ startSeconds: 0, samples, bytes }],
  };
}
