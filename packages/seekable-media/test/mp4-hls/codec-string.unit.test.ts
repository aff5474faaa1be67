import { describe, expect, it } from 'vitest';
import { box, fullBox, UnsupportedMp4, u32 } from '../../src/isobmff/boxes.ts';
import { channelCount, codecString, withHvc1 } from '../../src/mp4-hls/codec-string.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const stsd = (entry: Buffer) => fullBox('stsd', 0, 0, u32(1), entry);
const visual = (type: string, ...children: Buffer[]) => stsd(box(type, Buffer.alloc(78), ...children));
const audio = (type: string, ...children: Buffer[]) => {
  const fields = Buffer.alloc(28);
  fields.writeUInt16BE(6, 16);
  return stsd(box(type, fields, ...children));
};
/** An `esds` with the given object type and DecoderSpecificInfo. */
const esds = (objectType: string, specific = '') => {
  const info = specific ? `05 ${(specific.length / 2).toString(16).padStart(2, '0')} ${specific}` : '';
  return fullBox('esds', 0, 0, hex(`03 19 0001 00 04 11 ${objectType} 15 000000 00000000 00000000 ${info}`));
};

describe('codecString', () => {
  it.each([
    ['avc1.64001f', visual('avc1', box('avcC', hex('01 64 00 1f ff e1')))],
    ['hvc1.1.6.L93.B0', visual('hvc1', box('hvcC', hex('01 01 60000000 b00000000000 5d 0000')))],
    ['hev1.A2.4.H153', visual('hev1', box('hvcC', hex('01 62 20000000 000000000000 99 0000')))],
    ['av01.0.08M.08', visual('av01', box('av1C', hex('81 08 0c 00')))],
    ['av01.1.13H.10', visual('av01', box('av1C', hex('81 2d c0 00')))],
    ['av01.2.05M.12', visual('av01', box('av1C', hex('81 45 60 00')))],
    ['vp09.02.51.10', visual('vp09', fullBox('vpcC', 1, 0, hex('02 33 a3 09 10 09 0000')))],
    ['mp4a.40.2', audio('mp4a', esds('40', '1190'))],
    ['mp4a.40.5', audio('mp4a', esds('40', '2b92'))],
    ['mp4a.40.42', audio('mp4a', esds('40', 'f95f'))],
    ['mp4a.6b', audio('mp4a', esds('6b'))],
    ['mp4v.20', visual('mp4v', esds('20', '000001b0'))],
    ['Opus', audio('Opus')],
    ['fLaC', audio('fLaC')],
    ['ec-3', audio('ec-3')],
  ])('names %s', (name, description) => expect(codecString(description)).toBe(name));

  it.each([
    ['no configuration', visual('avc1')],
    ['a truncated one', visual('hvc1', box('hvcC', hex('01 01')))],
    ['an unreadable esds', audio('mp4a', fullBox('esds', 0, 0, hex('ff ff ff')))],
    ['no entry', fullBox('stsd', 0, 0, u32(0))],
  ])('rejects %s', (_name, description) => expect(() => codecString(description)).toThrow(UnsupportedMp4));
});

describe('channelCount', () => {
  it('reads the sample entry', () => expect(channelCount(audio('Opus'))).toBe(6));
});

describe('withHvc1', () => {
  const before = '01 01 60000000 b00000000000 5d f000fc fdf8f8 0000 0f';
  /** `hvcC` with an array of one unit for each type. */
  const hvcC = (...types: readonly string[]) =>
    box('hvcC', hex(`${before} 0${types.length} ${types.map((type) => `${type} 0001 0002 4001`).join('')}`));
  const [vps, sps, pps, sei] = ['20', '21', '22', '27'] as const;

  it('renames what has every parameter set in its header, and says that there are no others', () => {
    const stored = visual('hev1', hvcC(vps, sps, pps, sei));
    const original = Buffer.from(stored);
    expect(withHvc1(stored)).toEqual(visual('hvc1', hvcC('a0', 'a1', 'a2', sei)));
    expect(stored).toEqual(original);
  });

  it.each([
    ['a parameter set may be in samples alone', visual('hev1', hvcC(vps, sps))],
    ['an array is empty', visual('hev1', box('hvcC', hex(`${before} 03 200000 21000100024001 22000100024001`)))],
    ['an array is cut', visual('hev1', box('hvcC', hex(`${before} 03 20000100024001 21000100024001 22000100ff40`)))],
    ['a count is more than there is', visual('hev1', box('hvcC', hex(`${before} ff 20ffff`)))],
    ['arrays are missing', visual('hev1', box('hvcC', hex('01 62 20000000 000000000000 99 0000')))],
    ['it is another codec', visual('avc1', box('avcC', hex('01 64 00 1f ff e1')))],
    ['it is hvc1', visual('hvc1', hvcC(vps, sps, pps))],
  ])('leaves descriptions as they are where %s', (_, description) =>
    expect(withHvc1(description)).toEqual(description),
  );

  it('leaves several alone where one has to stay', () => {
    const [complete, lacking] = [hvcC(vps, sps, pps), hvcC(vps, sps)];
    const entries = [complete, lacking].map((configuration) => box('hev1', Buffer.alloc(78), configuration));
    const description = fullBox('stsd', 0, 0, u32(2), ...entries);
    expect(withHvc1(description)).toEqual(description);
  });

  it('refuses what has no configuration', () => expect(() => withHvc1(visual('hev1'))).toThrow(UnsupportedMp4));
});
