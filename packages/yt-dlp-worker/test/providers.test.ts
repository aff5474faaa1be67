import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGuardedFetch } from '@reelay/guarded-fetch';
import { vi } from 'vitest';
import { closeAfterwards } from '../../../test/support/close-afterwards.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { startReleasePages } from '../../../test/yt-dlp-worker/release-pages.ts';
import { type ZipEntry, zip } from '../../../test/yt-dlp-worker/zip.ts';
import { ytDlpOfSystem, ytDlpRelease } from '../src/yt-dlp/providers.ts';
import { type Flaw, onFullDisk, type ProviderWorld, testProvider } from './provider-events.ts';

const ASSET = 'yt-dlp_linux.zip';
const root = await temporaryFolder();
const pages = closeAfterwards(await startReleasePages());
const egress = closeAfterwards(createGuardedFetch({ allow: [pages.host] }));

function officialRelease(): ProviderWorld {
  const { provider, fill } = onFullDisk(
    ytDlpRelease({ channel: 'stable', url: pages.url, key: pages.key, asset: ASSET, download: egress.request }),
  );
  const program = (version: string): ZipEntry => ['yt-dlp_linux', `#!/bin/sh\necho ${version}\n`];
  const archiveOf = (version: string) => zip(root, [program(version), ['_internal/base.txt', 'base']]);
  const publish = async (tag: string) => pages.publish(tag, ASSET, await archiveOf(tag));
  /** A release with another file in place of one of its own. */
  const replaced = (name: string, fileOf: (tag: string) => unknown, reason: RegExp): Flaw => [
    async (tag) => {
      await publish(tag);
      pages.files.set(`${tag}/${name}`, (await fileOf(tag)) as Buffer);
    },
    reason,
  ];
  const missing = (name: string): Flaw => [
    async (tag) => {
      await publish(tag);
      pages.files.delete(`${tag}/${name}`);
    },
    /upstream returned 404/,
  ];
  const holding = (entries: readonly ZipEntry[], reason: RegExp): Flaw => [
    async (tag) => pages.publish(tag, ASSET, await zip(root, entries)),
    reason,
  ];
  const leadingTo = (page: string): Flaw => [
    () => {
      pages.latest = page;
    },
    /has no valid tag/,
  ];
  const [list, signature] = ['SHA2-256SUMS', 'SHA2-256SUMS.sig'];
  return {
    options: { providers: { ytDlp: [provider] } },
    verifiedBy: 'signature',
    publish,
    requests: () => pages.downloads(ASSET),
    flaws: {
      'a bad hash': replaced(ASSET, () => archiveOf('9'), /does not match its checksum/),
      'a bad signature': replaced(signature, () => Buffer.from('nothing'), /not signed by the pinned key/),
      'half of it': replaced(
        ASSET,
        async (tag) => ({ cut: await archiveOf(tag) }),
        /closed the connection|Content-Length/,
      ),
      'nothing where it is said to be': missing(ASSET),
      'no answer': replaced(ASSET, () => 'stall', /abort/),
      'a full disk': [(tag) => publish(tag).then(fill), /ENOSPC/],
      'a signature by another key': [
        async (tag) => pages.publish(tag, ASSET, await archiveOf(tag), 'stranger'),
        /not signed by the pinned key/,
      ],
      'modified checksums': replaced(list, () => Buffer.from('0'.repeat(64)), /not signed/),
      'an empty signature': replaced(signature, () => Buffer.alloc(0), /not signed/),
      'no signature': missing(signature),
      'checksums above the size limit': replaced(list, () => Buffer.alloc(2 ** 19), /more than/),
      'a redirect without a tag': leadingTo('/tag/latest'),
      'a redirect to another path': leadingTo('/tag/..%2f'),
      'an older release under its tag': holding([program('2026.01.01')], /reports version 2026\.01\.01/),
      'a program that does not run': holding([['yt-dlp_linux', '#!/bin/sh\nexit 1']], /Command failed/),
      'no program': holding([['readme', '']], /no such file/),
      'a path outside of the folder': holding([['../escaped', '']], /invalid relative path/),
      'an absolute path': holding([['/tmp/escaped', '']], /absolute path/),
      'a link': holding([['yt-dlp_linux', '/bin/sh', 0o120777]], /is a link/),
      'no archive': [(tag) => pages.publish(tag, ASSET, Buffer.from('nothing')), /central directory/i],
    },
  };
}

/** A program in a folder of its own, which nothing verifies and nothing downloads. */
const inPlace = (path: string, traits: Pick<ProviderWorld, 'options' | 'verifiedBy'>, absent: RegExp) => {
  const write = async (text: string) => {
    await rm(path, { force: true });
    await writeFile(path, `#!${text}`, { mode: 0o755 });
  };
  const answering = (version: string, flags = '--js-runtimes --plugin-dirs') =>
    `/bin/sh\nfor last; do :; done\nif [ "$last" = --version ]; then echo ${version}; else echo "${flags}"; fi\n`;
  return {
    ...traits,
    isInPlace: true,
    requests: () => 0,
    write,
    publish: (version: string) => write(answering(version)),
    flaws: {
      'a bad hash': 'nothing states one',
      'a bad signature': 'it has none',
      'half of it': [() => write('/bin/sh\nexit 1\n'), /Command failed/],
      'nothing where it is said to be': [() => rm(path, { force: true }), absent],
      'no answer': 'nothing is requested',
      'a full disk': 'nothing is downloaded',
      'flags that are missing': [
        (version: string) => write(answering(version, '--plugin-dirs')),
        /too old: it lacks --js/,
      ],
      'an interpreter that is missing': [() => write('/usr/bin/env no-such-python\n'), /no-such-python is not on PATH/],
    } satisfies ProviderWorld['flaws'],
  } as const;
};

const own = join(await temporaryFolder(), 'own-yt-dlp');
const bin = await temporaryFolder();
vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
const image = await temporaryFolder();
const { write, ...layer } = inPlace(
  join(image, 'yt-dlp_linux'),
  { options: { ytDlpDir: image }, verifiedBy: 'signature' },
  /it has no yt-dlp/,
);

testProvider('the official release', officialRelease());
testProvider(
  'a path',
  inPlace(
    own,
    // No other one is tried.
    { options: { ytDlpPath: own, providers: { ytDlp: [ytDlpOfSystem()] } }, verifiedBy: 'path' },
    /^yt-dlp cannot be installed: the path \S+own-yt-dlp \(ENOENT[^;]*\)$/,
  ),
);
testProvider(
  'the system',
  inPlace(
    join(bin, 'yt-dlp'),
    { options: { providers: { ytDlp: [ytDlpOfSystem()] } }, verifiedBy: 'system' },
    /not installed/,
  ),
);
testProvider('the folder of an image', {
  ...layer,
  publish: (version) => write(`/bin/sh\necho ${version}\n`),
  flaws: {
    'a bad hash': 'its build has verified it',
    'a bad signature': 'its build has verified it',
    'half of it': [() => write('/bin/sh\nexit 1\n'), /Command failed/],
    'nothing where it is said to be': layer.flaws['nothing where it is said to be'],
    'no answer': 'nothing is requested',
    'a full disk': 'nothing is downloaded',
    'a version that is no date': [() => write('/bin/sh\necho hello\n'), /it reports version hello/],
  },
});
