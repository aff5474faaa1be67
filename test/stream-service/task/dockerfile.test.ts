import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import nodeFlags from '../../../stream-service/node-flags.json' with { type: 'json' };

const text = readFileSync(join(import.meta.dirname, '../../../stream-service/Dockerfile'), 'utf8');
/** Its instructions, continued lines joined. */
const instructions = text
  .replaceAll(/^\s*#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    return { name, rest };
  });
const all = (wanted: string) => instructions.filter(({ name }) => name === wanted).map(({ rest }) => rest);
const only = (wanted: string) => {
  const [first, ...others] = all(wanted);
  if (first === undefined || others.length > 0) throw new Error(`Not exactly one ${wanted}`);
  return first;
};
const last = all('FROM').length > 0 ? text.slice(text.lastIndexOf('\nFROM')) : '';

describe('container image', () => {
  it('has several stages, the last one based on Debian', () => {
    expect(all('FROM').length).toBeGreaterThan(1);
    expect(all('FROM').at(-1)).toMatch(/^debian:/);
  });

  it('runs as user 1000, who owns the only writable folder', () => {
    expect(only('USER')).toBe('1000:1000');
    expect(JSON.parse(only('VOLUME'))).toEqual(['/scratch']);
    expect(all('RUN').some((run) => /"--owner=1000", "--group=1000", .*"\/scratch"/.test(run))).toBe(true);
    for (const name of ['DATA_DIR', 'TOOLS_DIR', 'TMPDIR', 'HOME']) expect(only('ENV')).toMatch(`${name}=/scratch`);
  });

  it('starts and checks its health without a shell, and stops on SIGTERM', () => {
    expect(JSON.parse(only('CMD'))).toEqual(['node', ...nodeFlags, '/app/main.mjs']);
    expect(JSON.parse(only('HEALTHCHECK').replace(/^.* CMD /, ''))).toEqual(['node', '/app/health.mjs']);
    expect(only('STOPSIGNAL')).toBe('SIGTERM');
    expect(all('ENTRYPOINT')).toEqual([]);
  });

  it('installs FFmpeg from Debian without Python, recommended packages or package lists', () => {
    const install = all('RUN').find((run) => run.includes('apt-get install')) ?? '';
    expect(install).toMatch(/--no-install-recommends (\S+ )*ffmpeg /);
    expect(install).not.toMatch(/python|pip/);
    expect(install).toMatch(/&& rm -rf \/var\/lib\/apt\/lists\/\*$/);
  });

  it('copies only the bundle and files of the build stage', () => {
    expect(all('ADD')).toEqual([]);
    const copied = all('COPY').map((rest) => rest.split(' '));
    const fromContext = copied
      .filter(([first]) => !first?.startsWith('--from='))
      .flatMap((words) => words.slice(0, -1));
    expect(fromContext.sort()).toEqual(['health.mjs', 'main.mjs', 'plugins/']);
    expect(copied.filter(([first]) => first?.startsWith('--from='))).toEqual([
      ['--from=node', '/usr/local/bin/node', '/usr/local/bin/node'],
    ]);
    expect(last).not.toMatch(/\b(npm|yarn|curl|wget)\b/);
  });
});
