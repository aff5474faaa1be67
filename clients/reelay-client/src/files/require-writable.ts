import { ReelayError } from '../failure.ts';

/** Names errors of the file system by what a user can do. @param path what is written @throws ReelayError `not-writable` */
export const requireWritable = <T>(path: string, work: Promise<T>): Promise<T> =>
  work.catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof ReelayError) throw cause;
    const reason = REASONS[cause.code ?? ''] ?? cause.code ?? cause.message;
    throw new ReelayError('not-writable', { message: `${path} cannot be written: ${reason}` }, { cause });
  });

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left',
  EPIPE: 'the reader has ended',
  EEXIST: 'it is not a folder',
  ENOTDIR: 'it is not a folder',
};
