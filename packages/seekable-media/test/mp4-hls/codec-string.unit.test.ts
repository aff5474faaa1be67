import { describe, expect, it } from 'vitest';
import { box, fullBox, UnsupportedMp4, u32 } from '../../src/isobmff/boxes.ts';
import { channelCount, codecString } from '../../src/mp4-hls/codec-string.ts';

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
