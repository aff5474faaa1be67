import { describe, expect, it } from 'vitest';
import { PlaylistError, readHlsPlaylist, scanHlsPlaylist, unpackHlsPlaylist } from '../src/hls/index.ts';
import { findSegment, isSameMedia, longestGapSeconds, type MediaSection, type Timeline } from '../src/timeline.ts';

const URL_OF_PLAYLIST = 'https://cdn.example/a/index.m3u8?sig=1';
const textOf = (lines: readonly string[]) => ['#EXTM3U', ...lines].join('\n');
const read = (lines: readonly string[], { maxSegments = 2000, url = URL_OF_PLAYLIST } = {}) =>
  unpackHlsPlaylist(readHlsPlaylist(textOf(lines), maxSegments), url);
const mediaOf = (lines: readonly string[]): Timeline => {
  const playlist = read(lines);
  if (playlist.kind !== 'media') throw new Error('Unexpected master playlist');
  return { ...playlist, segments: [...playlist.segments] };
};

/** `path first-last key iv` of a section, without what it has not. */
const written = (section: MediaSection | undefined) =>
  section &&
  [
    section.url.replace('https://cdn.example/a/', ''),
    section.range && `${section.range.first}-${section.range.last}`,
    section.cipher?.keyUrl.replace('https://cdn.example/a/', 'key '),
    section.cipher?.iv.toString('hex').replace(/^0+/, ''),
  ]
    .filter((part) => part !== undefined)
    .join(' ');
const contents = (lines: readonly string[]) => mediaOf(lines).segments.map(({ content }) => written(content));
const inits = (lines: readonly string[]) => mediaOf(lines).segments.map(({ init }) => written(init));

/** Media after tags. */
const segment = (...tags: string[]) => [...tags, '#EXTINF:1,', 's'];
const repeat = (count: number, ...lines: string[]) => Array.from({ length: count }, () => lines).flat();
const rejects = (lines: readonly string[], message: string, name = 'PlaylistError') =>
  expect(() => read(lines)).toThrow(expect.objectContaining({ name, message }));

describe('lines of a playlist', () => {
  it('are read without the space around them, empty ones not at all', () => {
    const text = '\ufeff#EXTM3U\r\n\r\n \t\r\n\n  #EXTINF:1, \r\n\ufeff\t a b.ts \r\n#EXT-X-ENDLIST \r\n';
    expect(scanHlsPlaylist(text)).toMatchObject({ segment: 'a b.ts', durationSeconds: 1 });
  });

  it('are ignored when they are comments, of any length', () =>
    expect(contents([`#${'x'.repeat(20_000)}`, '#EXTRA', ...segment()])).toEqual(['s']));

  it('are at most 16,384 characters long', () => {
    const title = (chars: number) => `#EXTINF:1,${'x'.repeat(chars - 10)}`;
    expect(contents([title(16_384), 's', title(16_384), 's'])).toHaveLength(2);
    rejects([title(16_385)], 'A line of the playlist is too long');
  });

  it('are URIs of at most 8,192 characters, as is that of the playlist', () => {
    const uri = (chars: number) => 'x'.repeat(chars);
    expect(contents(['#EXTINF:1,', uri(8192)])).toEqual([uri(8192)]);
    rejects(['#EXTINF:1,', uri(8193)], 'A URI of the playlist is too long');
    rejects([`#EXT-X-KEY:METHOD=AES-128,URI="${uri(8193)}"`], 'A URI of the playlist is too long');
    const url = (chars: number) => URL_OF_PLAYLIST.padEnd(chars, 'x');
    expect(read([], { url: url(8192) }).kind).toBe('media');
    expect(() => read([], { url: url(8193) })).toThrow('The URL of the playlist is too long');
  });

  it('are the entries of a simple M3U list, not segments, without any EXTINF', () => {
    expect(mediaOf(['a', 'b']).segments).toEqual([]);
    expect(scanHlsPlaylist(textOf(['a', 'b']))).toBeUndefined();
    expect(scanHlsPlaylist('#EXTINF:1,\na')).toBeUndefined();
  });
});

