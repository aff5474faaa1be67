import { describe, expect, it } from 'vitest';
import { findSound, listSounds } from '../../../../core/resolve/renditions/list-sounds.ts';
import type { Rendition, Track } from '../../../../core/state/resource.ts';
import { renditionOf, videoTrack } from '../../../stream-service/fixture.ts';
import { itemOf } from '../../../stream-service/outputs/languages/fixture.ts';

/** An audio, and what tells it apart. */
type Audio = readonly [language?: string, rendition?: Partial<Rendition>, track?: Partial<Track>];

/**
 * Best first, as GetResource ranks them: their format ids are a, b and so on.
 * @param own with which the video is paired
 */
function sounds(audio: readonly Audio[], own = 'a', video: Track = videoTrack()) {
  const dubs = audio.map(([language, rendition, track], index) => {
    return { language: 'abcd'[index] ?? '', track, rendition: { language, ...rendition } };
  });
  const resource = itemOf(dubs, video);
  const tracks = [video, ...resource.tracks.filter(({ formatId }) => formatId === own)];
  return listSounds({ resource, rendition: renditionOf([video.formatId, own]), tracks });
}
const ids = (...of: Parameters<typeof sounds>) => sounds(...of).map(({ track }) => track.formatId);

const dubbed: Partial<Rendition> = { versions: ['dubbed'] };
const original: Partial<Rendition> = { versions: ['original'] };
const described: Partial<Rendition> = { flaws: ['description'] };
const drc: Partial<Rendition> = { versions: ['drc'] };
const webm: Partial<Track> = { container: 'webm', audio: { codec: 'opus' } };
const of = (codec: string): Partial<Track> => ({ audio: { codec } });

describe('listSounds', () => {
  it.each<[string, readonly Audio[], string[]]>([
    ['one of each language', [['en'], ['en'], ['de']], ['a', 'c']],
    [
      'the original first',
      [
        ['de', dubbed],
        ['en', original],
      ],
      ['b', 'a'],
    ],
    ['what is no dub before dubs', [['de', dubbed], ['en']], ['b', 'a']],
    ['no audio description where plain audio exists', [['en'], ['de', described], ['de']], ['a', 'c']],
    ['an audio description where nothing else exists', [['en'], ['de', described]], ['a', 'b']],
    ['no compressed dynamic range where plain audio exists', [['en'], ['de', drc], ['de']], ['a', 'c']],
    ['MP4 for MP4', [['en'], ['de', {}, webm], ['de']], ['a', 'c']],
    ['what MP4 holds before what it does not', [['en'], ['de', {}, of('vorbis')], ['de', {}, webm]], ['a', 'c']],
    ['AAC before others', [['en'], ['de', {}, of('ac-3')], ['de']], ['a', 'c']],
    ['the language of the track where none is stored', [['en'], [undefined, {}, { language: 'deu' }]], ['a', 'b']],
    ['audio of an unknown language once', [[], []], ['a']],
    ['nothing without audio', [], []],
  ])('has %s', (_name, audio, wanted) => {
    expect(ids(audio)).toEqual(wanted);
  });

  it('keeps the audio of the rendition for its language, unless it is flawed', () => {
    expect(ids([['en'], ['en']], 'b')).toEqual(['b']);
    expect(ids([['en'], ['en', drc]], 'b')).toEqual(['a']);
  });

  it('has the audio that a video contains, where no other of its language is better', () => {
    const video = videoTrack({ audio: { codec: 'mp4a.40.2' }, language: 'en' });
    expect(ids([['de']], '', video)).toEqual(['video', 'a']);
    expect(ids([['en']], '', video)).toEqual(['video']);
  });

  it('names languages in English', () => {
    const names = sounds([['en-US'], ['pt-BR'], []]).map(({ name }) => name);
    expect(names).toEqual(['American English', 'Brazilian Portuguese', 'Audio']);
  });
});

describe('findSound', () => {
  const found = sounds([['de', dubbed], ['en-US', original], ['en-GB'], ['pt']]);

  it.each([
    ['original', 'b'],
    ['ORIGINAL', 'b'],
    ['en', 'b'],
    ['en-gb', 'c'],
    ['EN_GB', 'c'],
    ['eng', 'b'],
    ['deu', 'a'],
    ['pt', 'd'],
    ['pt-BR', 'd'],
    ['de-DE', 'a'],
    ['fr-FR', undefined],
    ['e', undefined],
    ['xx', undefined],
  ])('finds %s in %s', (wanted, id) => {
    expect(findSound(found, wanted)?.track.formatId).toBe(id);
  });
});
