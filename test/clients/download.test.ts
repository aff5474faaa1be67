import { appendFileSync } from 'node:fs';
import { readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DownloadOptions, type DownloadProgress, download } from '../../clients/reelay-client/src/files/index.ts';
import { createClient } from '../../clients/reelay-client/src/index.ts';
import { useTarget } from '../contract/target.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type CuttingProxyOptions, startCuttingProxy } from './cutting-proxy.ts';

const target = useTarget();
let bytes: Buffer;
beforeAll(async () => {
  bytes = await readFile(join(target.origin.mediaDir, 'long.mp4'));
});

/** Downloads a link through a proxy. `sleeps`: seconds of each wait, none of which takes place. */
async function through(proxyOptions: CuttingProxyOptions = {}, path = '/files/long.mp4') {
  const proxy = await startCuttingProxy(target.baseUrl, proxyOptions);
  // The connection of the resolve is not one of those that are cut.
  const url = await createClient({ instance: target.baseUrl }).locate(target.origin.url(path));
  const client = createClient({ instance: proxy.baseUrl });
  const folder = await temporaryFolder();
  const seen: DownloadProgress[] = [];
  const run = (options: DownloadOptions = {}) =>
    download(client, url.replace(target.baseUrl, proxy.baseUrl), {
      folder,
      sleep: async () => undefined,
      onProgress: (progress: DownloadProgress) => seen.push(progress),
      ...options,
    });
  const received = async () => (await readFile(join(folder, 'long.mp4.part'))).length;
  return { run, folder, proxy, seen, received };
}

const isSame = async (file: string) => (await readFile(file)).equals(bytes);

