import { describe, expect, it } from 'vitest';
import type { Quality, Selection } from '../../../../core/api/index.ts';
import { describeSmallest, selectQuality } from '../../../../core/resolve/renditions/select-quality.ts';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import type { Rendition } from '../../../../core/state/resource.ts';
import { aRendition } from '../../state/resources.ts';
import { type Format, formatOf as format, tracksOf } from '../yt-dlp/tracks-of.ts';

const both = (id: string, height: number, more: Format = {}) =>
  format(id, { vcodec: 'avc1', acodec: 'mp4a.40.2', height, ...more });
const video = (id: string, height: number, vcodec: string) => format(id, { vcodec, acodec: 'none', height });
const audio = (id: string, abr: number, more: Format = {}) =>
  format(id, { vcodec: 'none', acodec: 'mp4a.40.2', ext: 'm4a', abr, ...more });
const OPUS = { acodec: 'opus', ext: 'webm' };
const MP3 = { acodec: 'mp3', ext: 'mp3' };
const UPSCALED = { format_note: '1080p, AI-upscaled' };

const LADDER = [
  video('av1-2160', 2160, 'av01.0.12M.08'),
  video('vp9-1080', 1080, 'vp09.00.40.08'),
  video('avc-1080', 1080, 'avc1.640028'),
  video('avc-720', 720, 'avc1.64001f'),
  both('old-360', 360),
  audio('aac', 129),
  audio('opus', 160, OPUS),
];

/** A number is a height. */
type Wish = Exclude<Quality, object> | number | Selection;
const selectionOf = (wish: Wish): Selection => {
  if (typeof wish === 'object') return wish;
  return { quality: typeof wish === 'number' ? { maxHeight: wish } : wish };
};

interface Item {
  readonly duration?: number;
  /** Ids of the formats that their host stops after the first minute. */
  readonly stopping?: readonly string[];
}

function offerOf(formats: readonly Format[], { duration, stopping = [] }: Item = {}) {
  const candidates = tracksOf({ formats: [...formats], duration }).map((candidate) => ({
    ...candidate,
    stopsEarly: stopping.includes(candidate.track.formatId),
  }));
  const offer = selectRenditions(candidates);
  return { ...offer, ...offer.conversions, durationSeconds: duration };
}

/** The selected formats, and the conversion of them. */
function choose(offer: Parameters<typeof selectQuality>[0], wish: Wish): string | undefined {
  const selected = selectQuality(offer, selectionOf(wish));
  return (
    selected &&
    [selected.rendition.formatIds.join('+'), selected.format, selected.bitrateKbps].filter(Boolean).join(' ')
  );
}
const select = (formats: readonly Format[], wish: Wish, item?: Item) => choose(offerOf(formats, item), wish);

