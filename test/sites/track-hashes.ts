import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

const run = promisify(execFile);
const atOnce = pLimit(2);

/** Digests of the packets of each track of a media file: the same in every container that holds the same track. */
export function trackHashes(file: string): Promise<string[]> {
  const hashes = known.get(file) ?? readHashes(file);
  known.set(file, hashes);
  return hashes;
}

const known = new Map<string, Promise<string[]>>();

const readHashes = (file: string): Promise<string[]> =>
  atOnce(async () => {
    const input = (await isTransportStream(file)) ? await toMp4(file) : file;
    const { stdout } = await copyTracks(input, ['-f', 'streamhash', '-hash', 'md5', '-']);
    return stdout.split('\n').flatMap((line) => /=(\w+)$/.exec(line)?.[1] ?? []);
  });

const copyTracks = (file: string, output: readonly string[]) =>
  run('ffmpeg', ['-nostdin', '-v', 'error', '-i', file, '-map', '0:v?', '-map', '0:a?', '-c', 'copy', ...output]);

/** Packets of a transport stream have headers that those of other containers do not have. */
async function toMp4(file: string): Promise<string> {
  await copyTracks(file, ['-f', 'mp4', `${file}.mp4`]);
  return `${file}.mp4`;
}

const SYNC_BYTE = 0x47;

async function isTransportStream(file: string): Promise<boolean> {
  const opened = await open(file);
  try {
    const { buffer } = await opened.read(Buffer.alloc(1), 0, 1, 0);
    return buffer[0] === SYNC_BYTE;
  } finally {
    await opened.close();
  }
}
