import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBufferShareBytes } from '../../../core/egress/guard/index.ts';
import nodeEnvironment from '../../../stream-service/node-environment.json' with { type: 'json' };
import nodeFlags from '../../../stream-service/node-flags.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** The instructions of a Dockerfile, continued lines joined. */
const instructionsOf = (dockerfile: string) =>
  dockerfile
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { name, rest };
    });
const text = read('stream-service/Dockerfile');
const instructions = instructionsOf(text);
const all = (wanted: string) => instructions.filter(({ name }) => name === wanted).map(({ rest }) => rest);
const only = (wanted: string) => {
  const [first, ...others] = all(wanted);
  if (first === undefined || others.length > 0) throw new Error(`Not exactly one ${wanted}`);
  return first;
};
const last = all('FROM').length > 0 ? text.slice(text.lastIndexOf('\nFROM')) : '';

describe('container image', () => {
  it('has several stages, the last one empty', () => {
    expect(all('FROM').length).toBeGreaterThan(1);
    expect(all('FROM').at(-1)).toBe('scratch');
  });

  it('runs as user 1000, who owns the only writable folder', () => {
    expect(only('USER')).toBe('1000:1000');
    expect(JSON.parse(only('VOLUME'))).toEqual(['/scratch']);
    expect(all('COPY')).toContain('--chown=1000:1000 scratch/ /scratch/');
    for (const name of ['DATA_DIR', 'TOOLS_DIR', 'TMPDIR', 'HOME'])
      expect(all('ENV').join(' ')).toMatch(`${name}=/scratch`);
  });

  it('starts and checks its health without a shell, and stops on SIGTERM', () => {
    expect(JSON.parse(only('CMD'))).toEqual(['node', ...nodeFlags, '/app/main.mjs']);
    expect(JSON.parse(only('HEALTHCHECK').replace(/^.* CMD /, ''))).toEqual(['node', '/app/health.mjs']);
    expect(only('STOPSIGNAL')).toBe('SIGTERM');
    expect(all('ENTRYPOINT')).toEqual([]);
  });

  it('copies only the build context and files of the build stage', () => {
    expect(all('ADD')).toEqual([]);
    const copied = all('COPY').map((rest) => rest.split(' '));
    const fromContext = copied
      .filter(([first]) => !first?.startsWith('--from='))
      .flatMap((words) => words.slice(0, -1).filter((word) => !word.startsWith('--')));
    expect(fromContext.sort()).toEqual([
      ...['ffmpeg', 'health.mjs', 'main.mjs', 'parsing-worker.mjs', 'plugins/', 'scratch/', 'strip-elf.ts'],
    ]);
    expect(copied.filter(([first]) => first?.startsWith('--from='))).toEqual([
      ['--from=node', '/usr/local/bin/node', '/node'],
      ['--from=debian', '/', '/debian'],
      ['--from=system', '/system/', '/'],
      ['--from=stripped', '/node', '/usr/local/bin/node'],
    ]);
    expect(last).not.toMatch(/\b(npm|yarn|curl|wget)\b/);
  });
});

describe.each(['Dockerfile', 'stream-service/Dockerfile'])('%s', (path) => {
  const own = instructionsOf(read(path));

  it("runs commands on the builder's processor only, without emulation", () => {
    let stage = '';
    for (const { name, rest } of own) {
      if (name === 'FROM') stage = rest;
      if (name === 'RUN') expect(stage).toMatch(/^--platform=\$BUILDPLATFORM /);
    }
    expect(own.some(({ name }) => name === 'RUN')).toBe(true);
  });

  it('starts Node with the flags and the environment of the service', () => {
    const { rest = '' } = own.findLast(({ name }) => name === 'CMD') ?? {};
    expect(JSON.parse(rest)).toEqual(['node', ...nodeFlags, '/app/main.mjs']);
    const environment = own.filter(({ name }) => name === 'ENV').flatMap(({ rest }) => rest.split(' '));
    for (const [name, value] of Object.entries(nodeEnvironment)) expect(environment).toContain(`${name}=${value}`);
  });
});

it('lets the allocator use the memory of the largest chunk again, which a mapping of its own would give back each time', () => {
  const { MALLOC_MMAP_THRESHOLD_: mapped, MALLOC_TRIM_THRESHOLD_: trimmed } = nodeEnvironment;
  expect(Number(mapped)).toBeGreaterThan(readBufferShareBytes());
  expect(Number(trimmed)).toBeGreaterThan(Number(mapped));
});