describe('selectQuality', () => {
  it.each<[Wish, string, string]>([
    ['best', 'avc-1080+aac', 'av1-2160+aac'],
    [2160, 'avc-1080+aac', 'av1-2160+aac'],
    [1080, 'avc-1080+aac', 'avc-1080+aac'],
    [1079, 'avc-720+aac', 'avc-720+aac'],
    [480, 'old-360', 'old-360'],
    [144, 'old-360', 'old-360'],
    ['worst', 'old-360', 'old-360'],
    ['audio', 'aac', 'opus'],
    ['mp3', 'opus mp3', 'opus mp3'],
  ])('selects for %j what plays everywhere, or the best of any codec', (wish, compatible, any) => {
    const everyCodec = { ...selectionOf(wish), codec: 'any' } as const;
    expect([select(LADDER, wish), select(LADDER, everyCodec)]).toEqual([compatible, any]);
  });

  const damaged = { preference: -100 };
  it.each<[string, Format[], [Wish, string | undefined][]]>([
    [
      'any codec where nothing plays everywhere',
      [video('av1', 720, 'av01'), audio('opus', 100, OPUS)],
      [['best', 'av1+opus']],
    ],
    [
      'audio by every quality where there is no video',
      [audio('high', 256), audio('low', 64)],
      [
        ['best', 'high'],
        [720, 'high'],
        ['worst', 'low'],
      ],
    ],
    ['the conversion rather than a video where only the sound is wanted', [both('only', 720)], [['audio', 'only mp3']]],
    ['a source that is MP3 without converting it', [audio('song', 320, MP3)], [['mp3', 'song']]],
    [
      'no sound of a silent video',
      [video('silent', 720, 'avc1')],
      [
        ['audio', undefined],
        ['mp3', undefined],
      ],
    ],
    [
      'vertical video by its width',
      [both('tall', 1920, { width: 1080 }), both('small', 960, { width: 540 })],
      [
        [1080, 'tall'],
        [720, 'small'],
      ],
    ],
    [
      'a filmed picture rather than a larger one that the site invented from it',
      [both('sr', 1080, UPSCALED), both('filmed', 480), both('small-sr', 360, UPSCALED)],
      [
        ['best', 'filmed'],
        ['worst', 'filmed'],
        [1080, 'filmed'],
      ],
    ],
    [
      'a compressed dynamic range rather than a boosted voice',
      [audio('vb', 256, { format_note: 'voice boost' }), audio('drc', 200, { format_note: 'DRC' })],
      [['audio', 'drc']],
    ],
    [
      'among what is as flawed as the first',
      [both('first', 1080, { vcodec: 'vp9', ...damaged }), both('second', 720, damaged)],
      [['best', 'second']],
    ],
    [
      'another track of the same language',
      [audio('main', 64, { ...OPUS, language: 'en' }), audio('other', 64, { language: 'en', source_preference: -2 })],
      [['audio', 'other']],
    ],
  ])('selects %s', (_, formats, choices) =>
    expect(choices.map(([wish]) => [wish, select(formats, wish)])).toEqual(choices),
  );

  it.each<[number, Format, boolean]>([
    [1440, {}, true],
    [720, { acodec: 'mp3' }, true],
    [720, { vcodec: undefined, acodec: undefined }, true],
    [1441, {}, false],
    [720, { ext: 'webm' }, false],
    [720, { vcodec: 'vp9' }, false],
    [720, { acodec: 'opus' }, false],
    [720, { acodec: 'dts' }, false],
  ])('prefers %d lines with %j to 144 that play everywhere: %s', (height, more, isChosen) =>
    expect(select([both('subject', height, more), both('small', 144)], 'best')).toBe(isChosen ? 'subject' : 'small'),
  );
});

describe('a flaw', () => {
  const vp9 = (id: string, height: number) => both(id, height, { vcodec: 'vp9' });

  it.each<[string, Format]>([
    ['is possibly DRM protected', { has_drm: 'maybe' }],
    ['only browsers receive', { impersonate: true }],
    ['is damaged or cannot be played', { preference: -10 }],
    ['was upscaled', UPSCALED],
    ['has a watermark', { format_note: 'watermarked' }],
    ['has an audio description', { format_note: 'Audio description' }],
    ['is a dub', { language_preference: -2 }],
  ])('never selects video that %s where a sound one ranks above it', (_, flaw) => {
    const formats = [vp9('sound', 1080), both('flawed', 1080, flaw), vp9('small', 360)];
    expect([select(formats, 'best'), select(formats, 1080)]).toEqual(['sound', 'sound']);
    expect(select([vp9('sound', 1080), both('flawed', 720, flaw)], 720)).toBe('sound');
    expect(select([vp9('sound', 1080), both('flawed', 144, flaw)], 'worst')).toBe('sound');
    expect(select([both('flawed', 720, flaw)], 720)).toBe('flawed');
  });

  it.each<[string, Format, Format]>([
    ['is a dub', { language: 'de', language_preference: -1 }, { language: 'en', language_preference: 10 }],
    ['is a dub by its name', { language: 'de' }, { language: 'en', format_note: 'English original' }],
    ['is a dub that is not the default', { language: 'de', source_preference: -2 }, { language: 'en' }],
    ['is a dub without a language', { language_preference: -1 }, { language_preference: 10 }],
    ['is an audio description', { format_note: 'descriptive' }, {}],
    ['has a compressed dynamic range', { format_note: 'DRC' }, {}],
  ])('never selects audio that %s where a sound one ranks above it', (_, flaw, sound) => {
    const formats = [audio('flawed', 256, flaw), audio('sound', 64, { ...OPUS, ...sound })];
    for (const quality of ['audio', 'best', 'worst'] as const) expect(select(formats, quality)).toBe('sound');
    expect(select([audio('flawed', 256, flaw)], 'audio')).toBe('flawed');
  });
});

