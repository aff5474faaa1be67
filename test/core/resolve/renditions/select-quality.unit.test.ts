import { describe, expect, it } from 'vitest';
import type { Quality, Selection } from '../../../../core/api/index.ts';
import { describeSmallest, selectQuality } from '../../../../core/resolve/renditions/select-quality.ts';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import type { Rendition, Track } from '../../../../core/state/resource.ts';
import { type Format, formatOf as format, tracksOf } from '../yt-dlp/tracks-of.ts';

const both = (id: string, height: number, more: Format = {}) =>
  format(id, { vcodec: 'avc1', acodec: 'mp4a.40.2', height, ...more });
const video = (id: string, height: number, vcodec: string) => format(id, { vcodec, acodec: 'none', height });
const audio = (id: string, abr: number, more: Format = {}) =>
  format(id, { vcodec: 'none', acodec: 'mp4a.40.2', ext: 'm4a', abr, ...more });

const LADDER = [
  video('av1-2160', 2160, 'av01.0.12M.08'),
  video('vp9-1080', 1080, 'vp09.00.40.08'),
  video('avc-1080', 1080, 'avc1.640028'),
  video('avc-720', 720, 'avc1.64001f'),
  both('old-360', 360),
  audio('aac', 129),
  audio('opus', 160, { acodec: 'opus', ext: 'webm' }),
];

/** The selected formats, and the conversion. */
function select(formats: readonly Format[], quality: Quality, codec?: 'any') {
  const offer = selectRenditions(tracksOf({ formats: [...formats] }, 0));
  const audible = offer.renditions.findLast(({ side }) => side === 'audio') ?? offer.renditions[0];
  const mp3 = formats.some(({ acodec }) => acodec !== 'none') && audible ? { renditionId: audible.id } : undefined;
  const selected = selectQuality({ ...offer, mp3 }, { quality, codec });
  return selected && [selected.rendition.formatIds.join('+'), selected.format].filter(Boolean).join(' as ');
}

