import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { silentLog } from '../../core/log/index.ts';
import type { ToolsOptions } from '../../packages/yt-dlp-worker/src/install/create-tools.ts';
import { withLock } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import { type Ffmpeg, type ToolProvider, ToolUnavailable, type YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useToolsFakes } from './tools-fakes.ts';

const fakes = useToolsFakes();

describe('close during a smoke test', () => {
  it('aborts it', async () => {
    const begun = Promise.withResolvers<void>();
    const smokeTest: ToolsOptions['smokeTest'] = (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        begun.resolve();
      });
    const tools = fakes.open([fakes.ytDlpFrom('A', '2026.08.19'), fakes.ytDlpFrom('B', '2026.08.19')], { smokeTest });
    const ensured = tools.ensure();
    await begun.promise;
    await Promise.all([tools.close(), expect(ensured).rejects.toThrow('abort')]);
    expect(fakes.events.sort()).toEqual(['A', 'FFmpeg']);
  });
});

describe('ensure', () => {
  it('installs both tools, reports its activity, and records the versions', async () => {
    const tools = fakes.open([fakes.ytDlpFrom('A', '2026.08.19')]);
    expect([tools.ytDlp(), tools.ffmpeg()]).toEqual([undefined, undefined]);
    await tools.ensure();
    expect(tools.ytDlp()).toMatchObject({ version: '2026.08.19', source: 'pypi' });
    expect(tools.ffmpeg()).toMatchObject({ version: '7.1' });
    expect(fakes.records).toEqual([
      {
        ytDlp: '2026.08.19',
        ffmpeg: '7.1',
        installedAt: expect.any(Number),
        verifiedBy: { ytDlp: 'registry', ffmpeg: 'registry' },
      },
    ]);
  });

  it('fetches both side by side, and reports the activity of one until it is in place', async () => {
    const [checking, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const fetchFfmpeg = fakes.ffmpegFrom('FFmpeg');
    const ffmpeg: ToolProvider<Ffmpeg> = {
      ...fetchFfmpeg,
      fetch: async (folder, options) => {
        await checking.promise;
        options.onBytes(5_000_000, 5_000_000);
        return fetchFfmpeg.fetch(folder, options);
      },
    };
    const tools = fakes.open([], {
      providers: { ytDlp: [fakes.ytDlpFrom('A', '2026.08.19')], ffmpeg: [ffmpeg] },
      smokeTest: async () => {
        checking.resolve();
        await checked.promise;
      },
    });
    const ensured = tools.ensure();
    const fetching = { name: 'Downloading FFmpeg', tool: 'FFmpeg', step: 'fetch' };
    const activities = [
      fetching,
      { ...fetching, bytes: 5_000_000, totalBytes: 5_000_000 },
      { name: 'Checking yt-dlp', tool: 'yt-dlp', step: 'check' },
    ];
    await expect.poll(() => fakes.activities).toEqual(activities);
    checked.resolve();
    await ensured;
    expect(fakes.activities).toEqual(activities);
  });

  it('leaves nothing of downloads that fail, and no room taken from the next provider', async () => {
    const found: string[][] = [];
    const cut: ToolProvider<YtDlp> = {
      ...fakes.ytDlpFrom('A', '2026.08.19'),
      fetch: async (folder) => {
        found.push(await fakes.storedVersions());
        await writeFile(join(folder, 'part'), '');
        throw new Error('no space left');
      },
    };
    await expect(fakes.open([cut, cut]).ensure()).rejects.toBeInstanceOf(ToolUnavailable);
    const alone = [expect.stringMatching(/^\.staged-/)];
    expect([found, await fakes.storedVersions()]).toEqual([[alone, alone], []]);
  });

  it('requests no provider and reports nothing when both are installed, but records them', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '2026.08.19')]).ensure();
    fakes.reset();
    const tools = fakes.open([fakes.ytDlpFrom('A', '2026.11.20')]);
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2026.08.19');
    expect([fakes.events, fakes.activities]).toEqual([[], []]);
    expect(fakes.records).toHaveLength(1);
  });

  it('tries the next provider when one fails or its tool fails the smoke test, and warns of the latter', async () => {
    fakes.broken.add('1.0');
    const [warn, onNotice] = [vi.fn(), vi.fn()];
    const tools = fakes.open(
      [fakes.ytDlpFrom('A', new Error('unreachable')), fakes.ytDlpFrom('B', '1.0'), fakes.ytDlpFrom('C', '2.0')],
      { onNotice, log: { ...silentLog, warn } },
    );
    await tools.ensure();
    expect(fakes.events.filter((label) => label !== 'FFmpeg')).toEqual(['A', 'B', 'C']);
    expect(tools.ytDlp()?.version).toBe('2.0');
    expect(await fakes.storedVersions()).toEqual(['2.0', 'current']);
    expect(onNotice.mock.calls).toEqual([['Took yt-dlp from C; not from A (unreachable), B (it does not work)']]);
    expect(warn.mock.calls).toEqual([
      ['Tool was refused', { tool: 'yt-dlp', provider: 'B', reason: 'it does not work' }],
    ]);
  });

  it('throws one line with the reason of each provider when all fail', async () => {
    fakes.broken.add('1.0');
    const tools = fakes.open([
      fakes.ytDlpFrom('A', new Error('unreachable\nsecond line')),
      fakes.ytDlpFrom('B', '1.0'),
    ]);
    const failure = tools.ensure();
    await expect(failure).rejects.toThrow(ToolUnavailable);
    await expect(failure).rejects.toThrow(/^yt-dlp cannot be installed: A \(unreachable\); B \(it does not work\)$/);
    expect(fakes.records).toEqual([]);
  });

  it('installs FFmpeg although no provider has yt-dlp', async () => {
    const tools = fakes.open([fakes.ytDlpFrom('A', new Error('unreachable'))]);
    await expect(tools.ensure()).rejects.toThrow(ToolUnavailable);
    expect([tools.ytDlp(), tools.ffmpeg()]).toEqual([undefined, expect.objectContaining({ version: '7.1' })]);
  });

  it('retries after a failure', async () => {
    const sources = [fakes.ytDlpFrom('A', new Error('unreachable'))];
    const tools = fakes.open(sources);
    await expect(tools.ensure()).rejects.toThrow();
    sources[0] = fakes.ytDlpFrom('A', '2.0');
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2.0');
  });

  it('installs once when two processes start concurrently', async () => {
    const [one, other] = [fakes.open([fakes.ytDlpFrom('A', '2.0')]), fakes.open([fakes.ytDlpFrom('A', '2.0')])];
    await Promise.all([one.ensure(), other.ensure(), one.ensure()]);
    expect(fakes.events.sort()).toEqual(['A', 'FFmpeg']);
    expect(other.ytDlp()).toEqual(one.ytDlp());
  });

  it('removes files of a killed process although both tools are installed', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '2.0')]).ensure();
    await mkdir(join(fakes.dir, 'yt-dlp', '.staged-1'));
    await fakes.open([]).ensure();
    expect(await fakes.storedVersions()).toEqual(['2.0', 'current']);
  });

  it('keeps the staged files of a running process', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '2.0')]).ensure();
    await mkdir(join(fakes.dir, 'yt-dlp', '.staged-1'));
    await withLock(join(fakes.dir, 'install.lock'), () => fakes.open([]).ensure(), {
      signal: new AbortController().signal,
    });
    expect(await fakes.storedVersions()).toEqual(['.staged-1', '2.0', 'current']);
  });

  it('restores the previous version without a request when files of the current one are missing', async () => {
    const tools = fakes.open([fakes.ytDlpFrom('A', '1.0')]);
    await tools.ensure();
    await fakes.open([fakes.ytDlpFrom('B', '2.0')]).update();
    await rm(join(fakes.dir, 'yt-dlp', '2.0', 'program'));
    const next = fakes.open([fakes.ytDlpFrom('C', '3.0')]);
    await next.ensure();
    expect(next.ytDlp()?.version).toBe('1.0');
    expect(fakes.events).not.toContain('C');
  });

  it('throws one line when its folder cannot be used', async () => {
    await writeFile(fakes.dir, 'a file in its place');
    await expect(fakes.open([fakes.ytDlpFrom('A', '1.0')]).ensure()).rejects.toThrow(/ENOTDIR|EEXIST/);
  });

  it('rejects when the tools are closed', async () => {
    const waiting: ToolProvider<YtDlp> = {
      ...fakes.ytDlpFrom('A', '1.0'),
      fetch: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          fakes.events.push('asked');
        }),
    };
    const tools = fakes.open([waiting, fakes.ytDlpFrom('B', '1.0')]);
    const failure = expect(tools.ensure()).rejects.toThrow(/abort/i);
    await expect.poll(() => fakes.events.toSorted()).toEqual(['FFmpeg', 'asked']);
    await tools.close();
    await failure;
    expect(fakes.events.toSorted()).toEqual(['FFmpeg', 'asked']);
    await expect(tools.ensure()).rejects.toThrow(/abort/i);
  });
});

