import { execFile, spawn } from 'node:child_process';
import { open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import nodeFlags from '../../stream-service/node-flags.json' with { type: 'json' };
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Container, WITHOUT_TIMEOUT } from './container.ts';
import type { Image } from './image.ts';
import { oneMachineImage } from './one-machine-image.ts';
import { containersUnavailable } from './programs.ts';
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

const QEMU = 'qemu-aarch64-static';
/** Arguments of QEMU that run a program of an image with its libraries. Programs that it starts are not emulated. */
const emulated = ({ root }: Image, program: string) => ['-L', root, join(root, program)];

// An ARM machine builds these images in the other tests.
let streamImageForArm: Promise<Image> | undefined;
const buildStreamImage = () => {
  streamImageForArm ??= streamImage('arm64');
  return streamImageForArm;
};
const isSkipped = containersUnavailable || OWN_ARCHITECTURE === 'arm64';

describe.skipIf(isSkipped).each([
  ['stream service', buildStreamImage, 120e6],
  ['one machine', () => oneMachineImage('arm64'), 160e6],
])('the image for ARM: %s', (_, build, maxPackedBytes) => {
  let image: Image;
  beforeAll(async () => {
    image = await build();
  }, 600_000);

  const emulate = (program: string, ...args: string[]) =>
    run(QEMU, [...emulated(image, program), ...args], { env: {} });

  it(`is packed at most ${maxPackedBytes / 1e6} MB`, () => expect(image.packedBytes).toBeLessThan(maxPackedBytes));

  it('contains programs and libraries for ARM alone', async () => {
    const processors = await processorsIn(image.root);
    expect([...processors.keys()]).toEqual(expect.arrayContaining(['usr/local/bin/node', 'usr/local/bin/ffmpeg']));
    expect([...processors].filter(([, processor]) => processor !== EM_AARCH64)).toEqual([]);
  });

  it('runs its programs with the libraries that it contains', async () => {
    expect((await emulate('usr/local/bin/node', '--version')).stdout.trim()).toBe(process.version);
    expect((await emulate('usr/local/bin/ffmpeg', '-version')).stdout).toMatch(/^ffmpeg version n?\d/);
    expect((await emulate('usr/bin/setpriv', '--version')).stdout).toContain('util-linux');
    expect((await emulate('usr/bin/perl', '--version')).stdout).toContain('This is perl 5');
  });
});

it.skipIf(isSkipped)('serves, checks its health and drains on ARM', { timeout: 600_000 }, async () => {
  const image = await buildStreamImage();
  const dir = await temporaryFolder();
  const folders = { DATA_DIR: dir, TOOLS_DIR: join(dir, 'tools'), TMPDIR: dir, HOME: dir };
  const node = emulated(image, 'usr/local/bin/node');
  const start = (script: string, env: Readonly<Record<string, string>>, flags: readonly string[] = []) =>
    new Container(
      spawn(QEMU, [...node, ...nodeFlags, ...flags, join(image.root, 'app', script)], {
        env: { ...folders, TABLE_NAME: 'none', HOST: '127.0.0.1', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  // A bucket that refuses connections: the service serves without tools.
  const aws = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const service = start('main.mjs', {
    ...aws,
    PORT: '0',
    FFMPEG_PATH: '/none',
    TOOLS_BUCKET: 'none',
    AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9',
  });
  try {
    const { port } = await service.said(/^Task listening/);
    const health = start('health.mjs', { PORT: String(port) }, WITHOUT_TIMEOUT);
    expect(await health.ended).toBe(0);
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  } finally {
    await service.end();
  }
});
