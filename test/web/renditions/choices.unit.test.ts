import { describe, expect, it } from 'vitest';
import { contentDisposition } from '../../../core/http/file-name.ts';
import type { MediaInformation, MediaRendition } from '../../../web/src/api/contract.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import { fileNameOf } from '../../../web/src/renditions/file-name.ts';
import { rowsOf } from '../../../web/src/renditions/format-preference.ts';

const rendition = (changes: Partial<MediaRendition> = {}): MediaRendition => ({
  key: 'K',
  label: '1080p',
  description: null,
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
  urlType: 'Media',
  ...changes,
});
const sound = (changes: Partial<MediaRendition> = {}) =>
  rendition({ label: '129 kbps', fileExtension: '.m4a', mimeType: 'audio/mp4', ...changes });
const MP3 = sound({ convertTo: 'mp3', label: '192 kbps', fileExtension: '.mp3', mimeType: 'audio/mpeg', bitrate: 192 });

const item = (video: MediaRendition[], audio: MediaRendition[] = []): MediaInformation => ({
  requestedUrl: 'https://a.example/',
  title: 'Title',
  author: 'Author',
  coverUrl: null,
  ...(video.length > 0 && { video: { renditions: video } }),
  ...(audio.length > 0 && { audio: { renditions: audio } }),
});

describe('choicesOf', () => {
  it('groups video, audio and MP3, best first, and preselects one', () => {
    const choices = choicesOf(item([rendition({ key: 'A' }), rendition({ key: 'B' })], [sound({ key: 'C' }), MP3]));
    expect(choices.video.map(({ id }) => id)).toEqual(['video:A', 'video:B']);
    expect(choices.audio.map(({ id }) => id)).toEqual(['audio:C']);
    expect(choices.mp3.map(({ id }) => id)).toEqual(['mp3:K:320', 'mp3:K:256', 'mp3:K', 'mp3:K:128']);
    expect(choices.mp3.every(({ element }) => element === 'audio')).toBe(true);
    expect(choices.preselected?.id).toBe('video:A');
  });

  it.each([
    ['audio without video', item([], [sound({ key: 'C' }), MP3]), 'audio:C'],
    ['the conversion alone', item([], [MP3]), 'mp3:K'],
    ['nothing', item([]), undefined],
    ['a reference without renditions', { ...item([]), video: { renditions: null as never }, audio: {} }, undefined],
    ['renditions without keys', item([rendition({ key: null })], [sound({ key: '' })]), undefined],
  ])('of %s', (_, media, id) => expect(choicesOf(media).preselected?.id).toBe(id));

  it('removes duplicates', () => {
    expect(choicesOf(item([rendition(), rendition({ label: 'again' })])).video).toHaveLength(1);
  });

  it.each<[string, Partial<MediaRendition>, object]>([
    [
      'a file',
      { fileSizeBytes: 5, height: 1080, bitrate: 100.5 },
      { sizeBytes: 5, height: 1080, bitrate: 100.5, isMuxed: false, isSizeEstimate: false },
    ],
    ['a combined stream', { urlType: 'Combined', fileSizeBytes: 5 }, { isMuxed: true, isSizeEstimate: true }],
    [
      'nulls',
      { label: null, mimeType: null, fileExtension: '.webm', fileSizeBytes: null, height: null },
      { label: 'WEBM', container: 'WEBM' },
    ],
  ])('tell of %s', (_, changes, expected) => {
    expect(choicesOf(item([rendition(changes)])).video[0]).toMatchObject(expected);
  });

  it.each(['Media', 'Combined'] as const)('leaves canSeek of %s undefined', (urlType) => {
    expect(choicesOf(item([rendition({ urlType })])).video[0]).not.toHaveProperty('canSeek');
  });

  it('omits invalid numbers', () => {
    const [choice] = choicesOf(item([rendition({ fileSizeBytes: 0, height: null, bitrate: Number.NaN })])).video;
    for (const name of ['sizeBytes', 'height', 'bitrate']) expect(choice).not.toHaveProperty(name);
  });

  it.each<[string, Partial<MediaRendition>, boolean]>([
    ['MP4', { height: 1080 }, true],
    ['MP4 of H.264', { description: '1080p (avc1)' }, true],
    ['MP4 of AV1', { description: '1080p av1' }, false],
    ['MP4 of AV1 by its tag', { description: 'video av01.0.08M.08' }, false],
    ['MP4 of VP9', { description: '137 - vp9' }, false],
    ['MP4 of HEVC', { mimeType: 'video/mp4; codecs="hvc1"' }, false],
    ['MP4 with Opus', { description: '1080p + opus' }, false],
    ['4K, whatever it is', { height: 2160 }, false],
    ['WebM', { fileExtension: '.webm' }, false],
    ['MP3', { fileExtension: '.mp3' }, true],
    ['FLAC', { fileExtension: '.flac' }, false],
    ['a name that only sounds so', { description: 'Opusculum' }, true],
  ])('say what plays everywhere: %s', (_, changes, plays) => {
    expect(choicesOf(item([rendition(changes)])).video[0]?.playsEverywhere).toBe(plays);
  });
});

