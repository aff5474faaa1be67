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

/** Archives by their entries: Python takes longer to start than to write one. */
const archives = new Map<string, Promise<Buffer>>();

/** Creates an archive with exactly these names and modes, valid or not. */
export async function zip(dir: string, entries: readonly ZipEntry[]): Promise<Buffer> {
  const list = JSON.stringify(entries.map(([name, content, mode = 0o100644]) => [name, content, mode]));
  const archive = archives.get(list) ?? write(join(dir, `${Math.random()}.zip`), list);
  archives.set(list, archive);
  return Buffer.from(await archive);
}

async function write(path: string, list: string): Promise<Buffer> {
  await promisify(execFile)('python3', ['-c', WRITE, path, list]);
  return readFile(path);
}
