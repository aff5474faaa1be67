import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import type { Source } from '@reelay/source';
import type { Resolver } from '../../../core/resolve/index.ts';
import type { ArchivedList, PlaylistEntry, Resource } from '../../../core/state/resource.ts';
import type { ArchiveProgress } from '../../../core/state/state.ts';
import type { OpenSource } from '../../../stream-service/source/open-source.ts';
import { needs } from '../../support/clients.ts';
import { runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { archivedList, resourceOf, startService, trackOf } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { sha256 } from '../source/upstream.ts';

const run = promisify(execFile);
const KEY = archivedList([]).id;
export const BYTES_PER_ENTRY = 200_000;

/** Bytes that differ between entries, and not in their length. */
export const bytesOf = (index: number, size = BYTES_PER_ENTRY) =>
  Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 31 + index * 7 + (at >> 8)) & 255));

/** An entry of the list of a test. */
export interface EntryFixture {
  readonly title?: string;
  /** @default a file of `bytesOf` */
  readonly source?: Source | OpenSource;
  /** @default exact */
  readonly isUnsized?: boolean;
  readonly isUnstored?: boolean;
  readonly resource?: Partial<Resource>;
  readonly entry?: Partial<PlaylistEntry>;
}

export interface ArchiveOptions {
  readonly resolve?: Resolver['resolve'];
  readonly list?: Partial<ArchivedList>;
  readonly maxStreamsPerClient?: number;
  /** The attachments of the table, by resource id and name. */
  readonly attachments?: Map<string, Buffer>;
  /** Further sources, by the format id of their track. */
  readonly sources?: Readonly<Record<string, Source | OpenSource>>;
  /** The progress of archives in the table, which several services share. */
  readonly progress?: Map<string, ArchiveProgress>;
}

/** Starts a service with one list. It is closed after the test. */
export async function startArchive(
  entries: readonly EntryFixture[],
  { resolve, list, maxStreamsPerClient = 10, progress, attachments, sources: more }: ArchiveOptions = {},
) {
  const resources = entries.map(({ title, isUnsized, resource }, index) => {
    const size = isUnsized ? { sizeIsExact: false } : { sizeIsExact: true, sizeBytes: BYTES_PER_ENTRY };
    const track = trackOf(`file-${index}`, size);
    return resourceOf([track], { id: `r${index}`.padEnd(22, '_'), title: title ?? `Title ${index}`, ...resource });
  });
  const sources: Record<string, Source | OpenSource> = {
    ...Object.fromEntries(
      entries.map(({ source }, index) => [`file-${index}`, source ?? fileSource(bytesOf(index))] as const),
    ),
    ...more,
  };
  const entriesOf = entries.map(({ title, isUnstored, entry }, index) => ({
    url: `https://site.example/${index}`,
    title: title ?? `Title ${index}`,
    ...(!isUnstored && { resourceId: resources[index]?.id }),
    ...entry,
  }));
  const stored = archivedList(entriesOf, list);
  const touched: string[] = [];
  const first = resources[0] ?? resourceOf([]);
  const service = await startService(first, sources, {
    resolve,
    progress,
    attachments,
    limits: { maxStreams: 20, maxStreamsPerClient, maxFfmpeg: 4 },
    isPeeked: true,
    state: {
      getResource: async (id) => resources.find((one, index) => one.id === id && !entries[index]?.isUnstored),
      getArchivedList: async (key) => (key === KEY ? stored : undefined),
      touchArchivedList: async ({ id }) => void touched.push(id),
    },
  });
  const url = (query = '') => `${service.url}/api/Stream/Archive/${KEY}${query}`;
  const get = (query?: string, headers: Readonly<Record<string, string>> = {}) => sendRequest(url(query), { headers });
  /** What is extracted of the archive. */
  const take = async (query?: string) => extract((await get(query)).body);
  return { ...service, url, get, take, baseUrl: service.url, resources, touched };
}

/** Names and SHA-256 of the files that Python's zipfile reads, after a check of every checksum. */
export async function extract(body: Buffer) {
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, 'archive.zip');
    await writeFile(file, body);
    const code = `
import hashlib, json, sys, zipfile
found = []
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    for info in archive.infolist(): found.append([info.filename, archive.read(info)])
print(json.dumps([[name, hashlib.sha256(data).hexdigest(), data.decode() if name.endswith('.txt') else None] for name, data in found]))`;
    const { stdout } = await run('python3', ['-c', code, file], { maxBuffer: 2 ** 26 });
    const rows = JSON.parse(stdout) as [string, string, string | null][];
    return { names: rows.map(([name]) => name), hashes: rows.map(([, hash]) => hash), index: rows.at(-1)?.[2] ?? '' };
  });
}

/** Names and SHA-256 of the files that a reader makes of an archive while it arrives on its standard input. */
export async function extractFromPipe(body: Buffer, reader: 'bsdtar' | 'java') {
  needs(reader);
  return withTemporaryFolder(async (folder) => {
    const archive = join(folder, 'archive.zip');
    const program = join(folder, 'Extract.java');
    const target = join(folder, 'files');
    await Promise.all([writeFile(archive, body), writeFile(program, EXTRACT_JAVA), mkdir(target)]);
    const command = reader === 'java' ? `java '${program}' '${target}'` : `bsdtar -xf - -C '${target}'`;
    const { code, output } = await runProgram('sh', ['-c', `cat '${archive}' | ${command}`]);
    if (code !== 0) throw new Error(`${reader} exits with ${code}: ${output}`);
    const found = await readdir(target, { recursive: true, withFileTypes: true });
    const files = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
    const names = files.map((file) => relative(target, file)).sort();
    const read = names.map((name) => readFile(join(target, name)));
    return { names, hashes: (await Promise.all(read)).map(sha256) };
  });
}

/** Extracts the ZIP archive on standard input into a folder, in the order of its local headers. */
const EXTRACT_JAVA = `
import java.nio.file.*;
import java.util.zip.*;

class Extract {
  public static void main(String[] arguments) throws Exception {
    ZipInputStream archive = new ZipInputStream(System.in);
    for (ZipEntry entry = archive.getNextEntry(); entry != null; entry = archive.getNextEntry()) {
      Path file = Path.of(arguments[0], entry.getName());
      Files.createDirectories(file.getParent());
      Files.copy(archive, file);
    }
  }
}`;

/** A file that reads like the end of a stored entry and one more entry, for readers that search for the end. */
export function smugglingFile(size: number): Buffer {
  const start = bytesOf(1, 1000);
  const descriptor = Buffer.alloc(16);
  descriptor.write('PK\x07\x08', 'latin1');
  for (const [index, value] of [crc32(start), start.length, start.length].entries())
    descriptor.writeUInt32LE(value, 4 + index * 4);
  const [path, content] = [Buffer.from('A list/04 - smuggled.sh'), Buffer.from('exit 1\n')];
  const header = Buffer.alloc(30);
  header.write('PK\x03\x04', 'latin1');
  header.writeUInt16LE(20, 4);
  for (const [index, value] of [crc32(content), content.length, content.length, path.length].entries())
    header.writeUInt32LE(value, 14 + index * 4);
  const records = Buffer.concat([start, descriptor, header, path, content]);
  return Buffer.concat([records, bytesOf(1, size - records.length)]);
}

/** Paths of the first three entries. */
export const THREE = [
  'A list/01 - Someone - Title 0.mp4',
  'A list/02 - Someone - Title 1.mp4',
  'A list/03 - Someone - Title 2.mp4',
];
