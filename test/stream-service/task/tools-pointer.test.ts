import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Flaw, onFullDisk, testProvider } from '../../../packages/yt-dlp-worker/test/provider-events.ts';
import { createToolsPointer } from '../../../stream-service/task/tools-pointer.ts';
import { startObjectStore } from '../../support/s3.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { zip } from '../../yt-dlp-worker/zip.ts';
import { archiveOf, BUCKET, pointerTo, publish } from './releases.ts';

const VERSION = '2026.11.20';
const root = await temporaryFolder();
const store = await startObjectStore();
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const clientOf = (endpoint: string) => new S3Client({ endpoint, region: 'eu-west-1', credentials, maxAttempts: 1 });
const s3 = clientOf(store.endpoint);
afterAll(async () => {
  s3.destroy();
  await store.close();
});
const archive = await archiveOf(root, VERSION);
const POINTER = `${BUCKET}/current.json`;
const { signal } = new AbortController();

const { provider, fill } = onFullDisk(createToolsPointer({ s3, bucket: BUCKET }));
const publishVersion = async (version: string) => publish(store, version, await archiveOf(root, version));
/** A release with a pointer that says something else. */
const pointing = (traits: Readonly<Record<string, unknown>>, reason = /names no release/): Flaw => [
  (version) => {
    publish(store, version, archive);
    store.objects.set(POINTER, pointerTo(version, archive, traits));
  },
  reason,
];
const replaced = (pointer: string, reason: RegExp): Flaw => [() => store.objects.set(POINTER, pointer), reason];
const holding = (content: () => Buffer | Promise<Buffer>, reason: RegExp): Flaw => [
  async (version) => publish(store, version, await content()),
  reason,
];
const OTHER = /not the file that the pointer names/;

testProvider('the pointer of a bucket', {
  options: { providers: { ytDlp: [provider] } },
  verifiedBy: 'signature',
  isAuthoritative: true,
  publish: publishVersion,
  requests: () => store.answers.length,
  flaws: {
    'a bad hash': pointing({ sha256: '0'.repeat(64) }, OTHER),
    'a bad signature': 'the tools update has verified it',
    'half of it': pointing({ bytes: archive.length + 1 }, OTHER),
    'nothing where it is said to be': [
      (version) => {
        publish(store, version, archive);
        store.objects.delete(`${BUCKET}/releases/${version}/yt-dlp_linux.zip`);
      },
      /exist/,
    ],
    'no answer': 'the client of S3 ends requests by the same signal',
    'a full disk': [(version) => publishVersion(version).then(fill), /ENOSPC/],
    'no pointer': [() => store.objects.clear(), /it has no pointer yet/],
    'a pointer that is not JSON': replaced('{', /not JSON/),
    'a pointer that is a list': replaced('[]', /names no release/),
    'a pointer without end': replaced(' '.repeat(2 ** 17), /too large/),
    'a version that is no date': pointing({ version: '../..' }),
    'a key that leads elsewhere': pointing({ key: 'releases/../../x/yt dlp.zip' }),
    'a program of another name': pointing({ key: 'releases/sh.zip' }),
    'a checksum that is none': pointing({ sha256: 'abc' }),
    'no size': pointing({ bytes: 0 }),
    'more bytes than are said': pointing({ bytes: 10 }, /more than 10/),
    'no archive': holding(() => Buffer.from('nothing'), /central directory/i),
    'an archive without the program': holding(() => zip(root, [['readme', '']]), /no such file/),
    'another version than it says': holding(() => archiveOf(root, '2026.01.01'), /reports version 2026\.01/),
  },
});

describe('createToolsPointer', () => {
  beforeEach(() => {
    store.answers.length = 0;
    publish(store, VERSION, archive);
  });

  it('requests an unchanged pointer conditionally', async () => {
    const source = createToolsPointer({ s3, bucket: BUCKET });
    for (const version of [VERSION, VERSION]) expect(await source.findNewest?.(signal)).toBe(version);
    publish(store, '2026.11.21', archive);
    expect(await source.findNewest?.(signal)).toBe('2026.11.21');
    expect(store.answers).toEqual(['200', '304', '200'].map((status) => `${status} ${POINTER}`));
  });

  it('throws one line when the bucket does not respond', async () => {
    const unreachable = clientOf('http://127.0.0.1:9');
    const failure = createToolsPointer({ s3: unreachable, bucket: BUCKET }).findNewest?.(signal);
    await expect(failure).rejects.toThrow(/^its pointer cannot be read: [^\n]+$/);
    unreachable.destroy();
  });
});