describe('a download', () => {
  it('saves the file under the name that the instance gives it', async () => {
    const { run, folder, seen } = await through();
    const { file, ...facts } = await run();
    expect(facts).toEqual({ bytes: bytes.length, resumedBytes: 0 });
    expect(file).toBe(join(folder, 'long.mp4'));
    expect(await isSame(file)).toBe(true);
    expect(await readdir(folder)).toEqual(['long.mp4']);
    expect(seen.at(-1)).toMatchObject({ file, receivedBytes: bytes.length, totalBytes: bytes.length });
    expect(seen.map(({ receivedBytes }) => receivedBytes)).toEqual(
      seen.map(({ receivedBytes }) => receivedBytes).toSorted((a, b) => a - b),
    );
  });

  it.each([
    ['is cut twice', { cutsAfter: [1_234_567, 700_001] }],
    ['stalls', { cutsAfter: [1_000_000], stalls: true }],
  ])('continues at the exact byte when the connection %s', async (_, options) => {
    const { run, proxy } = await through(options);
    const { file } = await run({ stallTimeoutMs: 1_000 });
    expect([proxy.cutsLeft(), await isSame(file)]).toEqual([0, true]);
  });

  it('continues the partial file of an earlier one', async () => {
    const { run, folder, received } = await through({ cutsAfter: [2_000_000] });
    await expect(run({ maxWaitSeconds: 0 })).rejects.toMatchObject({ code: 'interrupted', isTemporary: true });
    expect((await readdir(folder)).toSorted()).toEqual(['long.mp4.part', 'long.mp4.part.json']);
    const bytesBefore = await received();
    expect(bytesBefore).toBeGreaterThan(1_900_000);
    const { file, resumedBytes } = await run();
    expect(resumedBytes).toBe(bytesBefore);
    expect(await isSame(file)).toBe(true);
  });

  it('keeps what it has when it is aborted', async () => {
    const { run, received } = await through();
    const aborted = new AbortController();
    const reason = new Error('Enough');
    await expect(run({ signal: aborted.signal, onProgress: () => aborted.abort(reason) })).rejects.toBe(reason);
    const bytesBefore = await received();
    expect(bytesBefore).toBeGreaterThan(0);
    expect((await run()).resumedBytes).toBe(bytesBefore);
  });

  it.each([
    ['with another tag', { etag: '"of another version"', canResume: true }],
    ['with another size', { totalBytes: 5, canResume: true }],
    ['of which the description is lost', undefined],
  ])('starts over after a part %s', async (_, entity) => {
    const { run, folder } = await through({ cutsAfter: [1_000_000] });
    await run({ maxWaitSeconds: 0 }).catch(() => undefined);
    const part = join(folder, 'long.mp4.part');
    const description = JSON.parse(await readFile(`${part}.json`, 'utf8'));
    await writeFile(`${part}.json`, entity ? JSON.stringify({ ...description, ...entity }) : '{"etag":');
    await writeFile(part, 'other bytes');
    const { file } = await run();
    expect(await isSame(file)).toBe(true);
    expect(await readdir(folder)).toEqual(['long.mp4']);
  });

  it('renames a complete partial file without requesting it', async () => {
    const { run, folder, seen } = await through({ cutsAfter: [1_000_000] });
    await run({ maxWaitSeconds: 0 }).catch(() => undefined);
    await writeFile(join(folder, 'long.mp4.part'), bytes);
    seen.length = 0;
    expect(await run()).toMatchObject({ bytes: bytes.length, resumedBytes: bytes.length });
    expect(seen).toEqual([]);
    expect(await readdir(folder)).toEqual(['long.mp4']);
  });

  it('skips a file of the same size, and replaces others only with overwrites', async () => {
    const { run, folder, seen } = await through();
    const { file } = await run();
    seen.length = 0;
    expect(await run()).toEqual({ file, bytes: bytes.length, resumedBytes: bytes.length });
    expect(seen).toEqual([]);
    await truncate(file, 5);
    await expect(run()).rejects.toMatchObject({ code: 'file-exists', isTemporary: false });
    expect(await readdir(folder)).toEqual(['long.mp4']);
    await run({ overwrites: true });
    expect(await isSame(file)).toBe(true);
  });

  it('of a stream without ranges is not continued', async () => {
    const { run } = await through({ cutsAfter: [400_000] }, '/hls/fields/index.m3u8');
    await expect(run()).rejects.toMatchObject({
      message: 'The connection was lost, and this stream cannot be continued',
    });
    const { bytes: received } = await run();
    expect(received).toBeGreaterThan(400_000);
  });

  it.each([
    ['its folder is missing', 'missing/a.mp4', /^The folder \S+\/missing does not exist$/],
    ['the disk is full', 'long.mp4', /no space is left$/],
  ])('says that its file cannot be written: %s', async (_, name, reason) => {
    const { run, folder } = await through();
    await symlink('/dev/full', join(folder, 'long.mp4.part'));
    const message = expect.stringMatching(reason);
    await expect(run({ file: join(folder, name) })).rejects.toMatchObject({ code: 'not-writable', message });
    // The link itself stays where nothing was written.
    expect(await readdir(folder)).toEqual(name === 'long.mp4' ? [] : ['long.mp4.part']);
  });

  it('ends when another process writes to the same file, and starts over then', async () => {
    const { run, folder } = await through();
    const part = join(folder, 'long.mp4.part');
    await expect(run({ onProgress: () => appendFileSync(part, 'other bytes') })).rejects.toMatchObject({
      code: 'not-writable',
      message: `Another process writes to ${join(folder, 'long.mp4')}`,
    });
    const { file, resumedBytes } = await run();
    expect(resumedBytes).toBe(0);
    expect(await isSame(file)).toBe(true);
  });

  it('fails with the reason for an expired key, and leaves no file', async () => {
    const folder = await temporaryFolder();
    const client = createClient({ instance: target.baseUrl });
    const url = client.streamUrl({ key: 'A'.repeat(33) });
    await expect(download(client, url, { folder })).rejects.toMatchObject({ code: 'not-found', status: 404 });
    expect(await readdir(folder)).toEqual([]);
  });
});