describe('maxBytes', () => {
  const MEGABYTE = 1_000_000;
  const formats = [
    both('720', 720, { filesize: 20 * MEGABYTE }),
    both('480', 480, { filesize_approx: 10 * MEGABYTE }),
    both('360', 360, { tbr: 400 }),
    both('240', 240),
    audio('aac', 128, { filesize: 1.6 * MEGABYTE }),
  ];
  const details = { chapters: [{ title: 'A tenth', startSeconds: 0, endSeconds: 10 }] };
  const resource = { ...offerOf(formats, { duration: 100 }), details };

  it.each<[Selection, number, string | undefined]>([
    [{}, 20, '720'],
    [{}, 19.999, '480'],
    [{}, 10.5, '480'],
    [{}, 10.499, '360'],
    [{}, 5.249, undefined],
    [{ quality: { maxHeight: 480 } }, 20, '480'],
    [{ quality: { maxHeight: 240 } }, 10.5, '360'],
    [{ quality: 'worst' }, 30, '360'],
    [{ hasTags: true }, 20.9, '480'],
    [{ chapter: 1 }, 2.5, '720'],
    [{ clip: { startSeconds: 90, endSeconds: Number.POSITIVE_INFINITY } }, 2.499, '480'],
    [{ quality: 'audio' }, 1.6, 'aac'],
    [{ format: 'm4a' }, 5.25, '360 m4a'],
    [{ format: 'wav' }, 20, undefined],
    [{ quality: 'mp3' }, 2.5, 'aac mp3 192'],
    [{ quality: 'mp3' }, 2.4, 'aac mp3 128'],
    [{ quality: 'mp3', bitrateKbps: 320 }, 4.1, 'aac mp3 320'],
    [{ quality: 'mp3', bitrateKbps: 320 }, 4, 'aac mp3 256'],
    [{ quality: 'mp3', clip: { startSeconds: 0, endSeconds: 10 } }, 0.21, 'aac mp3 128'],
  ])('selects for %j with %d MB the best that fits', (selection, megabytes, selected) =>
    expect(choose(resource, { ...selection, maxBytes: megabytes * MEGABYTE })).toBe(selected),
  );

  it('converts a source that is MP3 where it does not fit', () => {
    const song = [audio('song', 320, { ...MP3, filesize: 4 * MEGABYTE })];
    const choices = [4, 3, 2, 1].map((megabytes) =>
      select(song, { quality: 'mp3', maxBytes: megabytes * MEGABYTE }, { duration: 100 }),
    );
    expect(choices).toEqual(['song', 'song mp3 192', 'song mp3 128', undefined]);
  });

  it.each<[Selection, string, object]>([
    [{}, 'The smallest is 360p with 5250000 bytes', {}],
    [{ quality: 'mp3' }, 'The smallest is MP3 of 128 kbit/s with 16', {}],
    [{ format: 'opus' }, 'The smallest is OPUS with 5250000 bytes', {}],
    [{ quality: 'mp3' }, 'No size is known', { tracks: [], durationSeconds: undefined }],
  ])('names the smallest of %j: %s', (selection, text, other) =>
    expect(describeSmallest({ ...resource, ...other }, { ...selection, maxBytes: 1 })).toContain(text),
  );
});