describe('selectQuality', () => {
  it.each<[Quality, string, string]>([
    ['best', 'avc-1080+aac', 'av1-2160+aac'],
    [{ maxHeight: 2160 }, 'avc-1080+aac', 'av1-2160+aac'],
    [{ maxHeight: 1080 }, 'avc-1080+aac', 'avc-1080+aac'],
    [{ maxHeight: 1079 }, 'avc-720+aac', 'avc-720+aac'],
    [{ maxHeight: 480 }, 'old-360', 'old-360'],
    [{ maxHeight: 144 }, 'old-360', 'old-360'],
    ['worst', 'old-360', 'old-360'],
    ['audio', 'aac', 'opus'],
  ])('selects for %j what plays everywhere, or the best of any codec', (quality, compatible, any) => {
    expect([select(LADDER, quality), select(LADDER, quality, 'any')]).toEqual([compatible, any]);
  });

  it('selects the MP3 conversion where it is promised', () => {
    expect(select(LADDER, 'mp3')).toMatch(/ as mp3$/);
  });

  it('selects any codec where nothing plays everywhere', () => {
    expect(select([video('av1', 720, 'av01'), audio('opus', 100, { acodec: 'opus', ext: 'webm' })], 'best')).toMatch(
      /^av1/,
    );
  });

  it('selects audio by every quality where there is no video', () => {
    const sounds = [audio('high', 256), audio('low', 64)];
    expect(select(sounds, 'best')).toBe('high');
    expect(select(sounds, { maxHeight: 720 })).toBe('high');
    expect(select(sounds, 'worst')).toBe('low');
  });

  it('selects the conversion rather than a video where only the sound is wanted', () => {
    expect(select([both('only', 720)], 'audio')).toBe('only as mp3');
  });

  it('selects a source that is MP3 without converting it', () => {
    const offer = selectRenditions(tracksOf({ formats: [audio('song', 320, { acodec: 'mp3', ext: 'mp3' })] }, 0));
    expect(selectQuality(offer, { quality: 'mp3' })).toMatchObject({
      rendition: { formatIds: ['song'] },
    });
  });

  it('selects no sound of a silent video', () => {
    const silent = [format('silent', { vcodec: 'avc1', acodec: 'none', height: 720 })];
    expect([select(silent, 'audio'), select(silent, 'mp3')]).toEqual([undefined, undefined]);
  });

  it('compares vertical video by its width', () => {
    const vertical = [both('tall', 1920, { width: 1080 }), both('small', 960, { width: 540 })];
    expect(select(vertical, { maxHeight: 1080 })).toBe('tall');
    expect(select(vertical, { maxHeight: 720 })).toBe('small');
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
  const offer = selectRenditions(tracksOf({ formats, duration: 100 }));
  const details = { chapters: [{ title: 'A tenth', startSeconds: 0, endSeconds: 10 }] };
  const resource = { ...offer, ...offer.conversions, durationSeconds: 100, details };
  const choose = (selection: Selection) => {
    const selected = selectQuality(resource, selection);
    return (
      selected && [selected.rendition.formatIds[0], selected.format, selected.bitrateKbps].filter(Boolean).join(' ')
    );
  };

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
  ])('selects for %j with %d MB the best that fits', (selection, megabytes, selected) => {
    expect(choose({ ...selection, maxBytes: megabytes * MEGABYTE })).toBe(selected);
  });

  it('converts a source that is MP3 where it does not fit', () => {
    const song = selectRenditions(
      tracksOf({ formats: [audio('song', 320, { acodec: 'mp3', ext: 'mp3', filesize: 4 * MEGABYTE })] }),
    );
    const bitRate = (maxBytes: number) =>
      selectQuality({ ...song, durationSeconds: 100 }, { quality: 'mp3', maxBytes })?.bitrateKbps;
    expect([4, 3, 2, 1].map((megabytes) => bitRate(megabytes * MEGABYTE))).toEqual([undefined, 192, 128, undefined]);
  });

  it.each<[Selection, string]>([
    [{}, 'The smallest is 360p with 5250000 bytes'],
    [{ quality: 'mp3' }, 'The smallest is MP3 of 128 kbit/s with 16'],
    [{ format: 'opus' }, 'The smallest is OPUS with 5250000 bytes'],
  ])('names the smallest of %j', (selection, text) => {
    expect(describeSmallest(resource, { ...selection, maxBytes: 1 })).toContain(text);
  });

  it('knows no size without a duration', () => {
    expect(describeSmallest({ ...resource, tracks: [], durationSeconds: undefined }, { quality: 'mp3' })).toBe(
      'No size is known',
    );
  });
});