describe('attributes', () => {
  it.each([
    ['URI="i"', 'i'],
    ['X, URI ="i"', undefined],
    [' URI = "i" ', 'i'],
    ['URI=\t"i"', 'i'],
    ["URI='i,j'", 'i,j'],
    ['URI="i,j=k",X=Y', 'i,j=k'],
    ['URI=i ,X=Y', 'i'],
    ['URI="i', '%22i'],
    ['URI="i",URI="j"', 'i'],
    ['=X,URI="i"', 'i'],
    ['URI=', undefined],
    ['URIx', undefined],
    ['', undefined],
  ])('%j names the initialization section %j', (attributes, uri) => {
    const lines = segment(`#EXT-X-MAP:${attributes}`);
    if (uri === undefined) rejects(lines, 'Invalid URI in playlist');
    else expect(inits(lines)).toEqual([uri]);
  });

  it('end at a space before the comma', () =>
    expect(contents(segment('#EXT-X-KEY:METHOD=AES-128 ,URI=k ,IV=1 '))).toEqual(['s key k 1']));

  it('are at most 64', () => {
    const map = (count: number) => segment(`#EXT-X-MAP:URI=i,${'X=Y,'.repeat(count - 1)}`);
    expect(inits(map(64))).toEqual(['i']);
    rejects(map(65), 'A tag has too many attributes');
  });
});

describe('variables', () => {
  const define = (name: string, value: string) => `#EXT-X-DEFINE:NAME="${name}",VALUE="${value}"`;

  it.each([
    ['{$a}', 'A'],
    ['x{$a}y{$b}z', 'xAyBz'],
    ['x{$empty}y', 'xy'],
    ['x{$a', 'x%7B$a'],
    ['x{a}', 'x%7Ba%7D'],
  ])('are replaced in %j', (uri, expected) =>
    expect(contents([define('a', 'A'), define('b', 'B'), '#EXT-X-DEFINE:NAME="empty"', '#EXTINF:1,', uri])).toEqual([
      expected,
    ]),
  );

  it.each([[[]], [['#EXT-X-DEFINE:VALUE="x"']], [['#EXT-X-DEFINE:IMPORT="b"']]])(
    'are ordinary text where %j defines none',
    (lines) => expect(contents([...lines, '#EXTINF:1,', 'a{$b}'])).toEqual(['a%7B$b%7D']),
  );

  it('must be defined where a tag that is read uses them', () => {
    rejects([define('a', 'A'), '#EXTINF:1,', '{$b}'], 'Undefined variable in playlist');
    expect(contents([define('a', 'A'), '#EXT-X-PART:URI="{$b}"', ...segment()])).toEqual(['s']);
  });

  it('are at most 64', () => {
    const definitions = (count: number) => Array.from({ length: count }, (_, index) => define(`n${index}`, ''));
    expect(contents([...definitions(64), ...segment()])).toEqual(['s']);
    rejects(definitions(65), 'The playlist has too many variables');
  });

  it('make lines of at most 16,384 characters, and all of 8 Mi', () => {
    const lines = (chars: number) => [define('a', 'x'.repeat(chars)), '#EXTINF:1,{$a}{$a}'];
    expect(mediaOf([...lines(8191), ...repeat(511, '#EXTINF:1,{$a}{$a}')]).segments).toEqual([]);
    rejects(lines(8192), 'A line of the playlist is too long');
    rejects([...lines(8191), ...repeat(512, '#EXTINF:1,{$a}{$a}')], 'The playlist is too large');
    expect(mediaOf([define('a', ''), ...repeat(1100, '#EXTINF:1,', 'x'.repeat(8000))]).segments).toHaveLength(1100);
  });
});

