import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const WRITE = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:
    for name, content, mode in json.loads(sys.argv[2]):
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        archive.writestr(entry, content)`;

export type ZipEntry = readonly [name: string, content: string, mode?: number];

/** Creates an archive with exactly these names and modes, valid or not. */
export async function zip(dir: string, entries: readonly ZipEntry[]): Promise<Buffer> {
  const path = join(dir, `${Math.random()}.zip`);
  const list = JSON.stringify(entries.map(([name, content, mode = 0o100644]) => [name, content, mode]));
  await promisify(execFile)('python3', ['-c', WRITE, path, list]);
  return readFile(path);
}
