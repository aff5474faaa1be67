import { CLOCK_HZ, PACKET_BYTES, payloadStart, pidOf, readPesStart, SYNC_BYTE } from '../mpegts/index.ts';
import { describeShortfall, type FrameCheck } from './frame-scanner.ts';

/** Timestamps start again after this many ticks. */
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
  for (let at = 0; at < Math.max(head.length, 1); at += PACKET_BYTES) if (head[at] !== SYNC_BYTE) return undefined;
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
    mayBegin: (byte) => byte === SYNC_BYTE,
    read(packet) {
      if (packet.readUInt8(3) & 0xc0) isUnscrambled = false;
      const payload = payloadStart(packet);
      const start = payload && readPesStart(payload);
      if (!start) return PACKET_BYTES;
      hasMedia = true;
      if (start.ticks !== undefined) addTimestamp(pidOf(packet), start.ticks);
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
