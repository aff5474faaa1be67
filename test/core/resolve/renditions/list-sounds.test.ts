import { describe, expect, it } from 'vitest';
import { findSound, listSounds } from '../../../../core/resolve/renditions/list-sounds.ts';
import type { Rendition, Track } from '../../../../core/state/resource.ts';
import { renditionOf, videoTrack } from '../../../stream-service/fixture.ts';
import { type Dub, itemOf } from '../../../stream-service/outputs/languages/fixture.ts';

/** An audio by its format id and what tells it apart. */
interface Audio extends Omit<Dub, 'language'> {
  readonly id: string;
  readonly language?: string;
}

/** Best first, as GetResource ranks them; the video is paired with the first unless another is named. */
function sounds(audio: readonly Audio[], own = audio[0]?.id ?? '', video: Track = videoTrack()) {
  const dubs = audio.map(({ id, language, track, rendition }) => {
    return { language: id, track, rendition: { language, ...rendition } };
  });
  const resource = itemOf(dubs, video);
  const tracks = [video, ...resource.tracks.filter(({ formatId }) => formatId === own)];
  return listSounds({ resource, rendition: renditionOf([video.formatId, own]), tracks });
}
const ids = (...of: Parameters<typeof sounds>) => sounds(...of).map(({ track }) => track.formatId);

const dubbed: Partial<Rendition> = { versions: ['dubbed'] };
const original: Partial<Rendition> = { versions: ['original'] };
const webm: Partial<Track> = { container: 'webm', audio: { codec: 'opus' } };

describe('listSounds', () => {
  it.each<[string, readonly Audio[], string[]]>([
    [
      'one of each language',
      [
        { id: 'a', language: 'en' },
        { id: 'b', language: 'en' },
        { id: 'c', language: 'de' },
      ],
      ['a', 'c'],
    ],
    [
      'the original first',
      [
        { id: 'a', language: 'de', rendition: dubbed },
        { id: 'b', language: 'en', rendition: original },
      ],
      ['b', 'a'],
    ],
    [
      'what is no dub before dubs',
      [
        { id: 'a', language: 'de', rendition: dubbed },
        { id: 'b', language: 'en' },
      ],
      ['b', 'a'],
    ],
    [
      'no audio description where plain audio exists',
      [
        { id: 'a', language: 'en' },
        { id: 'b', language: 'de', rendition: { flaws: ['description'] } },
        { id: 'c', language: 'de' },
      ],
      ['a', 'c'],
    ],
    [
      'an audio description where nothing else exists',
      [
        { id: 'a', language: 'en' },
        { id: 'b', language: 'de', rendition: { flaws: ['description'] } },
      ],
      ['a', 'b'],
    ],
    [
      'no compressed dynamic range where plain audio exists',
      [
        { id: 'a', language: 'en' },
        { id: 'b', language: 'de', rendition: { versions: ['drc'] } },
        { id: 'c', language: 'de' },
      ],
      ['a', 'c'],
    ],
    [
      'MP4 for MP4',
      [
        { id: 'a', language: 'en' },
        { id: 'b', language: 'de', track: webm },
        { id: 'c', language: 'de' },
      ],
      ['a', 'c'],
    ],
    [
      'what MP4 holds before what it does not',
      [
        { id: 'a', language: 'en' },
        { id: 'b', language: 'de', track: { audio: { codec: 'vorbis' } } },
        { id: 'c', language: 'de', track: webm },
      ],
      ['a', 'c'],
    ],
    [
      'AAC before others',
      [
        { id: 'a', language: 'en' },
        { id: 'b', language: 'de', track: { audio: { codec: 'ac-3' } } },
        { id: 'c', language: 'de' },
      ],
      ['a', 'c'],
    ],
    [
      'the language of the track where none is stored',
      [
        { id: 'a', language: 'en' },
        { id: 'b', track: { language: 'deu' } },
      ],
      ['a', 'b'],
    ],
    ['audio of an unknown language once', [{ id: 'a' }, { id: 'b' }], ['a']],
    ['nothing without audio', [], []],
  ])('has %s', (_name, audio, wanted) => {
    expect(ids(audio)).toEqual(wanted);
  });

  it('keeps the audio of the rendition for its language, unless it is flawed', () => {
    const audio = [
      { id: 'a', language: 'en' },
      { id: 'b', language: 'en' },
    ] as const;
    expect(ids(audio, 'b')).toEqual(['b']);
    expect(ids([audio[0], { ...audio[1], rendition: { versions: ['drc'] } }], 'b')).toEqual(['a']);
  });

  it('has the audio that a video contains, where no other of its language is better', () => {
    const video = videoTrack({ audio: { codec: 'mp4a.40.2' }, language: 'en' });
    expect(ids([{ id: 'a', language: 'de' }], '', video)).toEqual(['video', 'a']);
    expect(ids([{ id: 'a', language: 'en' }], '', video)).toEqual(['video']);
  });

  it('names languages in English', () => {
    const found = sounds([{ id: 'a', language: 'en-US' }, { id: 'b', language: 'pt-BR' }, { id: 'c' }]);
    expect(found.map(({ name }) => name)).toEqual(['American English', 'Brazilian Portuguese', 'Audio']);
  });
});

describe('findSound', () => {
  const found = sounds([
    { id: 'de', language: 'de', rendition: dubbed },
    { id: 'us', language: 'en-US', rendition: original },
    { id: 'gb', language: 'en-GB' },
    { id: 'pt', language: 'pt' },
  ]);

  it.each([
    ['original', 'us'],
    ['ORIGINAL', 'us'],
    ['en', 'us'],
    ['en-gb', 'gb'],
    ['EN_GB', 'gb'],
    ['eng', 'us'],
    ['deu', 'de'],
    ['pt', 'pt'],
    ['pt-BR', undefined],
    ['e', undefined],
    ['xx', undefined],
  ])('finds %s in %s', (wanted, id) => {
    expect(findSound(found, wanted)?.track.formatId).toBe(id);
  });
});
