import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBufferShareBytes } from '../../../packages/guarded-fetch/src/socket.ts';
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
