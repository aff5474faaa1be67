import { createHash } from 'node:crypto';
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { installedTools } from '../../../test/support/installed-tools.ts';
import { shellQuote } from '../../../test/support/shell-quote.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import type { Download } from '../src/download.ts';
import { ffmpegAtPath, ffmpegFromNpm, ffmpegOfSystem, inspectFfmpeg } from '../src/ffmpeg/ffmpeg-providers.ts';
import { findOnPath, run } from '../src/process/program.ts';
import { findPython } from '../src/process/python.ts';
import { ToolRefused } from '../src/tools.ts';
import { pythonForYtDlp, ytDlpAtPath } from '../src/yt-dlp/providers.ts';

const dir = await temporaryFolder();
const { ffmpeg } = await installedTools();
const { signal } = new AbortController();
const options = { signal, onBytes: () => undefined };
const script = async (name: string, text: string, mode = 0o755) => {
  const path = join(dir, name);
  await writeFile(path, text, { mode });
  return path;
};
afterEach(() => vi.unstubAllEnvs());

describe('run', () => {
  it('returns the output of a program, which gets an empty environment', async () => {
    const path = await script('env.sh', '#!/bin/sh\n/usr/bin/env');
    vi.stubEnv('SECRET', 's3cret');
    expect((await run(path, [])).toString()).not.toContain('s3cret');
  });
  it.each<[string, string, RegExp]>([
    ['writes its reason last', 'echo first >&2; echo last >&2; exit 3', /^last$/],
    ['writes a line with ERROR', 'echo "ERROR: this" >&2; echo "NOTICE: that" >&2; exit 3', /^ERROR: this$/],
    ['writes nothing', 'exit 3', /Command failed/],
    ['never ends', 'exec sleep 100', /took too long/],
    ['never stops printing', 'exec yes', /maxBuffer/],
  ])('fails when a program %s', async (name, text, reason) => {
    const path = await script(`${name}.sh`, `#!/bin/sh\n${text}\n`);
    await expect(run(path, [], { timeoutMs: name === 'never ends' ? 50 : 30_000 })).rejects.toThrow(reason);
  });
});

describe.runIf(process.platform === 'linux')('run, of a program that something else interrupts', () => {
  it.each(['KILL', 'STOP'])('starts it again after SIG%s', async (signal) => {
    const mark = join(dir, `interrupted-${signal}`);
    const path = await script(
      `interrupted-${signal}.sh`,
      `#!/bin/sh\nif [ -e ${mark} ]; then echo done; else : >${mark}; kill -${signal} $$; fi\n`,
    );
    expect((await run(path, [])).toString()).toBe('done\n');
  });

  it('gives up on one that is killed each time', async () => {
    const path = await script('always.sh', '#!/bin/sh\nkill -KILL $$\n');
    await expect(run(path, [])).rejects.toThrow(/Command failed/);
  });
});

describe('findOnPath', () => {
  it('follows links, and skips relative folders and files that are not executable', async () => {
    const path = await script('real-program', '');
    await script('not-a-program', '', 0o644);
    await symlink(path, join(dir, 'linked'));
    expect(await findOnPath('linked', `relative:/nonexistent:${dir}`)).toBe(path);
    expect(await findOnPath('not-a-program', dir)).toBeUndefined();
    expect(await findOnPath('linked', '')).toBeUndefined();
  });
});

describe('findPython', () => {
  it.each<[string, string, RegExp]>([
    ['is old', 'echo /usr/bin/python3; echo 3.9.2; echo True', /3\.9\.2 is too old/],
    ['has no pip', 'echo /usr/bin/python3; echo 3.12.0; echo False', /has no pip/],
    ['does not run', 'echo "no such version" >&2; exit 127', /does not run: no such version/],
  ])('skips one that %s', async (name, text, reason) => {
    await expect(findPython({ program: await script(name, `#!/bin/sh\n${text}\n`) })).rejects.toThrow(reason);
  });

  it('skips one that is too old for yt-dlp, which other packages can use', async () => {
    const program = await script('python3', '#!/bin/sh\necho "$0"; echo 3.10.12; echo True\n');
    expect((await findPython({ program })).version).toBe('3.10.12');
    vi.stubEnv('PATH', `${dir}:${process.env.PATH}`);
    await expect(pythonForYtDlp()).rejects.toThrow('Python 3.10.12 is too old (3.11 or newer)');
    vi.unstubAllEnvs();
    await rm(program);
  });

  it('throws when there is none', async () => {
    await expect(findPython({ program: join(dir, 'no-python') })).rejects.toThrow(/^there is no Python$/);
  });

  it('passes pip the variables for its registry, and no secrets', async () => {
    const text = `if [ "$1" = -c ]; then echo "$0"; echo 3.12.0; echo True; else /usr/bin/env > ${dir}/pip-env; fi`;
    const environment = {
      PATH: '/usr/bin:/bin',
      PIP_INDEX_URL: 'https://registry.example/simple',
      https_proxy: 'http://proxy.example',
      AWS_SECRET_ACCESS_KEY: 's3cret',
      PYTHONPATH: '/elsewhere',
      NODE_OPTIONS: '--x',
    };
    const program = await script('python-for-env', `#!/bin/sh\n${text}\n`);
    const python = await findPython({ program, environment });
    await python.install('anything', dir);
    const given = await readFile(join(dir, 'pip-env'), 'utf8');
    expect(given).toMatch(/^PIP_INDEX_URL=.*registry\.example/m);
    expect(given).toMatch(/^https_proxy=/m);
    expect(given).not.toMatch(/s3cret|PYTHONPATH|NODE_OPTIONS/);
  });
});

