import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Cue,
  InvalidSubtitles,
  MAX_CUES,
  MAX_SUBTITLE_BYTES,
  readSubtitles,
  SUBTITLE_FORMATS,
  writeSubtitles,
} from '../../src/text/subtitles.ts';

const read = (text: string) => readSubtitles(Buffer.from(text));
const xml = (encoding: string, text: string) =>
  `<?xml version="1.0" encoding="${encoding}"?><tt><p begin="1s" end="2s">${text}</p></tt>`;
const cue = (startMs: number, endMs: number, text: string): Cue => ({ startMs, endMs, text });

const VTT = `\ufeffWEBVTT - a title
Kind: captions

STYLE
::cue { color: red }

NOTE a --> b

intro
00:01.000 --> 00:02.500 align:start position:0%
<v Roger>Hello &amp; <c.yellow>welcome</c><00:01.500> &lt;script&gt;

1:00:00.000 --> 1:00:01.000
late
second line
`;

describe('readSubtitles', () => {
  it('reads WebVTT without styles, notes, settings and tags', () => {
    expect(read(VTT)).toEqual([
      cue(1000, 2500, 'Hello & welcome <script>'),
      cue(3_600_000, 3_601_000, 'late\nsecond line'),
    ]);
  });

  it('reads SubRip with Windows line ends, markup and missing blank lines', () => {
    const text = '1\r\n00:00:01,5 --> 00:00:02,000\r\n<i>One</i>\r\n00:00:03,000 --> 00:00:04,000\r\n{\\an8}Two\r\n';
    expect(read(text)).toEqual([cue(1500, 2000, 'One'), cue(3000, 4000, 'Two')]);
  });

  it('reads SubRip with numbers and missing blank lines', () => {
    const text = '1\n00:00:01,000 --> 00:00:02,000\nOne\n2\n00:00:03,000 --> 00:00:04,000\n1984\n';
    expect(read(text)).toEqual([cue(1000, 2000, 'One'), cue(3000, 4000, '1984')]);
  });

  it.each([
    ['ttp:frameRate="24" ttp:frameRateMultiplier="1000 1001"', '86400f', 3_603_600],
    ['ttp:frameRate="25"', '90000t', 3_600_000],
    ['', '3600t', 3_600_000],
  ])('reads the rates of TTML: %s', (rates, begin, startMs) =>
    expect(read(`<tt ${rates}><body><p begin="${begin}" dur="1s">A</p></body></tt>`)).toEqual([
      cue(startMs, startMs + 1000, 'A'),
    ]),
  );

  it.each([
    ['clock times', '<p begin="00:00:01.500" end="00:00:02">A<br/>B</p>', cue(1500, 2000, 'A\nB')],
    ['offsets and a duration', '<p begin="1.5s" dur="500ms">A <span>B</span></p>', cue(1500, 2000, 'A B')],
    ['frames', '<p begin="00:00:01:12" end="00:00:02:00">A</p>', cue(1480, 2000, 'A')],
    ['ticks', '<p begin="15000000t" end="20000000t">A</p>', cue(1500, 2000, 'A')],
  ])('reads TTML with %s', (_, body, expected) => {
    const root = '<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="#" ttp:frameRate="25" ttp:tickRate="10000000">';
    expect(read(`<?xml version="1.0"?>\n${root}<body><div>\n  ${body}\n</div></body></tt>`)).toEqual([expected]);
  });

  it.each([
    ['srv1', '<transcript><text start="1.5" dur="0.5">A &amp; B</text></transcript>'],
    ['srv2', '<timedtext><text t="1500" d="500" append="0">A &amp; B</text></timedtext>'],
    [
      'srv3',
      '<timedtext format="3"><head><pen id="1"/></head><body><p t="1500" d="500"><s>A &amp;</s><s> B</s></p></body></timedtext>',
    ],
    [
      'json3',
      '{"events":[{"id":1},{"tStartMs":1500,"dDurationMs":500,"segs":[{"utf8":"A & "},{"utf8":"B"}]},{"tStartMs":1600,"aAppend":1,"segs":[{"utf8":"\\n"}]}]}',
    ],
  ])('reads %s', (_, text) => expect(read(text)).toEqual([cue(1500, 2000, 'A & B')]));

  it.each([
    ['A &amp;amp; B &amp;#39;C&amp;#39; &amp;lt;i&amp;gt;', "A & B 'C' <i>"],
    ['&lt;font color=&quot;#E5E5E5&quot;&gt;A&lt;/font&gt;&lt;br /&gt;B', 'A\nB'],
    ['I &lt;3 &amp;amp;amp; a &lt; b &gt; c', 'I <3 &amp; a < b > c'],
  ])('reads srv1 as browsers show it: %s', (text, shown) => {
    expect(read(`<transcript><text start="1.5" dur="0.5">${text}</text></transcript>`)).toEqual([
      cue(1500, 2000, shown),
    ]);
  });

  it('unescapes formats other than srv1 once', () => {
    expect(read('<timedtext><body><p t="1500" d="500">A &amp;amp; &amp;lt;i&gt;</p></body></timedtext>')).toEqual([
      cue(1500, 2000, 'A &amp; &lt;i>'),
    ]);
  });

  it('reads UTF-16 with a byte order mark', () => {
    expect(readSubtitles(Buffer.from(`\ufeff00:01.000 --> 00:02.000\nÄ`, 'utf16le'))).toEqual([cue(1000, 2000, 'Ä')]);
  });

  it.each([
    ['windows-1252, which names no encoding', '00:01.000 --> 00:02.000\nGr\xf6\xdfe \x93caf\xe9\x94', 'Größe “café”'],
    ['UTF-8 with a damaged character', '00:01.000 --> 00:02.000\nGr\xc3\xb6\xc3\x9fe\xc3', 'Größe\ufffd'],
    ['windows-1251 by its XML declaration', xml('windows-1251', '\xcf\xf0\xe8\xe2\xe5\xf2'), 'Привет'],
    ['Latin XML that calls itself UTF-8', xml('utf-8', 'Gr\xf6\xdfe'), 'Größe'],
    ['Latin XML of an unknown encoding', xml('none', 'Gr\xf6\xdfe'), 'Größe'],
  ])('reads %s', (_, bytes, text) =>
    expect(readSubtitles(Buffer.from(bytes, 'latin1'))).toEqual([cue(1000, 2000, text)]),
  );

  describe('of the segments of a list', () => {
    const segment = (map: string, ...cues: string[]) =>
      `WEBVTT\n${map && `X-TIMESTAMP-MAP=${map}\n`}\n${cues.join('\n\n')}\n\n`;
    const hello = '00:01.000 --> 00:05.000\nHello';
    const again = '00:04.500 --> 00:06.000\nAgain';
    it.each([
      [
        'whose times are those of the whole',
        ['MPEGTS:900000,LOCAL:00:00:00.000', 'MPEGTS:900000,LOCAL:00:00:00.000'],
        again,
      ],
      ['without maps', ['', ''], again],
      [
        'whose times restart',
        ['LOCAL:00:00.000,MPEGTS:9000', 'MPEGTS:369000,LOCAL:00:00:00.000'],
        '00:00.500 --> 00:02.000\nAgain',
      ],
      [
        'whose clock restarts',
        ['LOCAL:00:00:00.000,MPEGTS:8589844592', 'MPEGTS:270000,LOCAL:00:00:00.000'],
        '00:00.500 --> 00:02.000\nAgain',
      ],
    ])('reads those %s', (_, [first = '', second = ''], last) => {
      const list = segment(first, hello) + segment(second, last);
      expect(read(list)).toEqual([cue(1000, 5000, 'Hello'), cue(4500, 6000, 'Again')]);
    });

    it('leaves out what a segment repeats of the one before', () => {
      const twice = '00:07.000 --> 00:08.000\nTwice';
      expect(read(segment('', hello, again) + segment('', hello, again, twice, twice) + segment('', twice))).toEqual([
        cue(1000, 5000, 'Hello'),
        cue(4500, 6000, 'Again'),
        ...[1, 2].map(() => cue(7000, 8000, 'Twice')),
      ]);
    });
  });

  it('drops cues without text or duration, and sorts the others', () => {
    const text = [
      '00:05.000 --> 00:06.000\nlate',
      '00:02.000 --> 00:02.000\nnone',
      '00:03.000 --> 00:04.000\n<b></b>',
      '00:01.000 --> 00:02.000\nearly',
    ];
    expect(read(text.join('\n\n')).map((one) => one.text)).toEqual(['early', 'late']);
  });

  it.each([
    ['HTML', '<!doctype html><title>Not found</title><p>Sorry</p>'],
    ['other JSON', '{"error":"gone"}'],
    ['broken JSON', '{"events":['],
    ['nothing', ''],
    ['text', 'just some text'],
    ['nested elements', `<tt>${'<div>'.repeat(100_000)}`],
    ['entity declarations', '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><tt><body>&b;</body></tt>'],
  ])('rejects %s', (_, text) => expect(() => read(text)).toThrow(InvalidSubtitles));

  it('rejects files above the bound and drops cues above it', () => {
    expect(() => readSubtitles(new Uint8Array(MAX_SUBTITLE_BYTES + 1))).toThrow(InvalidSubtitles);
    expect(read('00:01.000 --> 00:02.000\na\n\n'.repeat(MAX_CUES + 10))).toHaveLength(MAX_CUES);
  });

  it('bounds the text of a cue', () => {
    expect(read(`00:01.000 --> 00:02.000\n${'x'.repeat(1_000_000)}`)[0]?.text).toHaveLength(2000);
  });

  it('rejects or reads any bytes', () => {
    const pieces = fc.constantFrom(
      'WEBVTT\n',
      '00:01.000 --> 00:02.000',
      '\n',
      '<p t="1" d="2">',
      '</p>',
      '{',
      '"events":[',
      '&#x110000;',
      '<!--',
      '\ud800',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string())), (parts) => {
        try {
          for (const { startMs, endMs, text } of read(parts.join(''))) {
            expect(endMs).toBeGreaterThan(startMs);
            expect(text.trim()).not.toBe('');
          }
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidSubtitles);
        }
      }),
    );
  });
});

