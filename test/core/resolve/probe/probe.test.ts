import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { ContainerRequest } from '../../../../core/resolve/probe/container-reader.ts';
import type { GuardedReader } from '../../../../core/resolve/probe/guarded-reader.ts';
import { closeProbe, probe } from '../../../../core/resolve/probe/probe.ts';
import { createProbeProcess } from '../../../../core/resolve/probe/probe-process.ts';
import { ensureMedia } from '../../../origin/media.ts';
import { descendants, descendantsOf, isRunning } from '../../../support/processes.ts';

/** An ADTS frame with a length of 0: a parser that skips to the next frame loops forever. */
const ENDLESS = Buffer.concat([Buffer.from('fff15040000000', 'hex'), Buffer.alloc(57)]);

const encode = (...options: string[]) =>
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=1', ...options, 'pipe:1']);
/** As `encode`, for a muxer that has to seek. */
const encodeFile = (...options: string[]) => {
  const file = join(mkdtempSync(join(tmpdir(), 'reelay-probe-')), 'file');
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=1', ...options, file]);
  const bytes = readFileSync(file);
  rmSync(dirname(file), { recursive: true });
  return bytes;
};
const WAV = encode('-f', 'wav');
const FRAGMENTED = encode('-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4');

const u32 = (...numbers: number[]) =>
  Buffer.concat(numbers.map((number) => Buffer.from(number.toString(16).padStart(8, '0'), 'hex')));
const box = (type: string, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type), body]);
};
/** An MP4 of 900 bytes whose one fragment declares 4,294,967,295 samples (ISO/IEC 14496-12 §8.8). */
const crowded = () => {
  const movie = FRAGMENTED.subarray(0, FRAGMENTED.indexOf('moof') - 4);
  const header = box('tfhd', u32(0x020038, 1, 1, 1, 0));
  const fragment = box('traf', header, box('tfdt', u32(0, 0)), box('trun', u32(0, 0xffffffff)));
  return Buffer.concat([movie, box('moof', box('mfhd', u32(0, 1)), fragment), box('mdat', Buffer.alloc(64))]);
};

/** A WebM whose duration is only in its header (RFC 9559 §5.1.2.10). */
const lasting = async (seconds: number) => {
  const webm = await readFile(join(await ensureMedia(), 'tone.webm'));
  webm.writeDoubleBE(seconds * 1000, webm.indexOf('448988', 'hex') + 3);
  for (let at = webm.indexOf('DURATION'); at >= 0; at = webm.indexOf('DURATION')) webm.write('DURATIOX', at);
  return webm;
};

const readerOf = (bytes: Buffer): GuardedReader => ({
  ...{ status: 200, size: bytes.length, blocks: [{ start: 0, bytes }] },
  load: () => Promise.reject(new Error('Out of reach')),
});
const probeBytes = (bytes: Buffer, signal = new AbortController().signal) =>
  probe(readerOf(bytes), { client: 'client', signal });

const processes = async () => (await descendants('node')).filter((command) => command.includes('probe-worker'));