describe('numbers', () => {
  it.each([
    ['2', 2],
    ['2.', 2],
    ['.5', 0.5],
    [' 2.25 ,title, 9', 2.25],
    ['0', 0.01],
    ['0.0,', 0.01],
    ['', 7],
    ['x', 7],
    ['-1,', 7],
    ['1 2', 7],
    ['1.2.3', 7],
    ['1e3', 7],
    ['99999999', 7],
    ['0'.repeat(21), 7],
    [`1.${'0'.repeat(21)}`, 7],
  ])('EXTINF:%s means %d s with a target of 7 s', (value, seconds) =>
    expect(mediaOf(['#EXT-X-TARGETDURATION:7', `#EXTINF:${value}`, 's']).segments[0]?.seconds).toBe(seconds),
  );

  it.each([
    [[], 6],
    [['5'], 5],
    [['5.9'], 5],
    [['0'], 0],
    [['5', 'x'], 5],
    [['5', '99999999'], 5],
  ])('the target durations %j mean reloads after %d s', (targets, seconds) =>
    expect(mediaOf(targets.map((target) => `#EXT-X-TARGETDURATION:${target}`)).reloadSeconds).toBe(seconds),
  );

  it.each([
    ['12', 12],
    ['1764285702000001', 1_764_285_702_000_001],
    ['20261127234400124', 2_246_728_724_918_140],
    ['x', 0],
    ['', 0],
  ])('the media sequence %j starts at %d', (value, sequence) =>
    expect(mediaOf(segment(`#EXT-X-MEDIA-SEQUENCE:${value}`)).segments[0]?.sequence).toBe(sequence),
  );

  it.each([
    ['10@25', 's 25-34'],
    [' 10 ', 's 0-9'],
    ['1@0', 's 0-0'],
    ['0', undefined],
    ['0@5', undefined],
    ['', undefined],
    ['x10@5', undefined],
    ['10@5x', undefined],
    ['10@', undefined],
    ['-1@5', undefined],
    ['1'.repeat(16), undefined],
    [`1@${'1'.repeat(16)}`, undefined],
  ])('the byte range %j is %j', (range, expected) => {
    const lines = segment(`#EXT-X-BYTERANGE:${range}`);
    if (expected === undefined) rejects(lines, 'Invalid byte range in playlist');
    else expect(contents(lines)).toEqual([expected]);
  });

  it('byte ranges that follow each other end below 2^53', () => {
    const lines = (count: number) => repeat(count, ...segment('#EXT-X-BYTERANGE:999999999999999'));
    expect(contents(lines(9)).at(-1)).toBe('s 7999999999999992-8999999999999990');
    rejects(lines(10), 'Invalid byte range in playlist');
  });

  it.each([
    ['#EXTINF:4,', true],
    ['#EXTINF:4,1.5', true],
    ['#EXTINF:4\n# #EXTINF:1.5', true],
    ['#EXTINF: 4.5', false],
    ['#EXTINF:12.5', false],
    ['#EXTINF:.5', false],
  ])('durations as %j are whole seconds: %j', (line, isRounded) => {
    expect(mediaOf([line, 's', '#EXT-X-ENDLIST'])).toMatchObject({ isRounded, isComplete: true });
    expect(mediaOf([line, 's', '# #EXT-X-ENDLIST'])).toMatchObject({ isRounded: false, isComplete: false });
  });
});

