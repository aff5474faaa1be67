import { describe, expect, it } from 'vitest';
import { type Quality, selectQuality } from '../../../../core/resolve/renditions/select-quality.ts';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import type { Rendition, Track } from '../../../../core/state/resource.ts';
import { tracksOf } from '../yt-dlp/tracks-of.ts';

type Format = Record<string, unknown>;
const format = (id: string, more: Format): Format => ({
  format_id: id,
  url: `https://cdn.example/${id}`,
  protocol: 'https',
  ext: 'mp4',
  ...more,
});
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
function select(formats: readonly Format[], quality: Quality, codec: 'compatible' | 'any' = 'compatible') {
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
    expect(selectQuality(offer, { quality: 'mp3', codec: 'compatible' })).toMatchObject({
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

describe('selectQuality of listed renditions', () => {
  const rendition = (id: string, more: Partial<Rendition> = {}): Rendition => ({
    ...{ id, side: 'video', urlType: 'Media', formatIds: [id], label: id, description: null },
    ...{ fileExtension: '.mp4', mimeType: 'video/mp4' },
    ...more,
  });
  const track = (formatId: string, video: Track['video'], audio: Track['audio']): Track => ({
    ...{ formatId, delivery: 'direct', url: `https://cdn.example/${formatId}`, headers: {}, cookies: [] },
    ...{ container: 'mp4', sizeIsExact: false, video, audio },
  });
  const idOf = (renditions: readonly Rendition[], quality: Quality, tracks: readonly Track[] = []) =>
    selectQuality({ renditions, tracks }, { quality, codec: 'compatible' })?.rendition.id;

  it('selects the tallest up to a height, whatever the order', () =>
    expect(idOf([rendition('low', { height: 360 }), rendition('high', { height: 720 })], { maxHeight: 1080 })).toBe(
      'high',
    ));

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
