import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { box, parseBoxes } from '../src/isobmff/index.ts';
import { movie } from './seeds.ts';

const FOLDER = join(import.meta.dirname, '..');

it('the example of the README makes one file of two', async () => {
  const example = join(FOLDER, 'example.ts');
  expect(readFileSync(join(FOLDER, 'README.md'), 'utf8')).toContain(`\`\`\`ts\n${readFileSync(example, 'utf8')}\`\`\``);
  const folder = await mkdtemp(join(tmpdir(), 'seekable-media-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const paths = await Promise.all(
    (['vide', 'soun'] as const).map(async (kind) => {
      const path = join(folder, kind);
      await writeFile(path, Buffer.concat([movie(kind), box('mdat', Buffer.alloc(4_000, kind[0]))]));
      return path;
    }),
  );
  const { stdout } = await promisify(execFile)(process.execPath, [example, ...paths], { encoding: 'buffer' });
  const [fileType, header, media] = [...parseBoxes(stdout)];
  expect([fileType?.type, header?.type, media?.type, media?.end]).toEqual(['ftyp', 'moov', 'mdat', stdout.length]);
  expect(stdout.toString('latin1', media?.content)).toBe(`${'v'.repeat(10)}${'s'.repeat(10)}`.repeat(4));
});