describe('a wish', () => {
  const vp9 = (id: string, height: number, more: Format = {}) => both(id, height, { vcodec: 'vp9', ...more });

  it.each<[string, Format]>([
    ['is possibly DRM protected', { has_drm: 'maybe' }],
    ['only browsers receive', { impersonate: true }],
    ['is damaged or cannot be played', { preference: -10 }],
    ['was upscaled', { format_note: '1080p, AI-upscaled' }],
    ['has a watermark', { format_note: 'watermarked' }],
    ['has an audio description', { format_note: 'Audio description' }],
    ['is a dub', { language_preference: -2 }],
  ])('never selects video that %s where a sound one ranks above it', (_, flaw) => {
    const formats = [vp9('sound', 1080), both('flawed', 1080, flaw), vp9('small', 360)];
    expect(select(formats, 'best')).toBe('sound');
    expect(select(formats, { maxHeight: 1080 })).toBe('sound');
    expect(select([vp9('sound', 1080), both('flawed', 720, flaw)], { maxHeight: 720 })).toBe('sound');
    expect(select([vp9('sound', 1080), both('flawed', 144, flaw)], 'worst')).toBe('sound');
    expect(select([both('flawed', 720, flaw)], { maxHeight: 720 })).toBe('flawed');
  });

  it('takes a filmed picture rather than a larger one that the site invented from it', () => {
    const upscaled = { format_note: '1080p, AI-upscaled' };
    const formats = [both('sr', 1080, upscaled), both('filmed', 480), both('small-sr', 360, upscaled)];
    const { renditions } = selectRenditions(tracksOf({ formats: [...formats] }, 0));
    expect(renditions.flatMap(({ side, formatIds }) => (side === 'video' ? formatIds : []))).toEqual([
      'filmed',
      'sr',
      'small-sr',
    ]);
    for (const quality of ['best', 'worst', { maxHeight: 1080 }] as const)
      expect(select(formats, quality)).toBe('filmed');
    expect(
      select([audio('vb', 256, { format_note: 'voice boost' }), audio('drc', 200, { format_note: 'DRC' })], 'audio'),
    ).toBe('drc');
  });

  const opus = { acodec: 'opus', ext: 'webm' };
  it.each<[string, Format, Format]>([
    ['is a dub', { language: 'de', language_preference: -1 }, { language: 'en', language_preference: 10 }],
    ['is a dub by its name', { language: 'de' }, { language: 'en', format_note: 'English original' }],
    ['is a dub that is not the default', { language: 'de', source_preference: -2 }, { language: 'en' }],
    ['is a dub without a language', { language_preference: -1 }, { language_preference: 10 }],
    ['is an audio description', { format_note: 'descriptive' }, {}],
    ['has a compressed dynamic range', { format_note: 'DRC' }, {}],
  ])('never selects audio that %s where a sound one ranks above it', (_, flaw, sound) => {
    const formats = [audio('flawed', 256, flaw), audio('sound', 64, { ...opus, ...sound })];
    for (const quality of ['audio', 'best', 'worst'] as const) expect(select(formats, quality)).toBe('sound');
    expect(select([audio('flawed', 256, flaw)], 'audio')).toBe('flawed');
  });

  it('selects among what is as flawed as the first', () => {
    const flaw = { preference: -100 };
    expect(select([vp9('first', 1080, flaw), both('second', 720, flaw)], 'best')).toBe('second');
  });

  it('selects another track of the same language', () => {
    const other = audio('other', 64, { language: 'en', source_preference: -2 });
    expect(select([audio('main', 64, { ...opus, language: 'en' }), other], 'audio')).toBe('other');
  });
});

describe('what its host stops after the first minute', () => {
  const partly = (formats: readonly Format[], ...stopping: readonly string[]) => {
    const candidates = tracksOf({ formats: [...formats] }).map((candidate) => ({
      ...candidate,
      stopsEarly: stopping.includes(candidate.track.formatId),
    }));
    const offer = selectRenditions(candidates);
    const { conversions, renditions } = offer;
    const choose = (quality: Quality) => {
      const selected = selectQuality({ ...offer, ...conversions }, { quality, codec: 'any' });
      return [selected?.rendition.formatIds.join('+'), selected?.format].filter(Boolean).join(' as ');
    };
    return { choose, listed: renditions.map(({ formatIds }) => formatIds.join('+')), renditions };
  };

  it('ranks behind what can be had whole, and is never chosen beside it', () => {
    const { choose, listed, renditions } = partly([...LADDER], 'av1-2160', 'vp9-1080', 'opus');
    expect(listed.slice(0, 2)).toEqual(['avc-1080+aac', 'avc-720+aac']);
    expect(listed.slice(3)).toEqual(['av1-2160+aac', 'vp9-1080+aac', 'aac', 'opus']);
    expect(['best', { maxHeight: 2160 }, 'worst', 'audio'].map((wish) => choose(wish as Quality))).toEqual([
      'avc-1080+aac',
      'avc-1080+aac',
      'old-360',
      'aac',
    ]);
    const said = renditions.filter(({ description }) => description?.includes('only the first minute is served'));
    expect(said.map(({ formatIds }) => formatIds[0])).toEqual(['av1-2160', 'vp9-1080', 'opus']);
  });

  it('makes a pair of it, which then ranks behind one file with both tracks', () => {
    const { choose, listed } = partly([...LADDER], 'aac', 'opus');
    expect(listed[0]).toBe('old-360');
    expect(choose('best')).toBe('old-360');
  });

  it('is not converted where something else has the sound whole', () => {
    const { choose } = partly([both('old-360', 360), audio('aac', 129)], 'aac');
    expect([choose('audio'), choose('mp3')]).toEqual(['old-360 as mp3', 'old-360 as mp3']);
  });

  it('is offered and chosen where there is nothing else', () => {
    const { choose } = partly([both('only', 360), audio('aac', 129)], 'only', 'aac');
    expect([choose('best'), choose('audio'), choose('mp3')]).toEqual(['only', 'aac', 'aac as mp3']);
  });
});

