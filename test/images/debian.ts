import { execFile } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The release of Debian that the Dockerfiles name. */
export const SUITE = 'trixie';
/** What the images take files of, and what the stages of their Dockerfiles run. Dependencies come with them. */
const PACKAGES = [
  ...['base-files', 'base-passwd', 'util-linux', 'perl-base', 'libc6', 'libgcc-s1', 'libstdc++6', 'zlib1g'],
  ...['coreutils', 'dash', 'findutils'],
];
/** Of `/usr/share`, what `debian:…-slim` leaves out, too. mmdebstrap's own filter starts Python for every package. */
const LEFT_OUT = ['doc', 'info', 'locale', 'man'];

/**
 * Unpacks Debian's packages without running any of their scripts: for any processor, and in a fraction of the time of an
 * installation.
 * @param architecture as Debian spells it
 */
export async function unpackDebian(folder: string, architecture: 'amd64' | 'arm64'): Promise<void> {
  await promisify(execFile)('mmdebstrap', [
    ...[`--architectures=${architecture}`, '--variant=extract', '--mode=root', '--quiet'],
    ...['--skip=check/qemu,output/mknod', `--include=${PACKAGES.join(',')}`, SUITE, folder],
  ]);
  for (const name of LEFT_OUT) await rm(join(folder, 'usr/share', name), { recursive: true, force: true });
  // What the script of base-passwd does.
  for (const name of ['passwd', 'group'])
    await cp(join(folder, 'usr/share/base-passwd', `${name}.master`), join(folder, 'etc', name));
}