describe('an install by pip', () => {
  // Ends once the file `enough` is there.
  const pip = `if [ "$1" = -c ]; then echo "$0"; echo 3.12.0; echo True; exit; fi
case "$*" in *compileall*) exit;; esac
mkdir "$TMPDIR/pip-unpack-1" "$TMPDIR/pip-target-1"
echo "Downloading package.whl (2.0 kB)"
head -c 1500 /dev/zero > "$TMPDIR/pip-unpack-1/package.whl"
head -c 9000 /dev/zero > "$TMPDIR/pip-target-1/unpacked"
until [ -e "${dir}/enough" ]; do sleep 0.05; done
echo "Installing collected packages: package"`;

  it.each([
    [true, 2000],
    [false, undefined],
  ])('reports the bytes of downloads, and the total of a single one (%s)', async (hasNoDependencies, total) => {
    const python = await findPython({ program: await script('python-for-bytes', `#!/bin/sh\n${pip}\n`) });
    const target = await temporaryFolder();
    const { promise, resolve } = Promise.withResolvers<unknown[]>();
    const onInstall = vi.fn();
    const onBytes = (...bytes: unknown[]) => resolve(bytes);
    const installed = python.install('package', target, { hasNoDependencies, onBytes, onInstall });
    expect(await promise).toEqual([1500, total]);
    expect(onInstall).not.toHaveBeenCalled();
    await script('enough', '');
    await installed;
    expect(onInstall).toHaveBeenCalledOnce();
    expect(await readdir(target)).toEqual([]);
    await rm(join(dir, 'enough'));
  });
});

it('yt-dlp runs with the interpreter that PATH has', async () => {
  const path = await script('by-env', '#!/usr/bin/env python3\nprint("2026.08.19 --js-runtimes --plugin-dirs")\n');
  const { command } = (await ytDlpAtPath(path).fetch('', options))('');
  expect(command).toEqual([expect.stringMatching(/^\/.*python/), path]);
});

describe('FFmpeg of ffmpeg-static', () => {
  const archive = gzipSync(`#!/bin/sh\nexec ${shellQuote(ffmpeg.path)} "$@"\n`);
  const build = `${process.platform}-${process.arch}`;
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const urls: string[] = [];
  const download: Download = async (url) => {
    urls.push(url);
    return { status: 200, headers: {}, url, body: Readable.from([archive]) };
  };

  it('is unpacked when its archive has the pinned checksum', async () => {
    const folder = await temporaryFolder();
    const locate = await ffmpegFromNpm({ download, builds: { [build]: sha256 } }).fetch(folder, options);
    expect(locate('/place')).toMatchObject({ version: ffmpeg.version, source: 'npm', path: '/place/ffmpeg' });
    expect(await readdir(folder)).toEqual(['ffmpeg']);
    expect(urls).toEqual([`https://github.com/eugeneware/ffmpeg-static/releases/download/b6.1.1/ffmpeg-${build}.gz`]);
  });

  it('is refused when its archive has another checksum', async () => {
    const { fetch } = ffmpegFromNpm({ download, builds: { [build]: 'ab' } });
    await expect(fetch(await temporaryFolder(), options)).rejects.toThrow(ToolRefused);
  });

  it('is not requested where it has no build that works', async () => {
    const count = urls.length;
    await expect(ffmpegFromNpm({ download, builds: {} }).fetch('', options)).rejects.toThrow(/no build/);
    expect(urls).toHaveLength(count);
  });
});

describe('FFmpeg of the system', () => {
  it('is used when it encodes and muxes', async () => {
    const found = (await ffmpegAtPath(ffmpeg.path).fetch('', options))('');
    expect(found).toEqual({
      path: ffmpeg.path,
      version: ffmpeg.version,
      source: 'path',
      buildId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  it.each<[string, string, RegExp]>([
    ['is no FFmpeg', 'echo something', /it is not FFmpeg/],
    [
      'has no LAME',
      `case "$*" in *libmp3lame*) echo "Unknown encoder 'libmp3lame'" >&2; exit 1;; esac; exec ${shellQuote(ffmpeg.path)} "$@"`,
      /Unknown encoder/,
    ],
    [
      'encodes nothing',
      `case "$*" in *libmp3lame*) exit 0;; esac; exec ${shellQuote(ffmpeg.path)} "$@"`,
      /its MP3 has 0 bytes/,
    ],
    ['muxes nothing', `case "$*" in *empty_moov*) exit 0;; esac; exec ${shellQuote(ffmpeg.path)} "$@"`, /no fragments/],
  ])('is skipped when it %s', async (name, text, reason) => {
    const path = await script(`ffmpeg ${name}`, `#!/bin/sh\n${text}\n`);
    await expect(inspectFfmpeg(path, 'system', signal)).rejects.toThrow(reason);
  });

  it('is skipped when there is none', async () => {
    vi.stubEnv('PATH', '/nonexistent');
    await expect(ffmpegOfSystem().fetch('', options)).rejects.toThrow(/^not installed$/);
  });
});