describe('writeSubtitles', () => {
  const cues = [
    cue(1500, 3_723_045, 'A & <b>\nB --> C'),
    cue(3_723_045, 3_724_000, 'B --> C'),
    cue(3_724_000, 3_725_000, 'D'),
  ];

  it('escapes what WebVTT reserves', () => {
    expect(writeSubtitles(cues.slice(0, 1), 'vtt')).toBe(
      'WEBVTT\n\n00:00:01.500 --> 01:02:03.045\nA &amp; &lt;b&gt;\nB --&gt; C\n\n',
    );
  });

  it('numbers the cues of SubRip', () => {
    expect(writeSubtitles(cues.slice(1), 'srt')).toBe(
      '1\n01:02:03,045 --> 01:02:04,000\nB → C\n\n2\n01:02:04,000 --> 01:02:05,000\nD\n\n',
    );
  });

  it('writes each line of a transcript once', () => {
    expect(writeSubtitles(cues, 'txt')).toBe('A & <b>\nB --> C\nD\n');
  });

  it.each(SUBTITLE_FORMATS.filter((format) => format !== 'txt'))('writes %s that reads back', (format) => {
    // SubRip has no escapes: markup would be read as such.
    const line = fc.stringMatching(
      format === 'vtt' ? /^[a-zäß<>&;"'.!?]+( [a-zß<>&]+)*$/ : /^[a-zäß"'.!?]+( [a-zß]+)*$/,
    );
    const any = fc.record({
      startMs: fc.nat(10_000_000),
      ms: fc.integer({ min: 1, max: 10_000 }),
      lines: fc.array(line, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(any, { minLength: 1 }), (drawn) => {
        const written = drawn
          .map(({ startMs, ms, lines }) => cue(startMs, startMs + ms, lines.join('\n')))
          .toSorted((a, b) => a.startMs - b.startMs);
        expect(read(writeSubtitles(written, format))).toEqual(written);
      }),
    );
  });
});
