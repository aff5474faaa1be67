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
/** By `v` and `a`, with `a1` and so on for more than one sound, in the order of the file. */
type Packets = Readonly<Record<string, readonly Packet[]>>;

/** Of files that stay as they are. */
const known = new Map<string, Promise<Packets>>();

/** The packets of the sides of a file, or of what is written into one, and when they are shown or heard. */
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
  const entries = ['-show_entries', 'packet=codec_type,stream_index,pts_time,data_hash', '-show_data_hash', 'md5'];
  const { stdout } = await run('ffprobe', ['-v', 'error', ...entries, '-of', 'json', file], { maxBuffer: 2 ** 28 });
  const { packets } = JSON.parse(stdout) as {
    packets: readonly { codec_type: string; stream_index: number; pts_time: string; data_hash: string }[];
  };
  const streams = Map.groupBy(packets, ({ stream_index }) => stream_index);
  const inOrder = [...streams].sort(([a], [b]) => a - b).map(([, ofStream]) => ofStream);
  const sides = ['v', 'a'].flatMap((type) =>
    inOrder
      .filter(([packet]) => packet?.codec_type.startsWith(type))
      .map((ofStream, index) => {
        const read = ofStream.map(({ pts_time, data_hash }) => ({ seconds: Number(pts_time), digest: data_hash }));
        return [sideOf(type, index), read] as const;
      }),
  );
  return Object.fromEntries(sides);
}

const sideOf = (type: string, index: number) => `${type}${index || ''}`;

export interface ExpectOptions {
  /** How far packets may be from their time there. @default 1 */
  readonly withinMs?: number;
  /** @default those that the file with the video has */
  readonly sides?: readonly string[];
  /** Times of each side are counted from its own first packet. @default from that of the first side */
  readonly isApart?: boolean;
  /** Packets before it may have any time. @default none */
  readonly timedFrom?: number;
  /** FFmpeg writes parameter sets of HEVC into the packets, too. @default false */
  readonly isHevc?: boolean;
}

/**
 * Expects the packets of other files, and their times, counted from the first one of both sides: the sides stay as far apart.
 * @param files the one with the video, and those with the audio. @default one with both
 */
export async function expectPackets(
  body: string | Buffer,
  [video, ...sounds]: readonly [video: string, ...sounds: string[]],
  { withinMs = 1, sides, timedFrom = 0, isApart = false, isHevc = false }: ExpectOptions = {},
): Promise<void> {
  const [sent, ofVideo, ...ofSounds] = await Promise.all(
    [body, video, ...(sounds.length > 0 ? sounds : [video])].map(packetsIn),
  );
  const expected: Packets = {
    v: ofVideo?.v ?? [],
    ...Object.fromEntries(ofSounds.map(({ a = [] }, index) => [sideOf('a', index), a])),
  };
  const compared = sides ?? Object.keys(expected).filter((side) => expected[side]?.length);
  for (const side of compared) {
    const first = isApart ? side : (compared[0] ?? side);
    const origins = [sent, expected].map((packets) => packets?.[first]?.[timedFrom]?.seconds ?? 0);
    const [got, wanted] = [sent?.[side] ?? [], expected[side] ?? []];
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