describe('the check of an update', () => {
  it('keeps the version in use while it fails, and is not made for a first installation', async () => {
    const checked: string[] = [];
    const failures: string[] = [];
    let isRefused = true;
    const sources = [fakes.ytDlpFrom('A', '1.0')];
    const tools = fakes.open(sources, {
      onFailure: (reason) => failures.push(reason),
      async checkUpdate({ version }) {
        checked.push(version);
        if (isRefused) throw new Error('a canary link of a.example does not resolve');
      },
    });
    await tools.ensure();
    sources[0] = fakes.ytDlpFrom('A', '2.0');
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
    expect(failures).toEqual([
      'Update of yt-dlp to 2.0 failed, keeping 1.0: a canary link of a.example does not resolve',
    ]);
    isRefused = false;
    expect(await tools.update()).toEqual({ ytDlp: true, ffmpeg: false });
    expect(checked).toEqual(['2.0', '2.0']);
  });
});

describe('the folder of an image', () => {
  /** A release in a read-only folder beside the folder of the tools. */
  const imageWith = async (version: string) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'yt-dlp_linux'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
    return folder;
  };

  it('is used where it is, without a request, until a newer version is installed', async () => {
    const image = await imageWith('2026.08.19');
    const sources = [fakes.ytDlpFrom('A', '2026.08.19')];
    const tools = fakes.open(sources, { ytDlpDir: image });
    await tools.ensure();
    expect(tools.ytDlp()).toEqual({
      version: '2026.08.19',
      command: [join(image, 'yt-dlp_linux')],
      source: 'release',
    });
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(fakes.events).not.toContain('A');

    const newer = fakes.open([fakes.ytDlpFrom('A', '2026.11.20')], { ytDlpDir: image });
    await newer.ensure();
    expect(await newer.update()).toEqual({ ytDlp: true, ffmpeg: false });
    expect(newer.ytDlp()?.command[0]).toMatch(fakes.dir);
    const restarted = fakes.open([fakes.ytDlpFrom('A', '2026.11.20')], { ytDlpDir: image });
    await restarted.ensure();
    expect(restarted.ytDlp()?.version).toBe('2026.11.20');
  });

  it('replaces the version of an earlier image', async () => {
    const first = fakes.open([], { ytDlpDir: await imageWith('2026.08.19') });
    await first.ensure();
    await rm(first.ytDlp()?.command[0] ?? '');
    const second = fakes.open([], { ytDlpDir: await imageWith('2026.11.20') });
    await second.ensure();
    expect(second.ytDlp()?.version).toBe('2026.11.20');
  });

  it('without yt-dlp leaves it to the other providers', async () => {
    const tools = fakes.open([fakes.ytDlpFrom('A', '2026.08.19')], { ytDlpDir: join(fakes.dir, 'missing') });
    await tools.ensure();
    expect(tools.ytDlp()?.source).toBe('pypi');
  });
});

