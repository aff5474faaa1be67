import {
  InvalidSubtitles,
  readSubtitles,
  SUBTITLE_FORMATS,
  writeSubtitles,
} from '@reelay/seekable-media/text/subtitles';
import { TextTooLarge, textSamples } from '@reelay/seekable-media/text/text-track';
import * as seeds from '../../../packages/seekable-media/test/seeds.ts';
import { check, type FuzzTargets } from './target.ts';

/** Subtitles. */
export const textTracks: FuzzTargets = {
  subtitles: {
    run(input) {
      const cues = readSubtitles(input);
      let last = 0;
      for (const { startMs, endMs, text } of cues) {
        check(startMs >= last && endMs > startMs && endMs < 3.7e9, 'Times out of order');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be gone
        check(text.length <= 2000 && !/[\u0000-\u0009\u000b-\u001f]|\n\n/.test(text), 'Text that ends a cue');
        last = startMs;
      }
      const [vtt = '', srt = ''] = SUBTITLE_FORMATS.map((format) => writeSubtitles(cues, format));
      for (const file of [vtt, srt]) check(readSubtitles(Buffer.from(file)).length <= cues.length, 'A cue became two');
      check(!/<(?!\/?$)[a-z]/i.test(vtt), 'Markup is left');
    },
    errors: [InvalidSubtitles],
    seeds: seeds.SUBTITLES,
    maxBytes: 5_000_000,
    maxSteps: { fixed: 1_000_000, perByte: 3000 },
  },
  'text-samples': {
    run(input) {
      const cues = Array.from({ length: Math.floor(input.length / 5) }, (_, index) => {
        const startMs = input.readUInt16LE(index * 5);
        return {
          startMs,
          endMs: startMs + 1 + input.readUInt16LE(index * 5 + 2),
          text: 'é'.repeat(input[index * 5 + 4] ?? 0),
        };
      }).toSorted((a, b) => a.startMs - b.startMs);
      let time = 0;
      for (const { startMs, durationMs, bytes } of textSamples(cues, 60_000)) {
        check(startMs === time && durationMs > 0, 'A gap between samples');
        check(bytes.readUInt16BE() === bytes.length - 2, 'A sample of another length');
        time += durationMs;
      }
      check(time <= 60_000, 'Longer than the media');
    },
    errors: [TextTooLarge],
    seeds: [Buffer.from([0, 0, 100, 0, 5, 50, 0, 100, 0, 9]), Buffer.alloc(50, 1)],
    // Up to 4 MB are written: eight cues at once for each change.
    maxSteps: { fixed: 20_000_000, perByte: 5000 },
  },
};
