import { createHash } from 'node:crypto';
import type { YtDlp } from '../../../packages/yt-dlp-worker/src/tools.ts';
import type { ObjectStore } from '../../support/s3.ts';
import { shellQuote } from '../../support/shell-quote.ts';
import { zip } from '../../yt-dlp-worker/zip.ts';

export const BUCKET = 'tools';

/** A release whose program prints a fixed output or runs `command`. */
export const archiveOf = (dir: string, version: string, [program, ...before] = ['/bin/false'] as YtDlp['command']) => {
  const rest = [program, ...before].map(shellQuote).join(' ');
  const script = `#!/bin/sh\nif [ "$2" = --version ]; then echo ${version}; else exec ${rest} "$@"; fi\n`;
  return zip(dir, [
    ['yt-dlp_linux', script],
    ['_internal/base.txt', version],
  ]);
};

/** What the updater writes; `traits` spoil it. */
export function pointerTo(version: string, archive: Buffer, traits: Readonly<Record<string, unknown>> = {}): string {
  const key = `releases/${version}/yt-dlp_linux.zip`;
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const told = { version, key, sha256, bytes: archive.length, layerVersionArn: 'arn:aws:lambda:x', publishedAt: 1 };
  return JSON.stringify({ ...told, ...traits });
}

export function publish({ objects }: ObjectStore, version: string, archive: Buffer): void {
  objects.set(`${BUCKET}/releases/${version}/yt-dlp_linux.zip`, archive);
  objects.set(`${BUCKET}/current.json`, pointerTo(version, archive));
}