describe('what its host stops after the first minute', () => {
  it('ranks behind what can be had whole', () => {
    const { renditions } = offerOf(LADDER, { stopping: ['av1-2160', 'vp9-1080', 'opus'] });
    expect(renditions.map(({ formatIds }) => formatIds.join('+'))).toEqual([
      'avc-1080+aac',
      'avc-720+aac',
      'old-360',
      'av1-2160+aac',
      'vp9-1080+aac',
      'aac',
      'opus',
    ]);
    const said = renditions.filter(({ description }) => description?.includes('only the first minute is served'));
    expect(said.map(({ formatIds }) => formatIds[0])).toEqual(['av1-2160', 'vp9-1080', 'opus']);
  });

  const small = [both('old-360', 360), audio('aac', 129)];
  it.each<[string, Format[], string[], [Quality & string, string][]]>([
    [
      'is never chosen beside what can be had whole',
      LADDER,
      ['av1-2160', 'vp9-1080', 'opus'],
      [
        ['best', 'avc-1080+aac'],
        ['worst', 'old-360'],
        ['audio', 'aac'],
      ],
    ],
    [
      'makes a pair of it, which then ranks behind one file with both tracks',
      LADDER,
      ['aac', 'opus'],
      [['best', 'old-360']],
    ],
    [
      'is not converted where something else has the sound whole',
      small,
      ['aac'],
      [
        ['audio', 'old-360 mp3'],
        ['mp3', 'old-360 mp3'],
      ],
    ],
    [
      'is chosen where there is nothing else',
      small,
      ['old-360', 'aac'],
      [
        ['best', 'old-360'],
        ['audio', 'aac'],
        ['mp3', 'aac mp3'],
      ],
    ],
  ])('%s', (_, formats, stopping, choices) =>
    expect(choices.map(([quality]) => [quality, select(formats, { quality, codec: 'any' }, { stopping })])).toEqual(
      choices,
    ),
  );
});

describe('selectQuality of renditions that an earlier version has stored', () => {
  const sound = aRendition('sound', { height: 1080, fileExtension: '.webm', description: '248 - 1080p, no watermark' });
  const described = (description: string) => aRendition('other', { height: 1080, description });
  const [drc, dub] = [{ versions: ['drc'] }, { flaws: ['dub'] }] as const;
  const dubbed = aRendition('dub', { ...drc, ...dub });
  const watermarked = aRendition('watermarked', { flaws: ['watermarked'] });

  it.each<[string, Rendition[], Wish, string]>([
    [
      'keeps the order of those without flaws',
      [
        aRendition('first', { height: 360 }),
        aRendition('taller', { height: 720 }),
        aRendition('last', { height: 720 }),
      ],
      1080,
      'first',
    ],
    ['selects no compressed sound behind another', [aRendition('sound'), aRendition('drc', drc)], 'worst', 'sound'],
    ['selects no dub behind compressed sound', [aRendition('drc', drc), aRendition('dub', dub)], 'worst', 'drc'],
    ['counts the first flaw most', [dubbed, watermarked], 'worst', 'dub'],
    ['counts the first flaw most, also of the last', [watermarked, dubbed], 'worst', 'dub'],
    ['reads damage from a description', [sound, described('137 - 1080p, DAMAGED')], 'best', 'sound'],
    ['reads from a description what cannot play', [sound, described('bytevc2 (UNPLAYABLE)')], 'best', 'sound'],
    ['reads a watermark from a description', [sound, described('download (watermarked)')], 'best', 'sound'],
    ['reads no flaw from another description', [sound, described('137 - 1080p')], 'best', 'other'],
    [
      'selects an audio rendition that is MP3 where no conversion is promised',
      [
        aRendition('v', { fileExtension: '.mp3' }),
        aRendition('aac', { side: 'audio', fileExtension: '.m4a' }),
        aRendition('mp3', { side: 'audio', fileExtension: '.mp3' }),
      ],
      'mp3',
      'mp3',
    ],
  ])('%s', (_, renditions, wish, id) => expect(choose({ renditions, tracks: [] }, wish)).toBe(id));
});
