import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { firstBytes } from '@reelay/source';
import { afterEach, describe, expect, it } from 'vitest';
import { createFfmpegInputServer } from '../../../stream-service/ffmpeg/ffmpeg-input-server.ts';
import { FfmpegFailed, runFfmpeg, runningFfmpegs } from '../../../stream-service/ffmpeg/run-ffmpeg.ts';
import { checkSandbox, sandboxCommand } from '../../../stream-service/ffmpeg/sandbox.ts';
import { ensureMedia } from '../../origin/media.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { withTemporaryFolder } from '../../support/media-tools.ts';
import { ffmpegPath } from '../../support/on-path.ts';
import { changePriorities } from '../../support/priorities.ts';
import { descendantsOf, isRunning } from '../../support/processes.ts';
import { sendRequest } from '../../support/request.ts';
import { shellQuote } from '../../support/shell-quote.ts';
import { until } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=duration=${seconds}`, '-f', 's16le'];
const endless = ['-f', 'lavfi', '-i', 'sine', '-f', 's16le'];
afterEach(() => expect(runningFfmpegs()).toBe(0));

const start = (args: readonly string[], options: Partial<Parameters<typeof runFfmpeg>[0]> = {}) =>
  runFfmpeg({ path: ffmpegPath(), args, ...options });

/** An FFmpeg whose first output is there. */
async function startEndless(options: Partial<Parameters<typeof runFfmpeg>[0]> = {}) {
  const before = new Set((await descendantsOf(process.pid)).map(({ pid }) => pid));
  const output = start(endless, options);
  await firstBytes(output);
  const started = (await descendantsOf(process.pid)).filter(({ command }) => command.includes('sine'));
  const { pid } = started.find((each) => !before.has(each.pid)) ?? expect.fail('No FFmpeg runs');
  return { output, pid };
}

async function end(output: Readable | undefined): Promise<void> {
  output?.destroy();
  await until(() => output?.closed !== false);
}

describe('runFfmpeg', () => {
  it.each([
    [9.5, true],
    [10.5, false],
  ])('of ten seconds, at least %d are there: %s', async (minSeconds, isEnough) => {
    const output = buffer(start(tone(10), { minSeconds }));
    const outcome = output.then(
      ({ length }) => length,
      (error: Error) => error.message,
    );
    expect(await outcome).toBe(isEnough ? 10 * 44_100 * 2 : 'FFmpeg wrote 10.0 s of at least 10.5 s');
  });

  it('reports the end of stderr when FFmpeg fails', async () => {
    const said: string[] = [];
    const args = ['-i', '/nowhere/file.mp4', '-f', 'null'];
    const output = start(args, { onFailure: (stderr) => said.push(stderr) });
    await expect(buffer(output)).rejects.toThrow(FfmpegFailed);
    expect(said).toEqual([expect.stringContaining('No such file or directory')]);
  });

  it('refuses a frame larger than any screen, before it is allocated', async () => {
    const said: string[] = [];
    const args = ['-f', 'lavfi', '-i', 'color=s=16384x16384:d=1', '-frames:v', '1', '-f', 'rawvideo'];
    const output = start(args, { onFailure: (stderr) => said.push(stderr) });
    await expect(buffer(output)).rejects.toThrow(FfmpegFailed);
    expect(said).toEqual([expect.stringMatching(/allocate memory|Failed to configure|-12/i)]);
  });

  it('takes little memory for a segment with a huge picture', async () => {
    await withTemporaryFolder(async (folder) => {
      const file = join(folder, 'huge.ts');
      const picture = ['-f', 'lavfi', '-i', 'color=s=8192x8192:d=0.2:r=10', '-pix_fmt', 'yuv420p'];
      const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-threads', '1', '-c:a', 'aac', '-f', 'mpegts', file];
      const sound = ['-f', 'lavfi', '-i', 'sine=d=3'];
      await promisify(execFile)('ffmpeg', ['-v', 'error', ...sound, ...picture, ...coded]);
      const inputServer = await createFfmpegInputServer();
      const input = inputServer.serve(fileSource(await readFile(file)));
      const args = [...input.args, '-benchmark', '-i', input.url, '-map', '0:a:0', '-f', 'mp3'];
      const command = [ffmpegPath(), '-nostdin', '-loglevel', 'info', ...args, 'pipe:1'];
      // A process that replaces a fork of this one would report this one's peak memory as its own: the shell forks it.
      const viaShell = ['-c', '"$0" "$@"; exit $?', ...command];
      const { stderr } = await promisify(execFile)('/bin/sh', viaShell, { encoding: 'buffer' });
      input.close();
      await inputServer.close();
      expect(Number(/maxrss=(\d+)/.exec(stderr.toString())?.[1])).toBeLessThan(150_000);
    });
  }, 60_000);

  it.runIf(existsSync('/usr/bin/perl'))('runs under limits of the operating system', async () => {
    const [command = '', ...before] = sandboxCommand('/bin/sh');
    const script = 'ulimit -d; ulimit -f; ulimit -n; ulimit -c';
    const { stdout } = await promisify(execFile)(command, [...before, '-c', script]);
    const [dataKib, fileBlocks, files, core] = stdout.trim().split('\n').map(Number);
    expect(dataKib).toBeLessThan(8 * 1024 * 1024);
    expect([fileBlocks, files, core]).toEqual([0, 256, 0]);
    expect((await buffer(start(tone(10)))).length).toBe(10 * 44_100 * 2);
  });

  it.runIf(existsSync('/usr/bin/perl'))('gains no privileges from programs that it runs', async () => {
    const { output, pid } = await startEndless();
    expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/^NoNewPrivs:\t1$/m);
    await end(output);
  });

  it('has a lower priority than this process', async () => {
    changePriorities();
    const { output, pid } = await startEndless();
    expect(getPriority(pid)).toBe(Math.min(getPriority() + 10, 19));
    await end(output);
  });

  it('has the lowest priority while another one of its client has the normal one', async () => {
    changePriorities();
    const outputs: Readable[] = [];
    const startOf = async (client: string) => {
      const { output, pid } = await startEndless({ client });
      outputs.push(output);
      return getPriority(pid) - getPriority();
    };
    const further = 19 - getPriority();
    expect([await startOf('a'), await startOf('a'), await startOf('b')]).toEqual([10, further, 10]);
    await end(outputs.shift());
    expect([await startOf('a'), await startOf('a')]).toEqual([10, further]);
    for (const output of outputs) await end(output);
  });

  it('runs a program that starts others in the sandbox in which it starts, and says what it lacks', async () => {
    await withTemporaryFolder(async (folder) => {
      const script = join(folder, 'ffmpeg');
      await writeFile(script, `#!/bin/sh\n${shellQuote(ffmpegPath())} "$@"\nexit $?\n`);
      await chmod(script, 0o700);
      const said: string[] = [];
      await checkSandbox(script, { warn: (message) => said.push(message) });
      // One line for all that is missing.
      expect(said).toEqual([expect.stringMatching(/^FFmpeg (can read files|runs without a sandbox)/)]);
      expect((await buffer(start(tone(1), { path: script }))).length).toBe(44_100 * 2);
    });
  });

  it.runIf(process.platform === 'linux').each(['SIGKILL', 'SIGSTOP'] as const)(
    'fails when something else sends it %s, and leaves no process',
    async (signal) => {
      const { output, pid } = await startEndless();
      process.kill(pid, signal);
      await expect(buffer(output)).rejects.toThrow('FFmpeg exited with SIGKILL');
      expect(isRunning(pid)).toBe(false);
    },
  );

  it('fails when the executable does not exist', async () => {
    await expect(buffer(start([], { path: '/nowhere/ffmpeg' }))).rejects.toThrow('ENOENT');
  });

  describe.each(['clip.mp4', 'clip.webm', 'clip.mkv'])('of %s', (name) => {
    const copy = async (part: number) => {
      const file = await readFile(join(await ensureMedia(), name));
      const inputServer = closeAfterwards(await createFfmpegInputServer());
      const input = inputServer.serve(fileSource(file.subarray(0, file.length * part)));
      const args = [...input.args, '-i', input.url, '-c', 'copy', '-f', 'matroska'];
      return buffer(start(args, { inputs: [input] }));
    };

    it('fails for a truncated input, although FFmpeg exits with 0', async () => {
      await expect(copy(0.6)).rejects.toThrow('An input is shorter than its index declares');
    });

    it('succeeds for the complete input', async () => {
      expect((await copy(1)).length).toBeGreaterThan(10_000);
    });
  });

  it('kills the process when the stream is destroyed, or the signal aborts, and fails with its reason', async () => {
    const { output } = await startEndless();
    await end(output);
    expect(runningFfmpegs()).toBe(0);
    const controller = new AbortController();
    const { output: other } = await startEndless({ signal: controller.signal });
    controller.abort(new Error('An input died'));
    await expect(buffer(other)).rejects.toThrow('An input died');
    const late = start(endless, { signal: AbortSignal.abort(new Error('Too late')) });
    await expect(buffer(late)).rejects.toThrow('Too late');
  });

  it('buffers a bounded amount for a reader that does not read', async () => {
    const output = start(endless);
    await until(() => output.readableLength >= output.readableHighWaterMark);
    expect(output.readableLength).toBeLessThan(2 * output.readableHighWaterMark);
    await end(output);
  });

  it('does not open URLs named by an input', async () => {
    const asked: string[] = [];
    const loopback = await createFfmpegInputServer();
    const secret = {
      ...fileSource(Buffer.alloc(1000)),
      read: () => {
        asked.push('secret');
        return fileSource(Buffer.alloc(1000)).read(0);
      },
    };
    const { url } = loopback.serve(secret);
    const playlists = [
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST\n`,
      `ffconcat version 1.0\nfile ${url}\n`,
    ];
    for (const playlist of playlists) {
      const input = loopback.serve(fileSource(Buffer.from(playlist)));
      expect((await sendRequest(input.url)).status).toBe(200);
      const args = [...input.args, '-i', input.url, '-f', 'null'];
      await expect(buffer(start(args, { inputs: [input] }))).rejects.toThrow(FfmpegFailed);
    }
    expect(asked).toEqual([]);
    await loopback.close();
  });
});
