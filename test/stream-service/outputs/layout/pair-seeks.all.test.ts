import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createFaultHandler } from '../../../origin/faults.ts';
import { itWith } from '../../../support/clients.ts';
import { newestFfmpeg } from '../../../support/installed-tools.ts';
import { audioTrack, combinedKey, resourceOf, startService, videoTrack } from '../../fixture.ts';
import { type Handler, startUpstream } from '../../source/upstream.ts';
import { usePairMedia } from './pair-fixture.ts';

const run = promisify(execFile);
const media = await usePairMedia();
const upstream = await startUpstream();
const handlers = new Map<string, Handler>();
upstream.use((request, response) => {
  const path = (request.url ?? '').slice(1);
  const handler = handlers.get(path) ?? createFaultHandler({ bytes: readFileSync(media.pathOf(path)) });
  handlers.set(path, handler);
  handler(request, response);
});

/** Fragments of one second and five, of five and ten, of open groups of pictures, a file with sample tables beside one of fragments, and clusters of WebM. */
const PAIRS = [
  ['indexed.mp4', 'indexed.m4a'],
  ['coarse.mp4', 'coarse.m4a'],
  ['coarse.mp4', 'long-audio.m4a'],
  ['long-video.mp4', 'coarse.m4a'],
  ['indexed.mp4', 'cd.m4a'],
  ['open.mp4', 'coarse.m4a'],
  ['long-video.webm', 'long-audio.webm'],
  ['long-video.webm', 'coarse.m4a'],
] as const;
/** Seconds: forward, to the end, and back. */
const TARGETS = [13.3, 47.9, 100.2, 284.1, 20.5, 5.5];
const READ_SECONDS = 12;

async function start(video: string, audio: string): Promise<string> {
  const at = (file: string) => ({ url: `${upstream.origin}/${file}`, container: extname(file).slice(1) });
  const tracks = [videoTrack({ ...at(video), video: {} }), audioTrack({ ...at(audio), audio: {} })];
  const { openSource, ...openers } = upstream.openers();
  const sources = { video: openSource, audio: openSource };
  const service = await startService(resourceOf(tracks, { durationSeconds: 300 }), sources, openers);
  return `${service.url}/api/Stream/Media/${combinedKey()}`;
}

interface Packet {
  /** Since the first one of the video. */
  readonly seconds: number;
  readonly checksum: string | undefined;
}

/**
 * Checksum of the packets of each stream that FFmpeg reads after a seek, with their times in seconds from the first one of the video: a
 * file without edit lists begins so much later as the longest of its sources hides.
 */
async function packetsFrom(program: string, input: string, seconds: number): Promise<readonly (readonly Packet[])[]> {
  const read = ['-nostdin', '-v', 'error', '-ss', String(seconds), '-i', input];
  const output = ['-map', '0', '-t', String(READ_SECONDS + 0.25), '-c', 'copy', '-f', 'framecrc', '-'];
  const { stdout } = await run(program, [...read, ...output], { maxBuffer: 1 << 26 });
  const units = [...stdout.matchAll(/#tb \d+: (\d+)\/(\d+)/g)].map(([, num, den]) => Number(num) / Number(den));
  const streams = units.map((unit, stream) =>
    stdout
      .split('\n')
      .map((line) => line.split(',').map((field) => field.trim()))
      .filter(([index]) => index === String(stream))
      .map(([, , time, , , checksum]) => ({ time: Number(time) * unit, checksum })),
  );
  const start = streams[0]?.[0]?.time ?? Number.NaN;
  // Those at both ends of what was asked for may be some more or less.
  return streams.map((packets) =>
    packets
      .filter(({ time }) => time - start > -0.01 && time - start < READ_SECONDS - 0.25)
      .map(({ time, checksum }) => ({ seconds: time - start, checksum })),
  );
}

/** Peaks of the tenths of a second of a WAV file with 16 bits a sample, of 0 to 1. */
function peaks(wav: Buffer): readonly number[] {
  const rate = wav.readUInt32LE(24) * wav.readUInt16LE(22);
  const samples = wav.subarray(wav.indexOf('data') + 8);
  const bytes = Math.floor(rate / 10) * 2;
  return Array.from({ length: Math.floor(samples.length / bytes) }, (_, part) => {
    let peak = 0;
    for (let at = part * bytes; at < (part + 1) * bytes; at += 2)
      peak = Math.max(peak, Math.abs(samples.readInt16LE(at)));
    return peak / 32_768;
  });
}

describe.each(PAIRS)('a pair of %s and %s', (video, audio) => {
  it.each([
    ['the FFmpeg of this machine', async () => 'ffmpeg'],
    ['the newest FFmpeg', newestFfmpeg],
  ])('has the packets of one progressive file after every seek of %s', async (_name, program) => {
    const url = await start(video, audio);
    const progressive = join(media.folder, 'progressive.mp4');
    const inputs = ['-i', media.pathOf(video), '-isync', '0', '-i', media.pathOf(audio), '-map', '0:v', '-map', '1:a'];
    await run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...inputs, '-c', 'copy', progressive]);
    for (const target of TARGETS) {
      const wanted = await packetsFrom(await program(), progressive, target);
      expect(wanted.map(({ length }) => length > 100)).toEqual([true, true]);
      // Times of WebM are in milliseconds.
      const isNear = ({ seconds, ...packet }: Packet) => ({ ...packet, seconds: expect.closeTo(seconds, 2) });
      expect(await packetsFrom(await program(), url, target), `from ${target}`).toEqual(
        wanted.map((packets) => packets.map(isNear)),
      );
    }
  });

  itWith('mpv')('is heard at once after every seek of mpv', async () => {
    const url = await start(video, audio);
    for (const target of TARGETS) {
      const file = join(media.folder, 'mpv.wav');
      const sound = ['--ao=pcm', `--ao-pcm-file=${file}`, '--audio-samplerate=48000', '--audio-format=s16'];
      const part = [`--start=${target}`, '--length=1.5'];
      await run('mpv', ['--no-config', '--no-terminal', '--vo=null', ...sound, ...part, url]);
      const heard = peaks(await readFile(file));
      expect(heard.length).toBeGreaterThanOrEqual(10);
      expect(Math.min(...heard.slice(0, 10)), `${target}`).toBeGreaterThan(0.01);
    }
  });

  itWith('vlc')('is heard after every seek of VLC', async () => {
    const url = await start(video, audio);
    const folder = join(media.folder, 'vlc');
    await mkdir(folder, { recursive: true });
    await Promise.all([chmod(media.folder, 0o755), chmod(folder, 0o777)]);
    for (const target of TARGETS) {
      const file = join(folder, `${target}.wav`);
      const sound = `#transcode{vcodec=none,acodec=s16l,samplerate=48000}:std{access=file,mux=wav,dst=${file}}`;
      const part = [`--start-time=${target}`, '--run-time=2', '--no-sout-video'];
      const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      const args = ['-I', 'dummy', '--no-interact', ...part, `--sout=${sound}`, url, 'vlc://quit'];
      await run('vlc', args, { ...user, env: { PATH: process.env.PATH, HOME: folder } });
      const heard = peaks(await readFile(file));
      expect(heard.filter((peak) => peak > 0.01).length, `${target}`).toBeGreaterThanOrEqual(10);
    }
  });
});
