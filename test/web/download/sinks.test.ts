import { describe, expect, it } from 'vitest';
import { fileSink, freeName } from '../../../web/src/download/sinks.ts';

/** A fake file handle: content appears once it is closed. */
function createHandle(size = 0) {
  const calls: string[] = [];
  const note = (name: string) => async () => void calls.push(name);
  const handle = {
    createWritable: async () => ({
      write: note('write'),
      truncate: async (to: number) => void calls.push(`truncate ${to}`),
      seek: async (to: number) => void calls.push(`seek ${to}`),
      close: note('close'),
      abort: note('abort'),
    }),
    getFile: async () => ({ size }),
    remove: note('remove'),
  };
  return { calls, handle: handle as unknown as FileSystemFileHandle };
}

/** A fake directory handle with these names. */
function createFolder(files: readonly string[], folders: readonly string[] = []) {
  return {
    async getFileHandle(name: string) {
      if (folders.includes(name)) throw new DOMException('A folder', 'TypeMismatchError');
      if (!files.includes(name)) throw new DOMException('Nothing', 'NotFoundError');
      return {};
    },
  } as unknown as FileSystemDirectoryHandle;
}

describe('fileSink', () => {
  it('writes, restarts from byte 0 and closes', async () => {
    const { calls, handle } = createHandle();
    const sink = await fileSink(handle);
    await sink.write(new Uint8Array(1));
    await sink.restart();
    await sink.close();
    expect(calls).toEqual(['write', 'truncate 0', 'seek 0', 'close']);
  });

  it.each([
    ['that was made for the download goes with it', 0, ['abort', 'remove']],
    ['that was there before stays as it was', 5, ['abort']],
  ])('%s', async (_, size, calls) => {
    const file = createHandle(size);
    await (await fileSink(file.handle)).abort();
    expect(file.calls).toEqual(calls);
  });
});

describe('freeName', () => {
  it.each([
    ['free', [], [], 'a.mp4'],
    ['taken', ['a.mp4'], [], 'a (2).mp4'],
    ['taken twice, once by a folder', ['a.mp4'], ['a (2).mp4'], 'a (3).mp4'],
  ])('that is %s', async (_, files, folders, name) => {
    expect(await freeName(createFolder(files, folders), 'a.mp4')).toBe(name);
  });

  it('handles names with no or two extensions', async () => {
    expect(await freeName(createFolder(['a']), 'a')).toBe('a (2)');
    expect(await freeName(createFolder(['a.b.mp4']), 'a.b.mp4')).toBe('a.b (2).mp4');
  });

  it('throws when the folder cannot be read', async () => {
    const folder = {
      getFileHandle: async () => Promise.reject(new DOMException('No', 'NotAllowedError')),
    } as unknown as FileSystemDirectoryHandle;
    await expect(freeName(folder, 'a.mp4')).rejects.toThrow('No');
  });
});
