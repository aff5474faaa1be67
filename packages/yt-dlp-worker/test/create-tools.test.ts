import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createTools,
  type Ffmpeg,
  type ToolProvider,
  type ToolsOptions,
  ToolUnavailable,
  type YtDlp,
} from '@reelay/yt-dlp-worker';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { withLock } from '../src/install/version-store.ts';
import { type Activity, silentLog } from '../src/tools.ts';

const root = await temporaryFolder();
let dir: string;
let tests = 0;
/** Labels of the providers that were fetched from. */
let fetched: string[];
let activities: Activity[];
/** Versions that fail their smoke test. */
const broken = new Set(['9.9']);
beforeEach(() => {
  dir = join(root, `${tests++}`);
  [fetched, activities] = [[], []];
});

/** A provider of one version, or one that is away. What each real one does is in `provider-events.ts`. */
const from = (label: string, version: string | Error): ToolProvider<YtDlp> => {
  const findNewest = async () => {
    if (version instanceof Error) throw version;
    return version;
  };
  return {
    name: 'pypi',
    label,
    findNewest,
    async fetch(folder) {
      fetched.push(label);
      const found = await findNewest();
      await writeFile(join(folder, 'program'), found);
      return (place) => ({ version: found, command: [join(place, 'program')], source: 'pypi' });
    },
  };
};
const ffmpeg: ToolProvider<Ffmpeg> = {
  name: 'npm',
  label: 'FFmpeg',
  async fetch(folder, { onBytes }) {
    fetched.push('FFmpeg');
    await writeFile(join(folder, 'ffmpeg'), '');
    onBytes(5_000_000, 5_000_000);
    return (place) => ({ version: '7.1', path: join(place, 'ffmpeg'), source: 'npm', buildId: 'ab' });
  },
};
const AWAY = new Error('away\nsecond line');

const open = (ytDlp: readonly ToolProvider<YtDlp>[], others: Partial<ToolsOptions> = {}) => {
  const tools = createTools({
    dir,
    channel: 'stable',
    providers: { ytDlp, ffmpeg: [ffmpeg] },
    download: () => Promise.reject(new Error('nothing is downloaded here')),
    onActivity: (activity) => void activities.push(activity),
    smokeTest: async ({ version }) => {
      if (broken.has(version)) throw new Error('it does not work');
      return undefined;
    },
    record: async () => undefined,
    ...others,
  });
  onTestFinished(tools.close);
  return tools;
};
/** Tools with a version that is in place. */
const having = async (version: string, sources: ToolProvider<YtDlp>[] = [], others: Partial<ToolsOptions> = {}) => {
  await open([from('before', version)]).ensure();
  [fetched, activities] = [[], []];
  const tools = open(sources, others);
  await tools.ensure();
  return tools;
};
const stored = async () => (await readdir(join(dir, 'yt-dlp'))).sort();

