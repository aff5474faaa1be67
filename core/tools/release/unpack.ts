import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';

/** Unix file modes: symbolic link, and the mask of the file type. */
const S_IFLNK = 0o120000;
const S_IFMT = 0o170000;

/**
 * Unpacks a zip archive into a folder. yauzl rejects names outside of it; links are rejected here.
 * @param maxBytes of all files, unpacked
 * @throws Error on a link, an invalid name, or more bytes
 */
export async function unpack(archive: string, folder: string, maxBytes: number): Promise<void> {
  const zip = await openPromise(archive, { lazyEntries: true });
  let bytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      if (((entry.externalFileAttributes >>> 16) & S_IFMT) === S_IFLNK) throw new Error(`${entry.fileName} is a link`);
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
