import { CLOCK_HZ, PACKET_BYTES, payloadStart, pidOf, readPesStart, SYNC_BYTE, ticksBetween } from '../mpegts/index.ts';
import { describeShortfall } from './frame-scanner.ts';

const START_FLAG = 0x40;
const SCRAMBLED_FLAGS = 0xc0;
const PAYLOAD_FLAG = 0x10;
/** Of stuffing. */
const NULL_PID = 0x1fff;

/** Timestamps of one elementary stream, relative to its first one. */
interface Clock {
  readonly origin: number;
  least: number;
  most: number;
  count: number;
}

/**
 * Checks MPEG-TS (ISO/IEC 13818-1 §2.4.3) from its first packet on: packets of 188 bytes, none of which is missing by their counters.
 * @param isPart whether it is a byte range of a file, which may end within a packet
 * @param isInit whether it is an initialization section: tables without media (RFC 8216 §3.2)
 */
export function createMpegTsCheck(seconds: number, isPart: boolean, isInit = false) {
  const clocks = new Map<number, Clock>();
  let isUnscrambled = true;
  let hasMedia = isInit;
  /** Demuxers search for the next packet, and so pass what is none. */
  let isInStep = true;
  /** The last counters of packets with a payload, by stream, and packets that are missing in front of others, starts aside. */
  const counters = new Map<number, number>();
  let gaps = 0;
  /** The start of a packet whose rest is in the next chunk. */
  let held: Buffer = Buffer.alloc(0);

  const addTimestamp = (pid: number, timestamp: number) => {
    const clock = clocks.get(pid) ?? { origin: timestamp, least: 0, most: 0, count: 0 };
    clocks.set(pid, clock);
    const place = ticksBetween(clock.origin, timestamp);
    clock.least = Math.min(clock.least, place);
    clock.most = Math.max(clock.most, place);
    clock.count += 1;
  };

  const readPacket = (packet: Buffer): void => {
    if (isInStep && packet.readUInt8(3) & SCRAMBLED_FLAGS) isUnscrambled = false;
    const payload = payloadStart(packet);
    const start = payload && readPesStart(payload);
    if (!start) return;
    hasMedia = true;
    if (start.ticks !== undefined) addTimestamp(pidOf(packet), start.ticks);
  };

  /** A counter may be repeated once, and restart where a PES packet starts: media may have been joined there. */
  const countPacket = (bytes: Buffer, at: number): void => {
    const [high = 0, low = 0, control = 0] = [bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    const pid = ((high & 0x1f) << 8) | low;
    if (!(control & PAYLOAD_FLAG) || pid === NULL_PID) return;
    const before = counters.get(pid);
    counters.set(pid, control & 15);
    const isNext = before === undefined || (control & 15) === before || (control & 15) === ((before + 1) & 15);
    if (!isNext && !(high & START_FLAG)) gaps += 1;
  };

  /** Reads the packets that are there as a whole. Returns the bytes read: few packets begin something, so most are passed over. */
  const readPackets = (bytes: Buffer, from: number): number => {
    let at = from;
    while (at + PACKET_BYTES <= bytes.length) {
      if (bytes[at] !== SYNC_BYTE) {
        isInStep = false;
        const next = bytes.indexOf(SYNC_BYTE, at);
        at = next < 0 ? bytes.length : next;
        continue;
      }
      countPacket(bytes, at);
      if ((bytes[at + 1] ?? 0) & START_FLAG || (bytes[at + 3] ?? 0) & SCRAMBLED_FLAGS)
        readPacket(bytes.subarray(at, at + PACKET_BYTES));
      at += PACKET_BYTES;
    }
    return at;
  };

  return {
    update(chunk: Buffer): void {
      let from = 0;
      while (held.length > 0 && from < chunk.length) {
        const taken = chunk.subarray(from, from + PACKET_BYTES - held.length);
        from += taken.length;
        const packet = Buffer.concat([held, taken]);
        held = packet.subarray(readPackets(packet, 0));
      }
      if (from < chunk.length) held = Buffer.from(chunk.subarray(readPackets(chunk, from)));
    },
    problem(): string | undefined {
      if (isInStep && !isPart && held[0] === SYNC_BYTE) return 'ends within a frame';
      if (!isUnscrambled) return undefined;
      if (!hasMedia) return 'no media';
      if (isInStep && gaps > 0) return `packets are missing in ${gaps} places`;
      const timed = [...clocks.values()].filter(({ count }) => count > 1);
      return timed.length > 0 ? describeShortfall(Math.max(...timed.map(durationSeconds)), seconds) : undefined;
    },
  };
}

/** Seconds from the first to the last timestamp, plus the average frame duration for the last frame. */
const durationSeconds = ({ least, most, count }: Clock): number => ((most - least) / CLOCK_HZ) * (count / (count - 1));
