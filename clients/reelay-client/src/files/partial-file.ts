import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ReelayError } from '../failure.ts';
import type { Entity, Sink } from './receive.ts';

/**
 * A file that is being received: `FILE.part`, and `FILE.part.json` with the entity that its bytes belong to. Both stay when the
 * process ends in any way, and the next one continues them.
 */
interface PartialFile extends Sink {
  /** Gives the file its name. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the unfinished form of a file. Every method throws `ReelayError` `not-writable`. */
export async function openPartialFile(path: string): Promise<PartialFile> {
  const part = `${path}.part`;
  const description = `${path}.part.json`;
  const act = <T>(work: Promise<T>): Promise<T> => requireWritable(path, work);

  const handle = await act(open(part, 'a'));
  let entity = await readEntity(description);
  let receivedBytes = (await act(handle.stat())).size;

  return {
    get entity() {
      return entity;
    },
    get receivedBytes() {
      return receivedBytes;
    },
    async startOver(next) {
      // In this order, so that a description never stands beside bytes of another entity.
      if (receivedBytes > 0) await act(handle.truncate(0));
      receivedBytes = 0;
      entity = next;
      const { etag, totalBytes, canResume } = next;
      await act(writeFile(description, JSON.stringify({ etag, totalBytes, canResume })));
    },
    async append(bytes) {
      if ((await act(handle.stat())).size !== receivedBytes) {
        // It is unknown which bytes are there now: the next download starts over.
        await act(rm(description, { force: true }));
        throw new ReelayError('not-writable', { message: `Another process writes to ${path}` });
      }
      await act(handle.appendFile(bytes));
      receivedBytes += bytes.length;
    },
    async finish() {
      await act(handle.datasync());
      await act(handle.close());
      await act(rename(part, path));
      await act(rm(description, { force: true }));
    },
    async close() {
      await handle.close().catch(() => undefined);
      // Nothing was received, so no files are left.
      if (receivedBytes === 0 && (await sizeOf(part)) === 0)
        await Promise.all([rm(part, { force: true }), rm(description, { force: true })]);
    },
  };
}

/** Bytes; undefined without such a file. */
export const sizeOf = async (path: string): Promise<number | undefined> =>
  (await stat(path).catch(() => undefined))?.size;

async function readEntity(description: string): Promise<Entity | undefined> {
  try {
    const { etag, totalBytes, canResume } = Object(JSON.parse(await readFile(description, 'utf8')));
    return canResume === true && typeof etag === 'string' && typeof totalBytes === 'number'
      ? { etag, totalBytes, canResume }
      : undefined;
  } catch {
    // Missing, or cut off while it was written: the download starts over.
    return undefined;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left',
  EFBIG: 'it is larger than a file may be here',
  EPIPE: 'the reader has ended',
  EEXIST: 'it is not a folder',
  ENOTDIR: 'it is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission is missing',
  EPERM: 'permission is missing',
  EROFS: 'the disk can only be read',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'it was removed meanwhile',
};

/** Names errors of the file system by what a user can do. @param path what is written @throws ReelayError `not-writable` */
export const requireWritable = <T>(path: string, work: Promise<T>): Promise<T> =>
  work.catch(async (cause: NodeJS.ErrnoException) => {
    if (cause instanceof ReelayError) throw cause;
    const folder = dirname(path);
    const isMissing = cause.code === 'ENOENT' && (await sizeOf(folder)) === undefined;
    // Of `EIO: i/o error, write` the middle.
    const reason = REASONS[cause.code ?? ''] ?? /^E\w+: ([^,]+)/.exec(cause.message)?.[1] ?? cause.message;
    const message = isMissing ? `The folder ${folder} does not exist` : `${path} cannot be written: ${reason}`;
    throw new ReelayError('not-writable', { message }, { cause });
  });