describe('preselection', () => {
  const of = (key: string, height: number, changes: Partial<MediaRendition> = {}) =>
    rendition({ key, height, label: `${height}p`, ...changes });
  const ladder = item(
    [
      of('8k', 4320, { description: 'av01' }),
      of('4k', 2160, { description: 'vp9' }),
      of('1080-av1', 1080, { description: 'av01' }),
      of('1080', 1080, { description: 'avc1', urlType: 'Combined' }),
      of('720', 720),
    ],
    [sound({ key: 'opus', fileExtension: '.webm' }), sound({ key: 'aac' }), MP3],
  );
  const hasNoAv1 = (type: string) => !type.includes('av01');

  it.each<[string, Parameters<typeof choicesOf>[1], string]>([
    ['at most 1080p, what plays everywhere', {}, 'video:1080'],
    ['up to the height selected last', { preference: { group: 'video', height: 720 } }, 'video:720'],
    [
      'nothing that does not play here',
      { preference: { group: 'video', height: 4320 }, canPlay: hasNoAv1 },
      'video:4k',
    ],
    ['audio that plays everywhere', { preference: { group: 'audio' } }, 'audio:aac'],
    ['the conversion', { preference: { group: 'mp3' } }, 'mp3:K'],
    ['the smallest when none fits', { preference: { group: 'video', height: 100 } }, 'video:720'],
  ])('selects %s', (_, options, id) => expect(choicesOf(ladder, options).preselected?.id).toBe(id));

  it('shows one row per height, preferring what plays everywhere', () => {
    expect(rowsOf(choicesOf(ladder).video).map(({ id }) => id)).toEqual([
      'video:8k',
      'video:4k',
      'video:1080',
      'video:720',
    ]);
  });

  it('names the codec', () => {
    expect(choicesOf(ladder).video.map(({ codec }) => codec)).toEqual(['AV1', 'VP9', 'AV1', 'H.264', undefined]);
  });
});

describe('fileNameOf', () => {
  it('adds place and quality', () => {
    const naming = { title: 'Title', author: 'Author', quality: '1080p (HDR)', place: { number: 3, count: 120 } };
    expect(fileNameOf(naming, '.mp4')).toBe('003 - Author - Title (1080p HDR).mp4');
  });

  it('tells apart dubs whose labels differ in the language alone', () => {
    const labels = ['German (dubbed)', 'German', 'French (dubbed)', 'Norwegian Bokmål (dubbed, descriptive)'];
    const sounds = labels.map((label, index) => sound({ key: `${index}`, label: `129 kbps ${label}` }));
    expect(choicesOf(item([], sounds)).audio.map(({ fileName }) => fileName)).toEqual([
      'Author - Title (129 kbps German dubbed).m4a',
      'Author - Title (129 kbps German).m4a',
      'Author - Title (129 kbps French dubbed).m4a',
      'Author - Title (129 kbps Norwegian Bokmål dubbed, descriptive).m4a',
    ]);
  });

  it('has 200 bytes at most, of which a long title leaves place and quality theirs', () => {
    const naming = { title: '🎬'.repeat(200), author: null, quality: '192 kbps', place: { number: 1, count: 1000 } };
    const name = fileNameOf(naming, '.mp4');
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    expect(name).toMatch(/^0001 - (?:🎬)+ \(192 kbps\)\.mp4$/u);
  });

  it.each([
    ['Title', 'Author', '.mp4'],
    ['a/b\\c:d*e?f"g<h>i|j%k', null, '.mp4'],
    ['CON', null, '.mp3'],
    ['...', '', '.mp4'],
    ['x'.repeat(300), 'y', '.m4a'],
    ['several words '.repeat(30), 'An artist', '.webm'],
    ['Title', 'An artist '.repeat(30), '.webm'],
    ['日本語 \u202e العربية', 'Ü', '.mp4'],
    ['', null, '.webm'],
    ['', 'Author', '.webm'],
  ])('is the one of the service: %.30s', (title, author, extension) => {
    const given = /filename\*=UTF-8''([^;]*)/.exec(contentDisposition({ title, author }, extension))?.[1] ?? '';
    expect(fileNameOf({ title, author }, extension)).toBe(decodeURIComponent(given));
  });

  const naming = { title: 'Title', author: 'Artist', quality: '1080p', place: { number: 3, count: 20 } };
  it.each([
    [naming, '03 - Artist - Title (1080p)'],
    [{ ...naming, author: null }, '03 - Title (1080p)'],
    [{ title: 'A - - B (', author: null }, 'A - - B ('],
    [{ title: null, author: null, quality: '1080p' }, '(1080p)'],
    [{ title: 'con', author: null }, 'con_'],
    [{ title: null, author: null }, 'media'],
  ])('of %j has the parts that are there', (one, name) => expect(fileNameOf(one, '.mp4')).toBe(`${name}.mp4`));

  it('has 200 bytes at most with a long title and a long artist', () => {
    const name = fileNameOf({ ...naming, title: '🎬'.repeat(200), author: '🎵'.repeat(200) }, '.mp4');
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    expect(name.isWellFormed()).toBe(true);
  });

  it('omits an invalid extension', () => {
    expect(fileNameOf({ title: 'x', author: null }, '/../y')).toBe('x');
  });
});
