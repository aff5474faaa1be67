import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { MEDIA_CACHE } from '../origin/media.ts';
import { withTemporaryFolder } from './media-tools.ts';

const run = promisify(execFile);

interface Packet {
  readonly seconds: number;
  readonly digest: string;
}
/** By `v` and `a`, in the order of the file. */
type Packets = Readonly<Record<string, readonly Packet[]>>;

/** Of files that stay as they are. */
const known = new Map<string, Promise<Packets>>();

/** The packets of both sides of a file, or of what is written into one, and when they are shown or heard. */
export function packetsIn(file: string | Buffer): Promise<Packets> {
  if (typeof file !== 'string')
    return withTemporaryFolder(async (folder) => {
      const written = join(folder, 'body');
      await writeFile(written, file);
      return readPackets(written);
    });
  const packets = known.get(file) ?? readPackets(file);
  if (file.startsWith(MEDIA_CACHE)) known.set(file, packets);
  return packets;
}

async function readPackets(file: string): Promise<Packets> {
  const entries = ['-show_entries', 'packet=codec_type,pts_time,data_hash', '-show_data_hash', 'md5', '-of', 'json'];
  const { stdout } = await run('ffprobe', ['-v', 'error', ...entries, file], { maxBuffer: 2 ** 28 });
  const { packets }: { packets: { codec_type: string; pts_time: string; data_hash: string }[] } = JSON.parse(stdout);
  const read = packets.map((packet) => [packet.codec_type.charAt(0), packet] as const);
  return Object.fromEntries(
    ['v', 'a'].map((side) => [
      side,
      read
        .filter(([of]) => of === side)
        .map(([, { pts_time, data_hash }]) => ({ seconds: Number(pts_time), digest: data_hash })),
    ]),
  );
}

export interface ExpectOptions {
  /** How far packets may be from their time there. @default 1 */
  readonly withinMs?: number;
  /** @default those that the file with the video has */
  readonly sides?: readonly ('v' | 'a')[];
  /** Times of each side are counted from its own first packet. @default from that of the first side */
  readonly isApart?: boolean;
  /** Packets before it may have any time. @default none */
  readonly timedFrom?: number;
  /** FFmpeg writes parameter sets of HEVC into the packets, too. @default false */
  readonly isHevc?: boolean;
}

/**
 * Expects the packets of other files, and their times, counted from the first one of both sides: the sides stay as far apart.
 * @param files the one with the video, and that with the audio. @default one with both
 */
export async function expectPackets(
  body: string | Buffer,
  [video, audio = video]: readonly [video: string, audio?: string],
  { withinMs = 1, sides, timedFrom = 0, isApart = false, isHevc = false }: ExpectOptions = {},
): Promise<void> {
  const [sent, ofVideo, ofAudio] = await Promise.all([packetsIn(body), packetsIn(video), packetsIn(audio)]);
  const expected: Packets = { v: ofVideo.v ?? [], a: ofAudio.a ?? [] };
  const compared = sides ?? (['v', 'a'] as const).filter((side) => expected[side]?.length);
  for (const side of compared) {
    const first = isApart ? side : (compared[0] ?? side);
    const origins = [sent, expected].map((packets) => packets[first]?.[timedFrom]?.seconds ?? 0);
    const [got, wanted] = [sent[side] ?? [], expected[side] ?? []];
    const shown = (packet: Packet | undefined, origin = 0) =>
      packet ? `${(packet.seconds - origin).toFixed(3)} s ${packet.digest}` : 'none';
    const differing = wanted.findIndex(({ seconds, digest }, index) => {
      const other = got[index];
      if (!other || (digest !== other.digest && !(isHevc && side === 'v'))) return true;
      const apart = other.seconds - (origins[0] ?? 0) - (seconds - (origins[1] ?? 0));
      return index >= timedFrom && Math.abs(apart) * 1000 > withinMs + 1e-3;
    });
    const index = differing < 0 && got.length > wanted.length ? wanted.length : differing;
    const at = `${side} packet ${index + 1} of ${wanted.length}: `;
    if (index >= 0) expect(at + shown(got[index], origins[0])).toBe(at + shown(wanted[index], origins[1]));
  }
}
