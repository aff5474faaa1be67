import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

const MIB = 2 ** 20;
/** cgroup v2, then v1. Node reports these limits on most systems; for the others they are read here. */
const CGROUP_LIMIT_FILES = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];

/**
 * Memory available to this process in bytes: the limit of its container where there is one.
 * @param limitFiles by cgroup version
 */
export function availableMemoryBytes(limitFiles: readonly string[] = CGROUP_LIMIT_FILES): number {
  const limits = [process.constrainedMemory(), ...limitFiles.map(readLimit)];
  return Math.min(totalmem(), ...limits.filter((limit): limit is number => Boolean(limit)));
}

/** A limit in bytes; undefined when the file is missing or says `max`. */
function readLimit(file: string): number | undefined {
  try {
    const bytes = Number(readFileSync(file, 'utf8'));
    return bytes > 0 ? bytes : undefined;
  } catch {
    return undefined; // another version of cgroups, or none
  }
}

/** How the memory of a machine is divided. Each part has a maximum, so that a large machine only serves more clients. */
interface MemoryShares {
  /** Forks of yt-dlp at once, and the address space of one: together half of the memory, 1 GiB at least. */
  readonly forks: number;
  readonly forkBytes: number;
  /** FFmpeg processes at once: each takes some 50 MiB. */
  readonly ffmpegs: number;
  /** Data segment of one FFmpeg, with the stacks of its threads. */
  readonly ffmpegBytes: number;
  /** Bytes buffered ahead of clients by all streams together. */
  readonly readAheadBytes: number;
  /** Bytes of the segments that streams use at a time. */
  readonly segmentBytes: number;
}

/** Two at least: one of them is never granted to a client that holds all others. */
const FORKS = { min: 2, max: 5 };
/** yt-dlp takes 300 MiB of address space before its first request. */
const FORK_BYTES = { min: 512 * MIB, max: 1024 * MIB };
const FFMPEGS_PER_CORE = 4;
const FFMPEG_BYTES = { min: 256 * MIB, max: 1024 * MIB };
const TYPICAL_FFMPEG_BYTES = 64 * MIB;
/** Decoder, filter, encoder and muxer each start a thread per core. Stacks count in full. */
const STACK_BYTES_PER_CORE = 4 * 8 * MIB;
/** At least the largest place. */
const SEGMENT_BYTES = { min: 32 * MIB, max: 256 * MIB };
const READ_AHEAD_BYTES = { min: 16 * MIB, max: 64 * MIB };

const clamp = (value: number, { min, max }: { readonly min: number; readonly max: number }) =>
  Math.floor(Math.min(Math.max(value, min), max));

/** The parts of a memory of `bytes` on a machine of `cores`. */
export function memoryShares(bytes = availableMemoryBytes(), cores = availableParallelism()): MemoryShares {
  const forks = clamp(bytes / 2 / FORK_BYTES.min, FORKS);
  return {
    forks,
    forkBytes: clamp(bytes / 2 / forks, FORK_BYTES),
    ffmpegs: clamp(bytes / 4 / TYPICAL_FFMPEG_BYTES, { min: 1, max: cores * FFMPEGS_PER_CORE }),
    ffmpegBytes: clamp(bytes / 8, FFMPEG_BYTES) + cores * STACK_BYTES_PER_CORE,
    readAheadBytes: clamp(bytes / 16, READ_AHEAD_BYTES),
    segmentBytes: clamp(bytes / 16, SEGMENT_BYTES),
  };
}
