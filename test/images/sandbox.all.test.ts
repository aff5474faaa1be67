import { cp, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PLUGIN_DIR } from '@reelay/tools-layer';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startOrigin } from '../origin/server.ts';
import { bundleProgram } from '../support/bundle-program.ts';
import { frozenYtDlp } from '../support/frozen-yt-dlp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startContainer } from './container.ts';
import { containersUnavailable } from './programs.ts';
import { streamImage } from './stream-image.ts';

const PROGRAM = new URL('./sandbox-program.ts', import.meta.url).pathname;
const LINK_PROCESS = new URL('./link-process-program.ts', import.meta.url).pathname;

describe.skipIf(containersUnavailable)('the sandbox of FFmpeg in a container', () => {
  it('has FFmpeg encode, and keeps a program in its place from files, processes and other sockets', async () => {
    const image = await streamImage();
    const container = await startContainer(image, {
      command: ['node', '/app/plugins/sandbox-program.mjs'],
      volumes: { '/app/plugins': dirname(await bundleProgram(PROGRAM)), '/scratch': await temporaryFolder() },
    });
    expect([await container.ended, container.stderr]).toEqual([0, '']);
    const [{ sandbox, ffmpegBytes, outcomes, state } = {}] = container.lines;
    // The kernel is that of this machine.
    expect(sandbox).toEqual({ landlock: expect.any(Number), seccomp: true, hasFiles: true });
    expect([ffmpegBytes, state]).toEqual([44_100 * 2, 'secret']);
    expect(outcomes).toEqual({
      'read the state file': 'EACCES',
      'truncate a file': 'EACCES',
      'start a process': 'EPERM',
      'signal the service': 'EPERM',
      'send a datagram': 'EPERM',
      'connect by TCP': 'EACCES',
    });
  }, 600_000);
});

describe.skipIf(containersUnavailable)('a process per link in the container of the stream task', () => {
  it('resolves a link without a shell', async () => {
    const origin = await startOrigin();
    onTestFinished(() => origin.close());
    const [image, program, ytDlp] = [await streamImage(), await bundleProgram(LINK_PROCESS), await frozenYtDlp()];
    const dir = dirname(program);
    await cp(PLUGIN_DIR, join(dir, 'plugins'), { recursive: true });
    await mkdir(join(dir, 'yt-dlp'));
    const container = await startContainer(image, {
      command: ['node', `/app/plugins/${basename(program)}`, origin.url('/files/clip.mp4'), '/app/plugins/yt-dlp'],
      volumes: { '/app/plugins': dir, '/scratch': await temporaryFolder() },
      mounts: { '/app/plugins/yt-dlp': ytDlp.dir },
    });
    expect([await container.ended, container.stderr]).toEqual([0, '']);
    expect(container.lines).toEqual([expect.objectContaining({ ok: true })]);
  }, 600_000);
});