describe('probe', () => {
  afterAll(closeProbe);

  it.each([
    ['causes an endless loop', ENDLESS, undefined],
    ['exhausts the memory', crowded(), { container: 'mp4', video: {}, audio: {} }],
  ])(
    'falls back to the magic bytes of a file that %s, without blocking this process, and reads the next file',
    async (_, bytes, expected) => {
      let beats = 0;
      const heart = setInterval(() => beats++, 10);
      const [facts, next] = await Promise.all([probeBytes(bytes), probeBytes(WAV)]);
      clearInterval(heart);
      expect(facts).toEqual(expected);
      expect(beats).toBeGreaterThan(10);
      expect(next).toMatchObject({ container: 'wav', durationSeconds: 1 });
    },
  );

  it.each([1e20, Number.POSITIVE_INFINITY, 2e7, 5e6])('ignores a duration of %d seconds', async (seconds) => {
    const { container, durationSeconds } = (await probeBytes(await lasting(seconds))) ?? {};
    expect(container).toBe('webm');
    expect(durationSeconds).toBeCloseTo(6, 1);
  });

  describe('of an MP4 whose tables and headers disagree', () => {
    const M4A = encodeFile('-c:a', 'aac', '-movflags', '+faststart', '-f', 'mp4');
    /** Overwrites 32-bit fields of a box, by their offset from its type. */
    const forge = (type: string, ...fields: [offset: number, value: number][]) => {
      const bytes = Buffer.from(M4A);
      for (const [offset, value] of fields) bytes.writeUInt32BE(value, bytes.indexOf(type) + offset);
      return bytes;
    };
    const timescale = M4A.readUInt32BE(M4A.indexOf('mdhd') + 16);
    const long = [20, timescale * 50] as [number, number];

    it('uses the tables where the header declares more', async () => {
      expect((await probeBytes(M4A))?.durationSeconds).toBeCloseTo(1, 1);
      expect((await probeBytes(forge('mdhd', long)))?.durationSeconds).toBeCloseTo(1, 0);
    });

    it.each([
      // After version and flags: the number of rows, then count and duration of each.
      ['samples last for hours', () => forge('stts', [12, 1000], [16, timescale * 3600])],
      // After version and flags: the size of all samples, then their number.
      ['samples are larger than the file', () => forge('stsz', [8, 1_000_000])],
    ])('knows no duration where %s', async (_, bytes) => {
      const facts = await probeBytes(bytes());
      expect(facts).toMatchObject({ container: 'm4a' });
      expect(facts?.durationSeconds).toBeUndefined();
    });
  });

  it('does not read a file for an aborted signal', async () => {
    expect(await probeBytes(WAV, AbortSignal.abort())).toBeUndefined();
  });

  it('does not write file contents to the terminal', async () => {
    const output = vi.spyOn(console, 'warn');
    const strange = Buffer.from(FRAGMENTED);
    strange.write('\x1b[2J', strange.indexOf('mp4a'), 'latin1');
    await probeBytes(strange);
    expect(output).not.toHaveBeenCalled();
  });
});

describe('createProbeProcess', () => {
  const request: ContainerRequest = {
    ...{ size: WAV.length, blocks: [{ start: 0, bytes: WAV }] },
    ...{ wantsDuration: true, isLast: true },
  };

  it('keeps its process for the next file, and ends it when idle', async () => {
    const reader = createProbeProcess({ idleTimeoutMs: 1000 });
    for (let i = 0; i < 3; i++) {
      expect(await reader.read(request)).toMatchObject({ contents: { container: 'wav' } });
      expect(await processes()).toHaveLength(1);
    }
    await expect.poll(processes, { timeout: 20_000 }).toEqual([]);
  });

  it('ends its process on close, and starts another for the next request', async () => {
    const reader = createProbeProcess();
    await reader.read(request);
    await reader.close();
    expect(await processes()).toEqual([]);
    expect(await reader.read(request)).toHaveProperty('contents');
    await reader.close();
  });

  it.runIf(existsSync('/usr/bin/setpriv'))(
    'leaves no process when its parent is killed, in an endless loop either',
    async () => {
      const url = new URL('../../../../core/resolve/probe/probe-process.ts', import.meta.url).href;
      const program = `
      const { createProbeProcess } = await import(${JSON.stringify(url)});
      const bytes = Buffer.from(${JSON.stringify(ENDLESS.toString('hex'))}, 'hex');
      const request = { size: bytes.length, blocks: [{ start: 0, bytes }], wantsDuration: true, isLast: true };
      setInterval(() => undefined, 1000);
      await createProbeProcess({ timeoutMs: 1e6 }).read(request);`;
      const parent = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
      const probes = async () =>
        (await descendantsOf(parent.pid ?? 0)).filter(({ command }) => command.includes('probe-worker'));
      await expect.poll(probes, { timeout: 30_000 }).toHaveLength(1);
      const [probe] = await probes();
      parent.kill('SIGKILL');
      await expect.poll(() => isRunning(probe?.pid ?? 0), { timeout: 10_000 }).toBe(false);
    },
  );

  it('returns the missing range, unless no more bytes are available', async () => {
    const reader = createProbeProcess();
    const head = { ...request, blocks: [{ start: 0, bytes: FRAGMENTED.subarray(0, 100) }], size: FRAGMENTED.length };
    const { missing, contents } = await reader.read({ ...head, isLast: false });
    expect(missing?.[0]).toBeLessThanOrEqual(100);
    expect(missing?.[1]).toBeGreaterThan(100);
    expect(contents).toBeUndefined();
    expect(await reader.read(head)).toEqual({});
    await reader.close();
  });
});
