import { createWriteStream } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { compareVersions, ToolRefused, type YtDlp } from '../tools.ts';
import { readYtDlpVersion } from './query-yt-dlp.ts';

const MAX_UNPACKED_BYTES = 2 ** 30;

/**
 * The release file for a machine: Linux by C library, macOS for both processors. It is the directory build, because the
 * single file unpacks itself at every start.
 * @returns undefined when releases have none
 */
export function assetFor(
  platform = process.platform,
  arch: string = process.arch,
  isMusl = hasMusl(),
): string | undefined {
  if (platform === 'darwin') return 'yt-dlp_macos.zip';
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) return undefined;
  return `yt-dlp_${isMusl ? 'musllinux' : 'linux'}${arch === 'arm64' ? '_aarch64' : ''}.zip`;
}

function hasMusl(): boolean {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return process.platform === 'linux' && header?.glibcVersionRuntime === undefined;
}

/** Unpacks a verified release archive for any machine, deletes it, and makes its program executable. @returns its name */
export async function unpackRelease(archive: string, asset: string, folder: string): Promise<string> {
  await unpack(archive, folder, MAX_UNPACKED_BYTES);
  await rm(archive);
  const program = asset.replace(/\.zip$/, '');
  await chmod(join(folder, program), 0o755); // release archives carry no permissions
  return program;
}

interface UnpackYtDlpOptions {
  /** A verified release archive. It is deleted once unpacked. */
  readonly archive: string;
  /** The name of the archive in the release, which is that of the program in it plus `.zip`. */
  readonly asset: string;
  /** The version that the program must report. */
  readonly tag: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Unpacks a release archive. Its program must report the version of the tag: signatures do not cover the tag, so that an
 * old release could be served as a new one.
 * @returns how to run it, given the path that the folder will have later
 * @throws Error in one line
 */
export async function unpackYtDlp(options: UnpackYtDlpOptions): Promise<(place: string) => YtDlp> {
  const { archive, asset, tag, folder, signal } = options;
  const program = await unpackRelease(archive, asset, folder);
  const version = await readYtDlpVersion({ command: [join(folder, program)] }, { home: folder, signal });
  if (compareVersions(version, tag) !== 0)
    throw new ToolRefused(`the release ${tag} reports version ${version.slice(0, 40)}`);
  return (place) => ({ version, command: [join(place, program)], source: 'release' });
}

/** Unix file modes: symbolic link, and the mask of the file type. */
const S_IFLNK = 0o120000;
const S_IFMT = 0o170000;

/**
 * Unpacks a zip archive into a folder. yauzl rejects names outside of it; links are rejected here.
 * @param maxBytes of all files, unpacked
 * @throws Error on a link, an invalid name, or more bytes
 */
async function unpack(archive: string, folder: string, maxBytes: number): Promise<void> {
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
