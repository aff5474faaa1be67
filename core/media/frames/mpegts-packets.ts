import { describeShortfall, type FrameCheck } from './frame-scanner.ts';

const PACKET_BYTES = 188;
const SYNC = 0x47;
/** Timestamps are 33 bits at 90 kHz (ISO/IEC 13818-1 §2.4.3.7). */
const CLOCK_HZ = 90_000;
const PERIOD = 2 ** 33;

/** Timestamps of one elementary stream, relative to its first one. */
interface Clock {
  readonly origin: number;
  least: number;
  most: number;
  count: number;
}

/** Checks MPEG-TS (ISO/IEC 13818-1 §2.4.3): packets of 188 bytes. Undefined when `head` is not MPEG-TS. */
export function createMpegTsCheck(head: Buffer, seconds: number): FrameCheck | undefined {
  for (let at = 0; at < Math.max(head.length, 1); at += PACKET_BYTES) if (head[at] !== SYNC) return undefined;
  const clocks = new Map<number, Clock>();
  let isUnscrambled = true;
  let hasMedia = false;

  const addTimestamp = (pid: number, timestamp: number) => {
    const clock = clocks.get(pid) ?? { origin: timestamp, least: 0, most: 0, count: 0 };
    clocks.set(pid, clock);
    const ahead = (timestamp - clock.origin + PERIOD) % PERIOD;
    const place = ahead > PERIOD / 2 ? ahead - PERIOD : ahead;
    clock.least = Math.min(clock.least, place);
    clock.most = Math.max(clock.most, place);
    clock.count += 1;
  };

  return {
    headerBytes: PACKET_BYTES,
    mayBegin: (byte) => byte === SYNC,
    read(packet) {
      const control = packet.readUInt8(3);
      if (control & 0xc0) isUnscrambled = false;
      const isStart = (packet.readUInt8(1) & 0x40) !== 0 && (control & 0x10) !== 0;
      const payload = 4 + (control & 0x20 ? 1 + packet.readUInt8(4) : 0);
      if (!isStart || payload + 14 > PACKET_BYTES || packet.readUIntBE(payload, 3) !== 1) return PACKET_BYTES;
      hasMedia = true;
      if (isTimed(packet.readUInt8(payload + 3)) && packet.readUInt8(payload + 7) & 0x80)
        addTimestamp(packet.readUInt16BE(1) & 0x1fff, readTimestamp(packet, payload + 9));
      return PACKET_BYTES;
    },
    problem() {
      if (!isUnscrambled) return undefined;
      if (!hasMedia) return 'no media';
      const timed = [...clocks.values()].filter(({ count }) => count > 1);
      return timed.length > 0 ? describeShortfall(Math.max(...timed.map(durationSeconds)), seconds) : undefined;
    },
  };
}

/** Seconds from the first to the last timestamp, plus the average frame duration for the last frame. */
const durationSeconds = ({ least, most, count }: Clock): number => ((most - least) / CLOCK_HZ) * (count / (count - 1));

/** Stream ids of audio and video: MPEG, private stream 1 (AC-3), and extended ids. */
const isTimed = (streamId: number): boolean =>
  (streamId >= 0xc0 && streamId <= 0xef) || streamId === 0xbd || streamId === 0xfd;

/** 33 bits in five bytes, with marker bits (§2.4.3.6). */
const readTimestamp = (bytes: Buffer, at: number): number =>
  ((bytes.readUInt8(at) >> 1) & 0x07) * 2 ** 30 +
  (bytes.readUInt16BE(at + 1) >> 1) * 2 ** 15 +
  (bytes.readUInt16BE(at + 3) >> 1);
