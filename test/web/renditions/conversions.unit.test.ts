import { describe, expect, it } from 'vitest';
import { MP3_BITRATES_KBPS } from '../../../core/conversions/index.ts';
import { createApi } from '../../../web/src/api/api.ts';
import type { MediaInformation, MediaRendition } from '../../../web/src/api/contract.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import { MP3_BITRATES_KBPS as BITRATES_OF_PAGE } from '../../../web/src/renditions/conversions.ts';
import { selectForPlaylist } from '../../../web/src/renditions/playlist-format.ts';

const audio = (changes: Partial<MediaRendition> = {}): MediaRendition => ({
  key: 'AAC',
  label: '129 kbps',
  fileExtension: '.m4a',
  mimeType: 'audio/mp4',
  urlType: 'Media',
  ...changes,
});
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

const item = (...renditions: MediaRendition[]): MediaInformation => ({
  requestedUrl: 'https://a.example/',
  title: 'Title',
  author: null,
  coverUrl: null,
  audio: { renditions },
});

it('has the bit rates of MP3 that the service has', () => {
  expect([...BITRATES_OF_PAGE].reverse()).toEqual(MP3_BITRATES_KBPS);
});

describe('choicesOf with conversions', () => {
  const of = (...renditions: MediaRendition[]) => choicesOf(item(...renditions));

  it('has MP3 in each bit rate, with tags', () => {
    const { mp3 } = of(OPUS, MP3);
    expect(mp3.map(({ id, label, fileName }) => [id, label, fileName])).toEqual([
      ['mp3:OPUS:320', '320 kbps', 'Title (320 kbps).mp3'],
      ['mp3:OPUS:256', '256 kbps', 'Title (256 kbps).mp3'],
      ['mp3:OPUS', '192 kbps', 'Title (192 kbps).mp3'],
      ['mp3:OPUS:128', '128 kbps', 'Title (128 kbps).mp3'],
    ]);
    expect(mp3.map(({ sizeBytes, isSizeEstimate }) => [sizeBytes, isSizeEstimate])).toEqual([
      [3_265_536, true],
      [2_625_536, true],
      [1_985_536, true],
      [1_345_536, true],
    ]);
    const urls = mp3.map((choice) => createApi('').streamUrl(choice.rendition, choice));
    expect(urls.slice(1, 3)).toEqual([
      '/api/Stream/Media/OPUS?format=mp3&bitrate=256&tags=true',
      '/api/Stream/Media/OPUS?format=mp3&tags=true',
    ]);
  });

  it('keeps the listed MP3 alone where its bit rate is none of those', () => {
    expect(of(OPUS, { ...MP3, bitrate: 160, label: '160 kbps' }).mp3.map(({ id }) => id)).toEqual(['mp3:OPUS']);
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
    ['FLAC in another file', [audio({ description: 'flac', fileExtension: '.mka' })], ['audio:AAC', 'audio:AAC:flac']],
    ['no known duration', [OPUS, { ...MP3, fileSizeBytes: null }], ['audio:OPUS', 'audio:OPUS:opus']],
    ['the MP3 alone', [MP3], []],
  ])('offers copies and WAV for %s', (_, renditions, ids) => {
    expect(of(...renditions).audio.map(({ id }) => id)).toEqual(ids);
  });

  it('describes M4A and WAV', () => {
    const { audio: choices } = of(VIDEO_FILE, { ...MP3, key: 'BOTH' });
    expect(choices).toMatchObject([
      {
        label: 'M4A',
        codec: 'AAC',
        fileName: 'Title.m4a',
        hasTags: true,
        playsEverywhere: true,
        sizeBytes: 1_345_536,
        isSizeEstimate: true,
      },
      { label: 'WAV', codec: 'PCM', fileName: 'Title.wav', sizeBytes: 15_360_000, isSizeEstimate: true },
    ]);
    expect(choices.map((choice) => createApi('').streamUrl(choice.rendition, choice))).toEqual([
      '/api/Stream/Media/BOTH?format=m4a&tags=true',
      '/api/Stream/Media/BOTH?format=wav',
    ]);
  });

  it.each([
    ['the bit rate selected last', { group: 'mp3', bitrateKbps: 320 }, 'mp3:OPUS:320'],
    ['the listed bit rate', { group: 'mp3' }, 'mp3:OPUS'],
    ['the listed bit rate for one that is not offered', { group: 'mp3', bitrateKbps: 64 }, 'mp3:OPUS'],
    ['the conversion selected last', { group: 'audio', container: 'WAV' }, 'audio:OPUS:wav'],
    ['no WAV otherwise', { group: 'audio' }, 'audio:OPUS'],
  ] as const)('preselects %s', (_, preference, id) => {
    const choices = choicesOf(item(OPUS, MP3), { preference });
    expect(choices.preselected?.id).toBe(id);
  });

  it.each([
    ['mp3', { group: 'mp3', bitrateKbps: 128 }, 'mp3:OPUS:128'],
    ['mp3', { group: 'video' }, 'mp3:OPUS'],
    ['audio', { group: 'mp3' }, 'audio:OPUS'],
  ] as const)('selects %s for the entries of a list by the preference %j', (format, preference, id) => {
    expect(selectForPlaylist(choicesOf(item(OPUS, MP3), { preference }), format)?.id).toBe(id);
  });
});