describe('a configured path', () => {
  it('is the only provider, and fails in one line', async () => {
    const tools = fakes.open([fakes.ytDlpFrom('A', '1.0')], { ytDlpPath: join(fakes.root, 'nothing') });
    await expect(tools.ensure()).rejects.toThrow(/^yt-dlp cannot be installed: the path \S+nothing \(.*ENOENT/);
    expect(fakes.events).toEqual(['FFmpeg']);
  });

  it('replaces the installed version until it is unset', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '1.0')]).ensure();
    const path = join(fakes.root, 'own-yt-dlp');
    await writeFile(path, '#!/bin/sh\necho "9.0 --js-runtimes --plugin-dirs"', { mode: 0o755 });
    const own = fakes.open([fakes.ytDlpFrom('A', '1.0')], { ytDlpPath: path });
    await own.ensure();
    expect(own.ytDlp()).toMatchObject({ command: [path], source: 'path' });
    expect(fakes.records.at(-1)?.verifiedBy.ytDlp).toBe('path');
    expect(await own.update()).toEqual({ ytDlp: false, ffmpeg: false });

    const without = fakes.open([fakes.ytDlpFrom('A', '1.0')]);
    await without.ensure();
    expect(without.ytDlp()).toMatchObject({ version: '1.0', source: 'pypi' });
  });
});
