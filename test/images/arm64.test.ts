import { execFile } from 'node:child_process';
import { open, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Image } from './image.ts';
import { oneMachineImage } from './one-machine-image.ts';
import { containersUnavailable, requirePrograms } from './programs.ts';
import { OWN_ARCHITECTURE, streamImage } from './stream-image.ts';

const run = promisify(execFile);

/** Of the header of an ELF file: its processor (elf(5), `e_machine`). */
const E_MACHINE = 18;
const EM_AARCH64 = 183;

/** Processors of the programs and libraries of an image, by path. */
async function processorsIn(root: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const header = Buffer.alloc(20);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = await open(path);
    const { bytesRead } = await file.read(header, 0, header.length, 0);
    await file.close();
    if (bytesRead === header.length && header.toString('latin1', 0, 4) === '\x7fELF')
      found.set(relative(root, path), header.readUInt16LE(E_MACHINE));
  }
  return found;
}

// An ARM machine builds these images in the other tests.
describe.skipIf(containersUnavailable || OWN_ARCHITECTURE === 'arm64').each([
  ['stream service', () => streamImage('arm64'), 120e6],
  ['one machine', () => oneMachineImage('arm64'), 160e6],
])('the image for ARM: %s', (_, build, maxPackedBytes) => {
  let image: Image;
  beforeAll(async () => {
    requirePrograms('qemu-aarch64-static');
    image = await build();
  }, 600_000);

  /** Runs a program of the image, with its libraries. */
  const emulate = (program: string, ...args: string[]) =>
    run('qemu-aarch64-static', ['-L', image.root, join(image.root, program), ...args], { env: {} });

  it(`is packed at most ${maxPackedBytes / 1e6} MB`, () => expect(image.packedBytes).toBeLessThan(maxPackedBytes));

  it('contains programs and libraries for ARM alone', async () => {
    const processors = await processorsIn(image.root);
    expect([...processors.keys()]).toEqual(expect.arrayContaining(['usr/local/bin/node', 'usr/local/bin/ffmpeg']));
    expect([...processors].filter(([, processor]) => processor !== EM_AARCH64)).toEqual([]);
  });

  it('runs its programs with the libraries that it contains', async () => {
    expect((await emulate('usr/local/bin/node', '--version')).stdout.trim()).toBe(process.version);
    expect((await emulate('usr/local/bin/ffmpeg', '-version')).stdout).toMatch(/^ffmpeg version \d/);
    for (const program of ['prlimit', 'setpriv'])
      expect((await emulate(`usr/bin/${program}`, '--version')).stdout).toContain('util-linux');
  });

  it('runs its health check', async () => {
    let status = 200;
    const server = createServer((_request, response) => response.writeHead(status).end());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const check = () => {
      const args = ['-L', image.root, '-E', `PORT=${(server.address() as AddressInfo).port}`];
      const node = [join(image.root, 'usr/local/bin/node'), join(image.root, 'app/health.mjs')];
      return run('qemu-aarch64-static', [...args, ...node], { env: {} }).then(
        () => 0,
        ({ code }) => code,
      );
    };
    try {
      expect(await check()).toBe(0);
      status = 503;
      expect(await check()).toBe(1);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