describe('selectQuality of listed renditions', () => {
  const rendition = (id: string, more: Partial<Rendition> = {}): Rendition => ({
    id,
    side: 'video',
    urlType: 'Media',
    formatIds: [id],
    label: id,
    description: null,
    fileExtension: '.mp4',
    mimeType: 'video/mp4',
    ...more,
  });
  const track = (formatId: string, video: Track['video'], audio: Track['audio']): Track => ({
    formatId,
    delivery: 'direct',
    url: `https://cdn.example/${formatId}`,
    headers: {},
    cookies: [],
    container: 'mp4',
    sizeIsExact: false,
    video,
    audio,
  });
  const idOf = (renditions: readonly Rendition[], quality: Quality, tracks: readonly Track[] = []) =>
    selectQuality({ renditions, tracks }, { quality })?.rendition.id;

  it('keeps the order of renditions without flaws, such as those that an earlier version has stored', () =>
    expect(
      idOf(
        [rendition('first', { height: 360 }), rendition('taller', { height: 720 }), rendition('last', { height: 720 })],
        { maxHeight: 1080 },
      ),
    ).toBe('first'));

  it('selects none that is more flawed than one before it, of which the first flaw counts most', () => {
    const [drc, dub] = [{ versions: ['drc'] }, { flaws: ['dub'] }] as const;
    const watermarked = { flaws: ['watermarked'] } as const;
    expect(idOf([rendition('sound'), rendition('drc', drc)], 'worst')).toBe('sound');
    expect(idOf([rendition('drc', drc), rendition('dub', dub)], 'worst')).toBe('drc');
    expect(idOf([rendition('dub', { ...drc, ...dub }), rendition('watermarked', watermarked)], 'worst')).toBe('dub');
    expect(idOf([rendition('watermarked', watermarked), rendition('dub', { ...drc, ...dub })], 'worst')).toBe('dub');
  });

  it('reads the flaws of renditions that an earlier version has stored from their descriptions', () => {
    const sound = rendition('sound', {
      height: 1080,
      fileExtension: '.webm',
      description: '248 - 1080p, no watermark',
    });
    for (const description of ['137 - 1080p, DAMAGED', 'bytevc2 (UNPLAYABLE)', 'download (watermarked)'])
      expect(idOf([sound, rendition('flawed', { height: 1080, description })], 'best')).toBe('sound');
    expect(idOf([sound, rendition('other', { height: 1080, description: '137 - 1080p' })], 'best')).toBe('other');
  });

  it('selects an audio rendition that is MP3 where no conversion is promised', () => {
    const mp3 = { fileExtension: '.mp3' };
    const all = [rendition('v', mp3), rendition('aac', { side: 'audio', fileExtension: '.m4a' })];
    expect(idOf([...all, rendition('mp3', { side: 'audio', ...mp3 })], 'mp3')).toBe('mp3');
  });

  it.each([
    ['.mp4', 1440, 'avc1', 'mp4a.40.2', true],
    ['.mp4', 720, 'avc1', 'mp3', true],
    ['.mp4', 720, undefined, undefined, true],
    ['.mp4', 1441, 'avc1', 'mp4a.40.2', false],
    ['.webm', 720, 'avc1', 'mp4a.40.2', false],
    ['.mp4', 720, 'vp9', 'mp4a.40.2', false],
    ['.mp4', 720, 'avc1', 'opus', false],
    ['.mp4', 720, 'avc1', 'dts', false],
  ])(
    'prefers a %s of height %i with %s and %s over a small one: %s',
    (fileExtension, height, video, audio, isChosen) => {
      const all = [
        rendition('subject', { fileExtension, height, formatIds: ['v', 'a'] }),
        rendition('small', { height: 144 }),
      ];
      const tracks = [
        track('v', { codec: video, height }, null),
        track('a', null, { codec: audio }),
        track('small', { codec: 'avc1', height: 144 }, { codec: 'mp4a.40.2' }),
      ];
      expect(idOf(all, 'best', tracks)).toBe(isChosen ? 'subject' : 'small');
    },
  );
});
