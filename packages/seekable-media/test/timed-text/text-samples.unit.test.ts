import { describe, expect, it } from 'vitest';
import { MAX_TEXT_SAMPLES, packLanguage, TextTooLarge, textSamples } from '../../src/text/text-track.ts';

const cue = (startMs: number, endMs: number, text: string) => ({ startMs, endMs, text });
const textOf = ({ bytes }: { readonly bytes: Buffer }) => {
  expect(bytes.readUInt16BE()).toBe(bytes.length - 2);
  return bytes.toString('utf8', 2);
};
const shown = (cues: Parameters<typeof textSamples>[0], endMs = 9000) =>
  textSamples(cues, endMs).map((sample) => [sample.startMs, sample.durationMs, textOf(sample)]);

describe('textSamples', () => {
  it('fills gaps with samples without text', () =>
    expect(shown([cue(1000, 2000, 'a'), cue(5000, 6000, 'b')])).toEqual([
      [0, 1000, ''],
      [1000, 1000, 'a'],
      [2000, 3000, ''],
      [5000, 1000, 'b'],
      [6000, 3000, ''],
    ]));

  it('joins what is shown at once, in the order of the starts', () =>
    expect(shown([cue(0, 3000, 'a'), cue(1000, 2000, 'b'), cue(1000, 5000, 'c')])).toEqual([
      [0, 1000, 'a'],
      [1000, 1000, 'a\nb\nc'],
      [2000, 1000, 'a\nc'],
      [3000, 2000, 'c'],
      [5000, 4000, ''],
    ]));

  it('ends without text where the end of the presentation is not known', () =>
    expect(shown([cue(0, 3000, 'a')], Number.POSITIVE_INFINITY)).toEqual([
      [0, 3000, 'a'],
      [3000, 1, ''],
    ]));

  it('ends with the presentation', () => {
    expect(shown([cue(0, 5000, 'a'), cue(3000, 9000, 'b'), cue(4000, 9000, 'c')], 4000)).toEqual([
      [0, 3000, 'a'],
      [3000, 1000, 'a\nb'],
    ]);
    expect(shown([cue(4000, 9000, 'c')], 4000)).toEqual([]);
  });

  it('bounds the lines shown at once, and cuts texts at whole characters', () => {
    const many = Array.from({ length: 1000 }, (_, index) => cue(0, 1000, String(index)));
    expect(shown(many, 1000)).toEqual([[0, 1000, '0\n1\n2\n3\n4\n5\n6\n7']]);
    const long = Array.from({ length: 8 }, () => cue(0, 10, '😀'.repeat(3000)));
    const [sample] = textSamples(long, 10);
    expect(sample && textOf(sample)).toMatch(/^[😀\n]+$/u);
    expect(sample?.bytes.length).toBeLessThanOrEqual(65_537);
  });

  it.each([
    ['too many', Array.from({ length: MAX_TEXT_SAMPLES + 1 }, (_, index) => cue(index, index + 1, 'a'))],
    ['too large together', Array.from({ length: 3000 }, (_, index) => cue(index, 100_000, 'a'.repeat(2000)))],
  ])('rejects subtitles that are %s', (_, cues) => expect(() => textSamples(cues, 100_000)).toThrow(TextTooLarge));
});

describe('packLanguage', () => {
  it.each([
    ['en', 'eng'],
    ['pt-BR', 'por'],
    ['es-419', 'spa'],
    ['zh-Hant', 'zho'],
    ['ml', 'mal'],
    ['iw', 'heb'],
    ['fil', 'fil'],
    ['en-orig', 'eng'],
    ['gsw', 'gsw'],
    ['xx', 'und'],
    ['toString', 'und'],
  ])('of %s is %s', (language, code) => {
    const packed = packLanguage(language);
    expect([10, 5, 0].map((shift) => String.fromCharCode(((packed >> shift) & 31) + 0x60)).join('')).toBe(code);
  });
});