describe('keys', () => {
  it('apply to the segments after them, until the next or METHOD=NONE', () =>
    expect(
      contents([
        ...segment(),
        ...segment('#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x1'),
        ...segment('#EXT-X-KEY:METHOD=AES-128'),
        ...segment('#EXT-X-KEY:URI="l",IV=" 2 "'),
        ...segment(),
        ...segment('#EXT-X-KEY:METHOD=AES-128,URI="m"'),
        ...segment(),
        ...segment('#EXT-X-KEY:METHOD=NONE,URI="m"'),
      ]),
    ).toEqual(['s', 's key k 1', 's key k 1', 's key l 2', 's key l 2', 's key m 5', 's key m 6', 's']));

  it.each([
    ...['', '0x', '0xg', `0x${'1'.repeat(33)}`].map((iv): [string, string] => [
      `METHOD=AES-128,URI="k",IV=${iv}`,
      'Invalid initialization vector',
    ]),
    ['METHOD=AES-128,URI="http://["', 'Invalid URI in playlist'],
  ])('with %s are refused', (attributes, message) => rejects(segment(`#EXT-X-KEY:${attributes}`), message));

  it.each([
    ['METHOD=AES-128,URI="k",KEYFORMAT="com.widevine"', 'The playlist is protected by DRM'],
    ['METHOD=SAMPLE-AES-CTR-WITH-A-LONG-NAME,URI="k"', 'Unsupported encryption method SAMPLE-AES-CTR-WITH-'],
  ])('with %s are refused for their encryption', (attributes, message) =>
    rejects(segment(`#EXT-X-KEY:${attributes}`), message, 'EncryptedPlaylist'),
  );

  it('of a DRM system are the first that a scan finds', () =>
    expect(
      scanHlsPlaylist(textOf(segment('#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k",KEYFORMAT=x', '#EXT-X-KEY:URI="l"'))),
    ).toMatchObject({ key: 'k', iv: undefined }));
});

describe('initialization sections', () => {
  const key = '#EXT-X-KEY:METHOD=AES-128,URI="k"';

  it('apply to the segments after them, with ranges and keys of their own', () =>
    expect(
      inits([
        ...segment(),
        ...segment('#EXT-X-MAP:URI="i",BYTERANGE="10@5"'),
        ...segment(),
        ...segment('#EXT-X-MAP:URI="i",BYTERANGE=" 10 "'),
        ...segment(`${key},IV=0x7`, '#EXT-X-MAP:URI="j"'),
        '#EXT-X-GAP',
        ...segment('#EXT-X-MAP:URI="l"'),
        ...segment('#EXT-X-KEY:METHOD=NONE', '#EXT-X-MAP:URI="m"'),
      ]),
    ).toEqual([undefined, 'i 5-14', 'i 5-14', 'i 0-9', 'j key k 7', undefined, 'm']));

  it('are one object for all of their segments', () => {
    const { segments } = mediaOf([...segment('#EXT-X-MAP:URI="i"'), ...segment()]);
    expect(segments[1]?.init).toBe(segments[0]?.init);
  });

  it('need the initialization vector that no sequence number gives them', () =>
    rejects(segment(key, '#EXT-X-MAP:URI="i"'), 'Encrypted initialization section without an IV'));
});

describe('segments', () => {
  it('have ranges and names of their own', () =>
    expect(contents(['#EXTINF:1,', 'a', '#EXTINF:1,', '#EXT-X-BYTERANGE:5@1', 'b', '#EXTINF:1,', 'c'])).toEqual([
      'a',
      'b 1-5',
      'c',
    ]));

  it('are at most as many as the limit', () => {
    const packed = (count: number) => () => readHlsPlaylist(textOf(repeat(count, ...segment())), 3);
    expect(packed(3)).not.toThrow();
    expect(packed(4)).toThrow('The playlist has too many segments');
  });

  it.each(['http:', 'http://['])('are refused with the invalid URI %j', (uri) =>
    rejects(['#EXTINF:1,', uri], 'Invalid URI in playlist'),
  );

  it('without media have no address, and a scan prefers those that have', () => {
    const gap = ['#EXT-X-GAP', '#EXTINF:1,', 'gap'];
    expect(mediaOf([...segment(), ...gap]).segments[1]).toMatchObject({ content: { url: '' }, isGap: true });
    expect(scanHlsPlaylist(textOf([...gap, ...segment()]))).toMatchObject({ segment: 's' });
    expect(scanHlsPlaylist(textOf([...gap, ...gap]))).toMatchObject({ segment: 'gap' });
  });

  it('are none without the first line of a playlist', () =>
    expect(() => readHlsPlaylist(segment().join('\n'), 1)).toThrow('Not an HLS playlist'));
});

