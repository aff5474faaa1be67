import { describe, expect, it } from 'vitest';
import { chaptersInText, chaptersWithin, timeChapters } from '../src/parts/chapters.ts';

const INTRO = { title: 'Intro', startSeconds: 0 };
const MIDDLE = { title: 'Middle', startSeconds: 90 };
const END = { title: 'End', startSeconds: 3723 };
const ALL = [INTRO, MIDDLE, END];

describe('chaptersInText', () => {
  it.each([
    ['times before titles', '0:00 Intro\n1:30 Middle\n1:02:03 End'],
    ['times with leading zeros', '00:00:00 Intro\n00:01:30 Middle\n01:02:03 End'],
    ['times in brackets', '[00:00] Intro\n(1:30) Middle\n[01:02:03] End'],
    ['times behind titles', 'Intro - 0:00\nMiddle – 1:30\nEnd (1:02:03)'],
    ['ranges of times', '0:00 - 1:30 Intro\n1:30–1:02:03: Middle\n1:02:03 - 1:10:00 | End'],
    ['ranges of times behind titles', 'Intro 0:00 - 1:30\nMiddle (1:30–1:02:03)\nEnd [1:02:03 - 1:10:00]'],
    ['lists in several languages', '0:00 Intro\n1:30 Middle\n1:02:03 End\n\n0:00 Anfang\n1:30 Mitte\n1:02:03 Ende'],
    [
      'emoji and directional marks',
      '\u200f0:00 \u25b6\ufe0f Intro\n\u{1f3b5} 1:30 Middle\u200e\n\u25b6\ufe0f 1:02:03 End',
    ],
    ['numbers and bullets', '1. 0:00 Intro\n2) 1:30 » Middle\n▶ 62:03 End'],
    [
      'lines between and around them',
      'Recorded in May\n\n0:00 Intro\nwith a guest\r\n1:30 Middle\r\n1:02:03 End\n#tag',
    ],
    ['times of the other form elsewhere', 'Live at 20:15\n0:00 Intro\n1:30 Middle\n1:02:03 End\nOpen until 9:30'],
    ['times before the first one at 0', '12:00 Lunch\n0:00 Intro\n1:30 Middle\n1:02:03 End'],
  ])('reads %s', (_, text) => expect(chaptersInText(text, 4000)).toEqual(ALL));

  it('keeps brackets, hyphens and times within a title', () =>
    expect(chaptersInText('0:00 (Intro) a-b\n0:10 At 12:30\n0:20 Title (live)', 60).map(({ title }) => title)).toEqual([
      '(Intro) a-b',
      'At 12:30',
      'Title (live)',
    ]));

  it.each([
    ['no text', ''],
    ['two times', '0:00 Intro\n1:30 Middle'],
    ['no time at 0', '0:01 Intro\n1:30 Middle\n1:02:03 End'],
    ['times that do not ascend', '0:00 Intro\n1:30 Middle\n1:02:03 End\n1:30 Again'],
    ['lengths of pieces', 'Intro 3:02\nMiddle 4:15\nEnd 3:59'],
    ['a time behind the end of the media', '0:00 Intro\n1:30 Middle\n1:02:03 End\n1:06:40 Behind'],
    ['times without titles', '0:00\n1:30 -\n1:02:03 End'],
    ['impossible times', '0:00 Intro\n1:60 Middle\n1:75:03 End'],
    ['ratios, dates and addresses', '0:00:00:00 a\n1:30:4:5 b\n[2001:db8::10:20] c'],
    ['prose', `We begin at 0:00 with the intro\nand at 1:30 there is the middle part\nand so on until 1:02:03 of it`],
  ])('finds nothing in %s', (_, text) => expect(chaptersInText(text, 4000)).toEqual([]));

  it('bounds number and length of chapters', () => {
    const lines = Array.from({ length: 500 }, (_, at) => `${Math.floor(at / 60)}:${String(at % 60).padStart(2, '0')} `);
    const found = chaptersInText(lines.map((time) => `${time}${'🎵'.repeat(120)}`).join('\n'), 1000);
    expect(found).toHaveLength(200);
    expect(found[0]?.title).toBe('🎵'.repeat(100));
    expect(chaptersInText(lines.map((time) => time + 'x'.repeat(400)).join('\n'), 1000)).toEqual([]);
  });

  it.each(['0:00 ', '-', '1:', '12:34 ', '[', '0:00\n', '- 0:00 - \n', '\ud83c'])(
    'reads 10,000 characters of %j without backtracking',
    (piece) => expect(chaptersInText(piece.repeat(10_000 / piece.length), 1e7)).toEqual([]),
    1000,
  );
});

describe('timeChapters', () => {
  it('ends each where it says, else with the next one, and the last one with the media', () =>
    expect(
      timeChapters(
        [
          { ...INTRO, endSeconds: 60 },
          { title: null, startSeconds: 90 },
          { ...END, endSeconds: 3999.5 },
        ],
        4000,
      ),
    ).toEqual([
      { ...INTRO, endSeconds: 60 },
      { title: 'Chapter 2', startSeconds: 90, endSeconds: 3723 },
      { ...END, endSeconds: Number.POSITIVE_INFINITY },
    ]));
});

describe('chaptersWithin', () => {
  const chapters = timeChapters(ALL, 4000);

  it('counts the times from the start of the part', () =>
    expect(chaptersWithin(chapters, [{ startSeconds: 80, endSeconds: 100 }])).toEqual([
      { title: 'Intro', startSeconds: 0, endSeconds: 10 },
      { title: 'Middle', startSeconds: 10, endSeconds: 20 },
    ]));

  it('continues them behind what is left out', () =>
    expect(
      chaptersWithin(chapters, [
        { startSeconds: 0, endSeconds: 60 },
        { startSeconds: 70, endSeconds: 80 },
        { startSeconds: 100, endSeconds: Number.POSITIVE_INFINITY },
      ]),
    ).toEqual([
      { title: 'Intro', startSeconds: 0, endSeconds: 70 },
      { title: 'Middle', startSeconds: 70, endSeconds: 3693 },
      { title: 'End', startSeconds: 3693, endSeconds: Number.POSITIVE_INFINITY },
    ]));

  it.each([
    ['overlapping', [{ ...INTRO, endSeconds: 100 }, MIDDLE], [0, 90, 90, 200]],
    ['of the same start', [MIDDLE, { ...MIDDLE, title: 'Twice' }], [90, 200]],
    ['behind the end', [INTRO, { ...MIDDLE, startSeconds: 250 }], [0, 200]],
    ['of no length', [INTRO, { ...MIDDLE, endSeconds: 90.01 }], [0, 90]],
  ])('has no chapters that are %s', (_, marks, times) => {
    const within = chaptersWithin(timeChapters(marks), [{ startSeconds: 0, endSeconds: 200 }]);
    expect(within.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds])).toEqual(times);
  });
});
