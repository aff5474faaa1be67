import { describe, expect, it } from 'vitest';
import { recordingText } from '../../../core/conversions/conversion.ts';

const link = 'https://a.example/';
const recording = { title: 'T', author: 'A', origin: { url: link } };
const place = { album: 'A list', trackNumber: 7 };
const PROMISED = { title: 'P', artist: null, album: 'An album' };

describe('recordingText', () => {
  it.each([
    ['the list for a recording without an album', {}, { title: 'T', artist: 'A', album: 'A list', trackNumber: 7 }],
    ['the source’s number', { trackNumber: 3 }, { title: 'T', artist: 'A', album: 'A list', trackNumber: 3 }],
    ['the album of a recording', { album: 'An album' }, { title: 'T', artist: 'A', album: 'An album' }],
    ['a promised text first', { tag: PROMISED }, PROMISED],
  ])('has %s', (_, changes, expected) => {
    expect(recordingText({ ...recording, ...changes }, place)).toEqual({ ...expected, link });
  });
});