describe('a master playlist', () => {
  const variant = (attributes: string, uri: string) => [`#EXT-X-STREAM-INF:${attributes}`, uri];

  it.each([
    [['BANDWIDTH=1', 'BANDWIDTH=3', 'BANDWIDTH=2'], 'v1'],
    [['BANDWIDTH=2', 'BANDWIDTH=2'], 'v0'],
    [['BANDWIDTH=2', 'CODECS="a"'], 'v0'],
    [['', 'BANDWIDTH=x', 'BANDWIDTH=1'], 'v2'],
  ])('with the variants %j leads to %s', (attributes, best) => {
    const lines = attributes.flatMap((each, index) => variant(each, `v${index}`));
    expect(read(lines)).toEqual({ kind: 'master', bestUrl: `https://cdn.example/a/${best}` });
    expect(scanHlsPlaylist(textOf(lines))).toMatchObject({ segment: 'v0', durationSeconds: undefined });
  });

  it('has variants alone, also when it lists media', () =>
    expect(scanHlsPlaylist(textOf([...segment(), ...variant('BANDWIDTH=1', 'v')]))).toMatchObject({ segment: 'v' }));

  it('has at most as many entries as the limit, in all', () => {
    const lines = [...repeat(2, ...segment()), ...repeat(2, ...variant('', 'v'))];
    expect(read(lines, { maxSegments: 4 }).kind).toBe('master');
    expect(() => read(lines, { maxSegments: 3 })).toThrow('The playlist has too many segments');
  });

  it('is refused with the invalid URI of a variant', () =>
    rejects(variant('BANDWIDTH=1', 'http://['), 'Invalid URI in playlist'));

  it('leads nowhere from a URL that nothing is relative to', () =>
    expect(read(variant('', 'v'), { url: 'data:,' })).toEqual({ kind: 'master', bestUrl: '' }));
});

describe('a timeline', () => {
  it.each([
    ['s.ts', 'https://cdn.example/a/s.ts'],
    ['../s.ts?x=1', 'https://cdn.example/s.ts?x=1'],
    ['/s.ts', 'https://cdn.example/s.ts'],
    ['//b.example/s.ts', 'https://b.example/s.ts'],
    ['http://b.example/s.ts', 'http://b.example/s.ts'],
  ])('resolves %j against the URL of the playlist', (uri, url) =>
    expect(mediaOf(['#EXTINF:1,', uri]).segments[0]?.content.url).toBe(url),
  );

  it('trims gaps at both ends of a recording and ignores the URIs of those in between', () => {
    const gap = ['#EXT-X-GAP', '#EXTINF:2,', 'http://['];
    const lines = [...gap, '#EXTINF:1,', 'a', ...gap, ...gap, '#EXTINF:1,', 'b', ...gap];
    const numbersOf = ({ segments }: Timeline) => segments.map(({ sequence, isGap }) => (isGap ? -sequence : sequence));
    expect(numbersOf(mediaOf([...lines, '#EXT-X-ENDLIST']))).toEqual([1, -2, -3, 4]);
    expect(numbersOf(mediaOf(lines))).toEqual([-0, 1, -2, -3, 4, -5]);
    expect(longestGapSeconds(mediaOf(lines).segments)).toBe(4);
    expect(longestGapSeconds(mediaOf(lines.slice(3, 5)).segments)).toBe(0);
    expect(mediaOf([...gap, '#EXT-X-ENDLIST']).segments).toEqual([]);
  });

  it('keeps the date of a segment, beside segments that have none', () => {
    const dated = ['#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.500Z', '#EXTINF:1,', 'b'];
    const { segments } = mediaOf(['#EXTINF:1,', 'a', ...dated, '#EXTINF:1.5,', 'c']);
    const dates = segments.map(({ startsAtMs }) => startsAtMs);
    expect(dates).toEqual([undefined, Date.UTC(2026, 0, 1) + 500, undefined]);
  });

  it('marks the segment after a discontinuity, also when a gap lies in between', () => {
    const lines = ['#EXTINF:1,', 'a', '#EXT-X-DISCONTINUITY', '#EXTINF:1,', 'b', '#EXTINF:1,', 'c'];
    const gap = ['#EXT-X-DISCONTINUITY', '#EXT-X-GAP', '#EXTINF:2,', 'x', '#EXTINF:1,', 'd'];
    const flags = mediaOf([...lines, ...gap]).segments.map(({ isDiscontinuity = false }) => isDiscontinuity);
    expect(flags).toEqual([false, true, false, false, true]);
  });

  it.each([
    [['#EXT-X-DISCONTINUITY-SEQUENCE:7'], 7],
    [['#EXT-X-DISCONTINUITY-SEQUENCE:x'], 0],
    [[], 0],
  ])('counts the discontinuities that have left the list of %j as %s', (lines, count) => {
    expect(mediaOf([...lines, '#EXTINF:1,', 'a']).discontinuitySequence).toBe(count);
  });

  it.each([
    [0, 0],
    [0.9, 0],
    [1, 0],
    [4.9, 0],
    [5, 3],
    [99, 3],
  ])('finds the segment at %d s, or the one before the gap', (seconds, index) => {
    const gap = ['#EXT-X-GAP', '#EXTINF:2,', 'x'];
    const { segments } = mediaOf(['#EXTINF:1,', 'a', ...gap, ...gap, '#EXTINF:1,', 'b', '#EXT-X-ENDLIST']);
    expect(findSegment(segments, seconds)).toBe(index);
  });

  it.each([
    ['IV=0x7', '7'],
    ['IV=0X7,KEYFORMAT="identity"', '7'],
    ['IV="0x0102030405060708090a0b0c0d0e0f"', '102030405060708090a0b0c0d0e0f'],
    [`IV=0x${'f'.repeat(32)}`, 'f'.repeat(32)],
  ])('reads the initialization vector %s', (written, digits) => {
    const lines = [`#EXT-X-KEY:METHOD=AES-128,URI="k",${written}`, '#EXTINF:1,', 'a'];
    const { cipher } = mediaOf(lines).segments[0]?.content ?? {};
    expect(cipher?.iv.toString('hex')).toBe(digits.padStart(32, '0'));
    expect(cipher?.keyUrl).toBe('https://cdn.example/a/k');
  });

  it.each(['', 'EXTM3U', '<html>#EXTM3U', '\u0000'])('throws PlaylistError for %j, which is not a playlist', (text) => {
    expect(() => readHlsPlaylist(text, 1)).toThrow(PlaylistError);
  });
});

