/** Records of a TAR archive in the pax interchange format (POSIX.1-2017, pax). */

/** A file in an archive. */
export interface TarEntry {
  /** Path within the archive, with `/` between folders. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly modifiedAt: Date;
}

/** Everything is padded to blocks. */
const BLOCK_BYTES = 512;
/** An archive ends with two blocks of zeros. */
export const TAR_END_BYTES = 2 * BLOCK_BYTES;
const PATH_BYTES = 100;
/** The largest number in eleven octal digits. */
const MAX_OCTAL_SIZE = 0o77777777777;

/** Zeros behind the data of an entry. */
export const tarPaddingBytes = (size: number): number => (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;

/** What precedes the data of an entry: its header, after a pax header for a long path, one beyond ASCII, or a large size. */
export function tarHeader({ path, size, modifiedAt }: TarEntry): Buffer {
  const seconds = Math.max(0, Math.floor(modifiedAt.getTime() / 1000));
  const isPlainPath = /^[\x20-\x7e]*$/.test(path) && path.length <= PATH_BYTES;
  const records = [
    ...(isPlainPath ? [] : [paxRecord('path', path)]),
    ...(size > MAX_OCTAL_SIZE ? [paxRecord('size', String(size))] : []),
  ];
  // For readers that ignore the pax header: cut where ASCII ends.
  const shortPath = isPlainPath ? path : path.replace(/[^\x20-\x7e]/g, '_').slice(-PATH_BYTES);
  const header = ustarHeader({ path: shortPath, size, seconds, type: '0' });
  if (records.length === 0) return header;
  const pax = Buffer.concat(records);
  const paxHeader = ustarHeader({ path: shortPath, size: pax.length, seconds, type: 'x' });
  return Buffer.concat([paxHeader, pax, Buffer.alloc(tarPaddingBytes(pax.length)), header]);
}

/** `LENGTH KEY=VALUE\n`; the length in decimal includes itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  const digits = String(rest.length + String(rest.length).length).length;
  return Buffer.concat([Buffer.from(String(rest.length + digits)), rest]);
}

interface UstarFields {
  readonly path: string;
  readonly size: number;
  /** Since the epoch. */
  readonly seconds: number;
  /** `0`: a file, `x`: pax records of the next header. */
  readonly type: '0' | 'x';
}

/** The block of POSIX.1-1988 (ustar): fields at fixed offsets, numbers in octal. */
function ustarHeader({ path, size, seconds, type }: UstarFields): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const writeOctal = (value: number, at: number, digits: number) =>
    block.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  block.write(path, 0, PATH_BYTES, 'latin1');
  writeOctal(0o644, 100, 7);
  writeOctal(0, 108, 7);
  writeOctal(0, 116, 7);
  if (size <= MAX_OCTAL_SIZE) writeOctal(size, 124, 11);
  // GNU's binary number, for readers that ignore the pax record.
  else {
    block.writeUInt8(0x80, 124);
    block.writeBigUInt64BE(BigInt(size), 128);
  }
  writeOctal(seconds, 136, 11);
  block.write('        ', 148, 'latin1');
  block.write(type, 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  // The sum of all bytes, with the field itself as spaces.
  writeOctal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  block.writeUInt8(0, 154);
  return block;
}