describe('ensure', () => {
  it('takes both side by side, and reports the activity of one until it is in place', async () => {
    const [checking, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const records: unknown[] = [];
    const tools = open([from('A', '2.0')], {
      providers: {
        ytDlp: [from('A', '2.0')],
        ffmpeg: [{ ...ffmpeg, fetch: (...args) => checking.promise.then(() => ffmpeg.fetch(...args)) }],
      },
      smokeTest: async () => {
        checking.resolve();
        await checked.promise;
        return { mode: 'worker', sites: { count: 2, names: ['A'] } };
      },
      record: async (record) => void records.push(record),
    });
    const ensured = tools.ensure();
    const fetching = { name: 'Downloading FFmpeg', tool: 'FFmpeg', step: 'fetch' };
    const expected = [
      fetching,
      { ...fetching, bytes: 5_000_000, totalBytes: 5_000_000 },
      { name: 'Checking yt-dlp', tool: 'yt-dlp', step: 'check' },
    ];
    await expect.poll(() => activities).toEqual(expected);
    checked.resolve();
    await ensured;
    expect(activities).toEqual(expected);
    const verifiedBy = { ytDlp: 'registry', ffmpeg: 'checksum' };
    const record = { ytDlp: '2.0', ffmpeg: '7.1', installedAt: expect.any(Number), verifiedBy };
    expect(records).toEqual([{ ...record, sites: { count: 2, names: ['A'] } }]);
    // A later start reads the sites with the version, and another version has its own.
    await open([], { record: async (later) => void records.push(later) }).ensure();
    expect(records[1]).toEqual(records[0]);
    await open([from('A', '3.0')], { record: async (later) => void records.push(later) }).update();
    expect(records[2]).toEqual({ ...record, ytDlp: '3.0' });
  });

  it('takes the first that works, tells where from, and warns of one that does not work', async () => {
    const [warn, onNotice] = [vi.fn(), vi.fn()];
    const sources = [from('A', AWAY), from('B', '9.9'), from('C', '2.0')];
    const tools = open(sources, { onNotice, log: { ...silentLog, warn } });
    await tools.ensure();
    expect([tools.ytDlp()?.version, await stored()]).toEqual(['2.0', ['2.0', 'current']]);
    expect(onNotice.mock.calls).toEqual([['Took yt-dlp from C; not from A (away), B (it does not work)']]);
    const refused = { tool: 'yt-dlp', provider: 'B', reason: 'it does not work' };
    expect(warn.mock.calls).toEqual([['Tool was refused', refused]]);
  });

  it('throws one line with the reason of each when all fail, installs FFmpeg, and tries again', async () => {
    const sources = [from('A', AWAY), from('B', '9.9')];
    const tools = open(sources);
    const failure = tools.ensure();
    await expect(failure).rejects.toThrow(ToolUnavailable);
    await expect(failure).rejects.toThrow(/^yt-dlp cannot be installed: A \(away\); B \(it does not work\)$/);
    expect([tools.ytDlp(), tools.ffmpeg()?.version]).toEqual([undefined, '7.1']);
    sources[1] = from('B', '2.0');
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2.0');
  });

  it('goes on where the search for skipped releases fails', async () => {
    const info = vi.fn();
    const findSkipped = () => Promise.reject(AWAY);
    await open([{ ...from('A', '1.0'), findSkipped }], { log: { ...silentLog, info } }).ensure();
    expect(info).toHaveBeenCalledWith('Failed to look for skipped releases', { tool: 'yt-dlp', reason: 'away' });
  });

  it('removes the staged files of a process that was killed, and not those of one that runs', async () => {
    await having('2.0');
    await mkdir(join(dir, 'yt-dlp', '.staged-1'));
    const { signal } = new AbortController();
    await withLock(join(dir, 'install.lock'), () => open([]).ensure(), { signal });
    expect(await stored()).toEqual(['.staged-1', '2.0', 'current']);
    await open([]).ensure();
    expect(await stored()).toEqual(['2.0', 'current']);
  });

  it('restores the previous version without a request when files of the current one are missing', async () => {
    await (await having('1.0', [from('A', '2.0')])).update();
    await rm(join(dir, 'yt-dlp', '2.0', 'program'));
    const next = open([from('B', '3.0')]);
    await next.ensure();
    expect([next.ytDlp()?.version, fetched]).toEqual(['1.0', ['A']]);
  });

  it('throws one line when its folder cannot be used', async () => {
    await writeFile(dir, 'a file in its place');
    await expect(open([from('A', '1.0')]).ensure()).rejects.toThrow(/ENOTDIR|EEXIST/);
  });
});

describe('update', () => {
  it('switches to a newer version and keeps the previous two', async () => {
    const sources: ToolProvider<YtDlp>[] = [];
    const tools = await having('1.0', sources);
    for (const version of ['2.0', '3.0', '4.0']) {
      // The first one that answers.
      sources.splice(0, 3, from('A', AWAY), from('B', version), from('C', '9.0'));
      expect(await tools.update()).toEqual({ ytDlp: true, ffmpeg: false });
      expect(tools.ytDlp()?.version).toBe(version);
    }
    expect(activities.at(-2)).toEqual({ name: 'Updating yt-dlp to 4.0', tool: 'yt-dlp', step: 'fetch' });
    expect(await stored()).toEqual(['2.0', '3.0', '4.0', 'current']);
  });

  const refuse = async () => {
    throw new Error('a canary link of a.example does not resolve');
  };
  it.each<[string, ToolProvider<YtDlp>[], Partial<ToolsOptions>, string[]]>([
    ['the same version', [from('A', '1.0')], {}, []],
    ['the same after one that is away', [from('A', AWAY), from('B', '1.0')], {}, []],
    ['none', [from('A', AWAY), from('B', AWAY)], {}, ['Update check of yt-dlp failed: A (away); B (away)']],
    [
      'one whose check fails',
      [from('A', '2.0')],
      { checkUpdate: refuse },
      ['Update of yt-dlp to 2.0 failed, keeping 1.0: a canary link of a.example does not resolve'],
    ],
    [
      'an older one than was announced',
      [{ ...from('A', '0.5'), findNewest: async () => '2.0' }],
      {},
      ['Update of yt-dlp to 2.0 failed, keeping 1.0: the download is version 0.5'],
    ],
  ])('keeps its version where there is %s, and reports what failed', async (_, sources, others, reports) => {
    const failures: string[] = [];
    const tools = await having('1.0', sources, { ...others, onFailure: (line) => failures.push(line) });
    expect([fetched, activities]).toEqual([[], []]);
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect([tools.ytDlp()?.version, failures]).toEqual(['1.0', reports]);
  });

  it('loads and records what another process installs, without a call', async () => {
    const records: string[] = [];
    const record: ToolsOptions['record'] = async ({ ytDlp }) => void records.push(ytDlp);
    const tools = await having('1.0', [], { reloadIntervalMs: 1, record });
    await open([from('A', '2.0')]).update();
    await expect.poll(() => tools.ytDlp()?.version).toBe('2.0');
    await expect.poll(() => records).toEqual(['1.0', '2.0']);
  });
});

// That it is used where it is, and replaced by that of another image, is in `provider-events.ts`.
it('the yt-dlp of an image gives way to a newer one that is installed, and without it to other providers', async () => {
  const ytDlpDir = await temporaryFolder();
  await writeFile(join(ytDlpDir, 'yt-dlp_linux'), '#!/bin/sh\necho 2026.08.19\n', { mode: 0o755 });
  const tools = open([from('A', '2026.08.19')], { ytDlpDir });
  await tools.ensure();
  expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
  expect(tools.ytDlp()?.command).toEqual([join(ytDlpDir, 'yt-dlp_linux')]);
  const newer = open([from('A', '2026.11.20')], { ytDlpDir });
  await newer.ensure();
  expect(await newer.update()).toEqual({ ytDlp: true, ffmpeg: false });
  const restarted = open([], { ytDlpDir });
  await restarted.ensure();
  expect(restarted.ytDlp()?.version).toBe('2026.11.20');
  const without = open([from('A', '1.0')], { ytDlpDir: join(root, 'missing'), dir: `${dir}-other` });
  await without.ensure();
  expect(without.ytDlp()?.source).toBe('pypi');
});
