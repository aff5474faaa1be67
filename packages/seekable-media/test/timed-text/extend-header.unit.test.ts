import { describe, expect, it } from 'vitest';
import {
  box,
  fullBox,
  indexContent,
  UnsupportedMp4,
  u32,
  writeFragmentedMovie,
  writeMovie,
} from '../../src/isobmff/index.ts';
import { timedText } from '../../src/text/text-track.ts';
import { extendHeader } from '../../src/virtual-mp4/index.ts';

const text = {
  language: 'de',
  cues: [
    { startMs: 500, endMs: 900, text: 'Eins' },
    { startMs: 4000, endMs: 5000, text: 'Zwei' },
  ],
};
const track = timedText({ language: 'en', cues: [{ startMs: 0, endMs: 1000, text: 'x' }] }, 10);
const tracks = track ? [track, track] : [];
const FILE_TYPE = box('ftyp', Buffer.from('iso5\0\0\0\0', 'latin1'));
const TAGS = box('udta', Buffer.alloc(100, 7));
const FRAGMENT = box('moof', Buffer.alloc(50, 1));
const header = Buffer.concat([FILE_TYPE, writeFragmentedMovie(tracks, [box('udta', Buffer.from('encoder'))])]);

function parse(bytes: Buffer) {
  const file = indexContent(bytes, 'file');
  return { boxes: file.children, children: file.require('moov').children };
}

describe('extendHeader', () => {
  it('adds a track whose samples lie in front of the first fragment', () => {
    const extended = extendHeader(Buffer.concat([header, FRAGMENT]), { text }, 10) ?? expect.fail('Incomplete');
    const { boxes, children } = parse(extended);
    expect(boxes.map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat', 'moof']);
    expect(children.map(({ type }) => type)).toEqual(['mvhd', 'trak', 'trak', 'trak', 'mvex', 'udta']);
    expect(extended.subarray(-FRAGMENT.length).equals(FRAGMENT)).toBe(true);

    const [mvhd, , , trak, mvex] = children;
    if (!mvhd || !trak || !mvex) return expect.fail('Missing boxes');
    expect(extended.readUInt32BE(mvhd.end - 4)).toBe(4);
    expect(mvex.children.filter(({ type }) => type === 'trex')).toHaveLength(3);
    const co64 = ['mdia', 'minf', 'stbl', 'co64'].reduce((parent, type) => parent.require(type), trak);
    const offsets = Array.from({ length: extended.readUInt32BE(co64.content + 4) }, (_, index) =>
      Number(extended.readBigUInt64BE(co64.content + 8 + index * 8)),
    );
    const mdat = boxes[2];
    expect(offsets[0]).toBe(mdat?.content);
    // Each chunk is samples of a length and a text: the first is empty.
    expect(extended.toString('utf8', (offsets[0] ?? 0) + 4, (offsets[0] ?? 0) + 8)).toBe('Eins');
    expect(extended.toString('utf8', mdat?.content, mdat?.end)).toContain('Zwei');
  });

  it('replaces the metadata by tags, without a track', () => {
    const extended = extendHeader(header, { tags: TAGS }, 10) ?? expect.fail('Incomplete');
    const { boxes, children } = parse(extended);
    expect(boxes.map(({ type }) => type)).toEqual(['ftyp', 'moov']);
    expect(children.map(({ type }) => type)).toEqual(['mvhd', 'trak', 'trak', 'mvex', 'udta']);
    expect(extended.subarray(-TAGS.length).equals(TAGS)).toBe(true);
  });

  it('adds no track where nothing is shown', () => {
    expect(extendHeader(header, { text: { language: 'de', cues: [] } }, 10)?.equals(header)).toBe(true);
  });

  it('needs the whole moov', () => {
    for (let length = 0; length < header.length; length += 1)
      expect(extendHeader(header.subarray(0, length), { text }, 10)).toBeUndefined();
  });

  it.each([
    ['fragments alone', Buffer.concat([FILE_TYPE, FRAGMENT])],
    ['media in front', Buffer.concat([FILE_TYPE, box('mdat', Buffer.alloc(9)), header])],
    ['a moov of more than 16 MB', Buffer.concat([FILE_TYPE, u32(2 ** 25), Buffer.from('moov')])],
    ['endless padding', Buffer.concat([FILE_TYPE, u32(2 ** 31), Buffer.from('free')])],
    ['no tracks', Buffer.concat([FILE_TYPE, box('moov', fullBox('mvhd', 0, 0, Buffer.alloc(96)))])],
    ['a moov without mvhd', Buffer.concat([FILE_TYPE, box('moov', box('free'))])],
  ])('rejects %s', (_, bytes) => expect(() => extendHeader(bytes, { text }, 10)).toThrow(UnsupportedMp4));

  it('extends a movie with sample tables too', () => {
    const movie = Buffer.concat([FILE_TYPE, writeMovie(tracks)]);
    const { children } = parse(extendHeader(movie, { text }, 10) ?? expect.fail('Incomplete'));
    expect(children.map(({ type }) => type)).toEqual(['mvhd', 'trak', 'trak', 'trak']);
  });
});