describe('isSameMedia', () => {
  const vod = (...seconds: number[]) => mediaOf([...seconds.flatMap((s) => [`#EXTINF:${s},`, 'a']), '#EXT-X-ENDLIST']);
  const named = (...uris: string[]) => mediaOf([...uris.flatMap((uri) => ['#EXTINF:1,', uri]), '#EXT-X-ENDLIST']);
  it.each([
    [vod(1, 2), vod(1, 2), true],
    [vod(1, 2), vod(1.05, 2), true],
    [vod(1, 2), vod(1), false],
    [vod(1, 2), vod(1, 3), false],
    [vod(1), mediaOf(['#EXTINF:1,', 'a']), false],
    [named('1.ts?a', '2.ts'), named('../b/1.ts', 'https://c.example/2.ts'), true],
    [named('1.ts', '2.ts'), named('a.ts', 'b.ts'), true],
    [named('1.ts', '2.ts', '3.ts'), named('2.ts', '3.ts', '4.ts'), false],
    [vod(1), mediaOf(['#EXTINF:1,', '#EXT-X-BYTERANGE:9@0', 'a', '#EXT-X-ENDLIST']), false],
    [vod(1), mediaOf(['#EXT-X-GAP', '#EXTINF:1,', 'a', '#EXT-X-ENDLIST']), false],
    [vod(1), mediaOf(['#EXT-X-MAP:URI="b"', '#EXTINF:1,', 'a', '#EXT-X-ENDLIST']), false],
    [mediaOf(['#EXTINF:1,', 'a']), vod(1, 2), true],
  ])('compares what complete lists say (case %#)', (before, after, same) =>
    expect(isSameMedia(before, after)).toBe(same),
  );
});
