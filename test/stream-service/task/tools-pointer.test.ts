import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createToolsPointer } from '../../../stream-service/task/tools-pointer.ts';
import { startObjectStore } from '../../support/s3.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { zip } from '../../yt-dlp-worker/zip.ts';
import { archiveOf, BUCKET, pointerTo, publish } from './releases.ts';

const VERSION = '2026.11.20';
const root = await temporaryFolder();
const store = await startObjectStore();
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const s3 = new S3Client({ endpoint: store.endpoint, region: 'eu-west-1', credentials, maxAttempts: 1 });
afterAll(async () => {
  s3.destroy();
  await store.close();
});
const archive = await archiveOf(root, VERSION);
beforeEach(() => {
  store.objects.clear();
  store.answers.length = 0;
  publish(store, VERSION, archive);
});

const { signal } = new AbortController();
const open = () => createToolsPointer({ s3, bucket: BUCKET });
const fetch = async (source = open()) => {
  const folder = await temporaryFolder();
  return { folder, locate: await source.fetch(folder, { signal, onBytes: () => undefined }) };
};

describe('createToolsPointer', () => {
  it('downloads and unpacks the release of the pointer', async () => {
    const { folder, locate } = await fetch();
    expect(locate('/elsewhere')).toEqual({
      version: VERSION,
      source: 'release',
      command: ['/elsewhere/yt-dlp_linux'],
    });
    await access(join(folder, '_internal', 'base.txt'));
    await expect(access(join(folder, 'archive.zip'))).rejects.toThrow();
  });

  it('requests an unchanged pointer conditionally', async () => {
    const source = open();
    expect(await source.findNewest?.(signal)).toBe(VERSION);
    expect(await source.findNewest?.(signal)).toBe(VERSION);
    publish(store, '2026.11.21', archive);
    expect(await source.findNewest?.(signal)).toBe('2026.11.21');
    expect(store.answers).toEqual(['200', '304', '200'].map((status) => `${status} ${BUCKET}/current.json`));
  });

  it('reads the pointer again after a malformed one', async () => {
    const source = open();
    store.objects.set(`${BUCKET}/current.json`, 'nothing');
    await expect(source.findNewest?.(signal)).rejects.toThrow('its pointer is not JSON');
    publish(store, VERSION, archive);
    expect(await source.findNewest?.(signal)).toBe(VERSION);
  });

  const point = (traits: Readonly<Record<string, unknown>>) =>
    store.objects.set(`${BUCKET}/current.json`, pointerTo(VERSION, archive, traits));
  const replace = (content: Buffer) => publish(store, VERSION, content);
  it.each<[string, () => unknown, RegExp]>([
    ['no pointer', () => store.objects.clear(), /^it has no pointer yet$/],
    ['one that is not JSON', () => store.objects.set(`${BUCKET}/current.json`, '{'), /not JSON/],
    ['one that is a list', () => store.objects.set(`${BUCKET}/current.json`, '[]'), /names no release/],
    ['one without end', () => store.objects.set(`${BUCKET}/current.json`, ' '.repeat(2 ** 17)), /too large/],
    ['a version that is no date', () => point({ version: '../..' }), /names no release/],
    ['a key that leads elsewhere', () => point({ key: 'releases/../../x/yt dlp.zip' }), /names no release/],
    ['a program of another name', () => point({ key: 'releases/sh.zip' }), /names no release/],
    ['a checksum that is none', () => point({ sha256: 'abc' }), /names no release/],
    ['no size', () => point({ bytes: 0 }), /names no release/],
    ['an archive that is larger than said', () => point({ bytes: 10 }), /more than 10/],
    [
      'an archive that is smaller than said',
      () => point({ bytes: archive.length + 1 }),
      /not the file that the pointer names/,
    ],
    ['a checksum of something else', () => point({ sha256: '0'.repeat(64) }), /not the file that the pointer names/],
    [
      'an archive that was changed',
      () => {
        const tampered = Buffer.from(archive);
        tampered[40] = (tampered[40] ?? 0) ^ 1;
        store.objects.set(`${BUCKET}/releases/${VERSION}/yt-dlp_linux.zip`, tampered);
      },
      /not the file that the pointer names/,
    ],
    ['an archive that is gone', () => store.objects.delete(`${BUCKET}/releases/${VERSION}/yt-dlp_linux.zip`), /exist/],
    ['an archive that is none', () => replace(Buffer.from('nothing')), /central directory/i],
    ['an archive without the program', async () => replace(await zip(root, [['readme', '']])), /no such file/],
    [
      'another version than it says',
      async () => replace(await archiveOf(root, '2026.01.01')),
      /reports version 2026\.01/,
    ],
  ])('refuses %s', async (_, spoil, reason) => {
    await spoil();
    await expect(fetch()).rejects.toThrow(reason);
  });

  it('throws one line when the bucket does not respond', async () => {
    const unreachable = new S3Client({
      endpoint: 'http://127.0.0.1:9',
      region: 'eu-west-1',
      credentials,
      maxAttempts: 1,
    });
    const failure = createToolsPointer({ s3: unreachable, bucket: BUCKET }).findNewest?.(signal);
    await expect(failure).rejects.toThrow(/^its pointer cannot be read: [^\n]+$/);
    unreachable.destroy();
  });
});
