import { describe, expect, it } from 'vitest';
import { createApi } from '../../../web/src/api/api.ts';
import type { MediaRendition } from '../../../web/src/api/index.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import { itemOf, referenceOf, renditionOf } from '../fakes/resources.ts';

const audio = (changes: Partial<MediaRendition> = {}) =>
  renditionOf({ key: 'AAC', label: '129 kbps', fileExtension: '.m4a', mimeType: 'audio/mp4', ...changes });
const OPUS = audio({ key: 'OPUS', label: '160 kbps', fileExtension: '.webm', mimeType: 'audio/webm; codecs="opus"' });
const VIDEO_FILE = audio({ key: 'BOTH', label: '720p', fileExtension: '.mp4', mimeType: 'video/mp4', height: 720 });
const MP3 = audio({
  key: 'OPUS',
  label: '192 kbps',
  fileExtension: '.mp3',
  mimeType: 'audio/mpeg',
  bitrate: 192,
  convertTo: 'mp3',
  fileSizeBytes: 1_920_000,
});

const item = (...renditions: MediaRendition[]) => itemOf({ audio: referenceOf(...renditions) });

describe('choicesOf with conversions', () => {
  const of = (...renditions: MediaRendition[]) => choicesOf(item(...renditions));

  it('has MP3 in each bit rate, with tags', () => {
    const mp3 = of(OPUS, MP3).audio.slice(0, 4);
    expect(mp3.map(({ id, label }) => [id, label])).toEqual([
      ['audio:OPUS:mp3:320', '320 kbps'],
      ['audio:OPUS:mp3:256', '256 kbps'],
      ['audio:OPUS:mp3', '192 kbps'],
      ['audio:OPUS:mp3:128', '128 kbps'],
    ]);
    expect(mp3.map(({ sizeBytes, isSizeEstimate }) => [sizeBytes, isSizeEstimate])).toEqual([
      [3_265_536, true],
      [2_625_536, true],
      [1_985_536, true],
      [1_345_536, true],
    ]);
    const urls = mp3.map((choice) => createApi('https://r.example').streamUrl(choice.rendition, choice));
    expect(urls.slice(1, 3)).toEqual([
      'https://r.example/api/Stream/Media/OPUS?format=mp3&bitrate=256&tags=true',
      'https://r.example/api/Stream/Media/OPUS?format=mp3&tags=true',
    ]);
  });

  it('has only the listed MP3 when its bit rate is none of those', () => {
    const [mp3, next] = of(OPUS, { ...MP3, bitrate: 160, label: '160 kbps' }).audio;
    expect([mp3, next].map((choice) => [choice?.id, choice?.label])).toEqual([
      ['audio:OPUS:mp3', '160 kbps'],
      ['audio:OPUS', '160 kbps'],
    ]);
  });

  it.each<[string, MediaRendition[], string[]]>([
    ['AAC in a file of its own', [audio(), MP3], ['audio:AAC', 'audio:OPUS:wav']],
    ['files with video, which are no sound', [VIDEO_FILE, MP3], ['audio:BOTH:m4a', 'audio:OPUS:wav']],
    ['Opus', [OPUS, MP3], ['audio:OPUS', 'audio:OPUS:opus', 'audio:OPUS:wav']],
    [
      'AAC that is named',
      [OPUS, audio({ fileExtension: '.aac', mimeType: 'audio/aac' })],
      ['audio:OPUS', 'audio:AAC', 'audio:AAC:m4a', 'audio:OPUS:opus'],
    ],
    ['FLAC in another file', [audio({ description: 'flac', fileExtension: '.mka' })], ['audio:AAC']],
    ['no known duration', [OPUS, { ...MP3, fileSizeBytes: null }], ['audio:OPUS', 'audio:OPUS:opus']],
    ['the MP3 alone', [MP3], ['audio:OPUS:wav']],
  ])('offers copies and WAV for %s', (_, renditions, ids) => {
    const others = of(...renditions).audio.filter(({ container }) => container !== 'MP3');
    expect(others.map(({ id }) => id)).toEqual(ids);
  });

  it('describes M4A and WAV', () => {
    const choices = of(VIDEO_FILE, { ...MP3, key: 'BOTH' }).audio.slice(4);
    expect(choices).toMatchObject([
      {
        label: 'M4A',
        codec: 'AAC',
        hasTags: true,
        playsEverywhere: true,
        sizeBytes: 1_345_536,
        isSizeEstimate: true,
      },
      { label: 'WAV', codec: 'PCM', sizeBytes: 15_360_000, isSizeEstimate: true },
    ]);
    expect(choices.map((choice) => createApi('https://r.example').streamUrl(choice.rendition, choice))).toEqual([
      'https://r.example/api/Stream/Media/BOTH?format=m4a&tags=true',
      'https://r.example/api/Stream/Media/BOTH?format=wav',
    ]);
  });

  it.each([
    ['the bit rate selected last', { container: 'MP3', bitrateKbps: 320 }, 'audio:OPUS:mp3:320'],
    ['the listed bit rate', { container: 'MP3' }, 'audio:OPUS:mp3'],
    ['the listed bit rate for one that is not offered', { container: 'MP3', bitrateKbps: 64 }, 'audio:OPUS:mp3'],
    ['the conversion selected last', { container: 'WAV' }, 'audio:OPUS:wav'],
    ['no conversion that encodes otherwise', {}, 'audio:OPUS'],
  ])('preselects %s', (_, format, id) => {
    const choices = choicesOf(item(OPUS, MP3), { preference: { group: 'audio', ...format } });
    expect(choices.preselected?.id).toBe(id);
  });
});
