/** Small files of FLAC in Ogg and in Matroska, and what they are made of. */

export const STREAM_INFO = Buffer.alloc(34, 7);
const BLOCK = Buffer.from([0, 0, 0, 34]);

interface Page {
  readonly flags?: number;
  readonly serial?: number;
  readonly granule?: number;
}

function page(data: Buffer, { flags = 0, serial = 1, granule = 0 }: Page = {}, isEnd = true): Buffer {
  const segments = [...Array.from({ length: Math.floor(data.length / 255) }, () => 255)];
  if (isEnd) segments.push(data.length % 255);
  const header = Buffer.alloc(27);
  header.write('OggS');
  header[5] = flags;
  header.writeBigInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(serial, 14);
  header[26] = segments.length;
  return Buffer.concat([header, Buffer.from(segments), data]);
}

export const firstPage = (serial = 1) =>
  page(Buffer.concat([Buffer.from('\x7fFLAC\x01\0\0\x02fLaC', 'latin1'), BLOCK, STREAM_INFO]), { flags: 2, serial });
/** A comment of two pages, and padding, which is the last header. */
export const HEADERS = Buffer.concat([
  page(Buffer.alloc(510, 4), {}, false),
  page(Buffer.alloc(9, 4), { flags: 1 }),
  page(Buffer.from([0x81, 0])),
]);
const audioPage = (value: number, granule: number) => page(Buffer.alloc(600, value), { granule });
export const other = page(Buffer.from('fishead'), { flags: 2, serial: 9 });
export const OGG = Buffer.concat([
  firstPage(),
  other,
  HEADERS,
  audioPage(1, 4096),
  page(Buffer.alloc(3), { serial: 9 }),
  audioPage(2, 8192),
]);

export const element = (id: string, ...content: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(content);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x1000_0000 + bytes.length);
  return Buffer.concat([Buffer.from(id, 'hex'), size, bytes]);
};
export const track = (number: number, type: number, codec: string, ...more: readonly Buffer[]) =>
  element(
    'ae',
    ...[element('d7', Buffer.from([number])), element('83', Buffer.from([type])), element('86', Buffer.from(codec))],
    ...[element('63a2', Buffer.from('fLaC'), BLOCK, STREAM_INFO), ...more],
  );
export const block = (value: number, number = 2, flags = 0) =>
  Buffer.concat([Buffer.from([0x80 + number, 0, 0, flags]), Buffer.alloc(500, value)]);
export const matroska = (tracks: Buffer, ...blocks: readonly Buffer[]) =>
  Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('matroska'))),
    element('18538067', element('1654ae6b', tracks), element('1f43b675', element('e7', Buffer.from([0])), ...blocks)),
  ]);
export const TRACKS = Buffer.concat([track(1, 1, 'V_VP9'), track(2, 2, 'A_FLAC')]);
export const MATROSKA = matroska(
  TRACKS,
  element('a3', block(1)),
  element('a3', block(9, 1)),
  element('a0', element('a1', block(2))),
);
