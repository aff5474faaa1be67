import { describe, expect, it } from 'vitest';
import { conversions, findConversionName, tagText } from '../../../core/conversions/index.ts';

describe('findConversionName', () => {
  it.each([
    ['mp3', 'mp3'],
    ['MP3', 'mp3'],
    ['OPUS', 'opus'],
    ['ogg', undefined],
    ['', undefined],
    ['toString', undefined],
    [undefined, undefined],
  ])('resolves %j to %j', (name, found) => expect(findConversionName(name)).toBe(found));
});

describe('mp3', () => {
  it.each([
    ['AAC audio', { container: 'm4a', video: null, audio: { codec: 'mp4a.40.2' } }, true],
    ['audio of an unknown codec', { container: 'ogg', video: null, audio: {} }, true],
    ['MP3 inside a video', { container: 'mp4', video: {}, audio: { codec: 'mp3' } }, true],
    ['MP3 by codec', { container: 'mp4', video: null, audio: { codec: 'mp4a.6b' } }, false],
    ['MP3 by container', { container: 'mp3', video: null, audio: {} }, false],
  ])('for %s: offered is %j', (_, source, offered) => expect(conversions.mp3.isOffered?.(source)).toBe(offered));
});

describe('tagText', () => {
  it('uses title and author', () =>
    expect(tagText({ title: 'Song', author: 'Singer' })).toEqual({ title: 'Song', artist: 'Singer' }));

  it('prefers the text promised by an earlier resolve', () => {
    const tag = { title: 'Old', artist: null };
    expect(tagText({ title: 'Song', author: 'Singer', tag })).toBe(tag);
  });
});
