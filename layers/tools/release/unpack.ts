import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';

const LINK = 0o120000;
const KIND = 0o170000;

/**
 * Unpacks a zip archive into a folder. Names that lead out of it are refused by the reader, links here.
 * @param maxBytes unpacked, all files together
 */
export async function unpack(archive: string, folder: string, maxBytes: number): Promise<void> {
  const zip = await openPromise(archive, { lazyEntries: true });
  let bytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      if (((entry.externalFileAttributes >>> 16) & KIND) === LINK) throw new Error(`${entry.fileName} is a link`);
      bytes += entry.uncompressedSize;
      if (bytes > maxBytes) throw new Error(`it unpacks to more than ${maxBytes} bytes`);
      const path = join(folder, entry.fileName);
      if (entry.fileName.endsWith('/')) {
        await mkdir(path, { recursive: true });
      } else {
        await mkdir(dirname(path), { recursive: true });
        await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path));
      }
    }
  } finally {
    zip.close();
  }
}
