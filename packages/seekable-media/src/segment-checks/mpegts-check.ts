import {
  CLOCK_HZ,
  continuityCounter,
  hasPayload,
  isScrambled,
  isStart,
  PACKET_BYTES,
  packetHeader,
  pidOf,
  readPesStart,
  SYNC_BYTE,
  startedPayload,
  ticksBetween,
} from '../mpegts/packets.ts';
import { describeShortfall } from './frame-scanner.ts';

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
  /** All bytes so far were packets. Demuxers skip other bytes up to the next packet. */
  let isInStep = true;
  /** The last continuity counter of each stream. */
  const counters = new Map<number, number>();
  /** Packets before which others are missing, except those where a PES packet starts. */
  let gaps = 0;
  /** A packet of which the rest is in the next chunk. */
  let partialPacket: Buffer = Buffer.alloc(0);

  const addTimestamp = (pid: number, timestamp: number) => {
    const clock = clocks.get(pid) ?? { origin: timestamp, least: 0, most: 0, count: 0 };
    clocks.set(pid, clock);
    const place = ticksBetween(clock.origin, timestamp);
    clock.least = Math.min(clock.least, place);
    clock.most = Math.max(clock.most, place);
    clock.count += 1;
  };

  const readPesPacket = (bytes: Buffer, at: number, pid: number): void => {
    const payload = startedPayload(bytes, at);
    const start = payload && readPesStart(payload);
    if (!start) return;
    hasMedia = true;
    if (start.ticks !== undefined) addTimestamp(pid, start.ticks);
  };

  /** A counter may be repeated once, and restart where a PES packet starts: media may have been joined there. */
  const countPacket = (header: number): void => {
    const pid = pidOf(header);
    if (!hasPayload(header) || pid === NULL_PID) return;
    const before = counters.get(pid);
    const counter = continuityCounter(header);
    counters.set(pid, counter);
    const isNext = before === undefined || counter === before || counter === ((before + 1) & 15);
    if (!isNext && !isStart(header)) gaps += 1;
  };

  /** Reads the packets that are there as a whole. Returns the offset after them. In few packets a PES packet starts: only their header is read. */
  const readPackets = (bytes: Buffer, from: number): number => {
    let at = from;
    while (at + PACKET_BYTES <= bytes.length) {
      if (bytes[at] !== SYNC_BYTE) {
        isInStep = false;
        const next = bytes.indexOf(SYNC_BYTE, at);
        at = next < 0 ? bytes.length : next;
        continue;
      }
      const header = packetHeader(bytes, at);
      countPacket(header);
      if (isInStep && isScrambled(header)) isUnscrambled = false;
      if (isStart(header)) readPesPacket(bytes, at, pidOf(header));
      at += PACKET_BYTES;
    }
    return at;
  };

  return {
    update(chunk: Buffer): void {
      let from = 0;
      while (partialPacket.length > 0 && from < chunk.length) {
        const taken = chunk.subarray(from, from + PACKET_BYTES - partialPacket.length);
        from += taken.length;
        const packet = Buffer.concat([partialPacket, taken]);
        partialPacket = packet.subarray(readPackets(packet, 0));
      }
      if (from < chunk.length) partialPacket = Buffer.from(chunk.subarray(readPackets(chunk, from)));
    },
    problem(): string | undefined {
      if (isInStep && !isPart && partialPacket[0] === SYNC_BYTE) return 'ends within a frame';
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
