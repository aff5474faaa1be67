import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createTools } from '../../../layers/tools/install/create-tools.ts';
import { withLock } from '../../../layers/tools/install/lock.ts';
import type { ToolsOptions } from '../../../layers/tools/install/tools-options.ts';
import type { ToolProvider } from '../../../layers/tools/tool-provider.ts';
import {
  type Activity,
  type Ffmpeg,
  type ToolsInPlace,
  ToolUnavailable,
  type YtDlp,
} from '../../../layers/tools/tools.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Fake providers with the real version store and the real lock. */
const root = await temporaryFolder();
let tests = 0;
let dir: string;
/** Labels of the providers that were fetched from, in order. */
let events: string[];
let activities: Activity[];
let records: ToolsInPlace[];
/** Versions that fail their smoke test. */
let broken: Set<string>;
let opened: ReturnType<typeof createTools>[];
beforeEach(() => {
  dir = join(root, `${tests++}`);
  events = [];
  activities = [];
  records = [];
  broken = new Set();
  opened = [];
});
afterEach(() => Promise.all(opened.map((tools) => tools.close())));

const ytDlpFrom = (label: string, version: string | Error): ToolProvider<YtDlp> => ({
  name: 'pypi',
  label,
  findNewest: async () => {
    if (version instanceof Error) throw version;
    return version;
  },
  async fetch(folder, { onBytes }) {
    events.push(label);
    if (version instanceof Error) throw version;
    onBytes(3_000_000, 4_000_000);
    await writeFile(join(folder, 'program'), version);
    return (place) => ({ version, command: [join(place, 'program')], source: 'pypi' });
  },
});
const ffmpegFrom = (label: string, version = '7.1'): ToolProvider<Ffmpeg> => ({
  name: 'pypi',
  label,
  async fetch(folder) {
    events.push(label);
    await writeFile(join(folder, 'ffmpeg'), version);
    return (place) => ({ version, path: join(place, 'ffmpeg'), source: 'pypi', buildId: 'ab' });
  },
});
const open = (ytDlp: readonly ToolProvider<YtDlp>[], others: Partial<ToolsOptions> = {}) => {
  const tools = createTools({
    ...{ dir, channel: 'stable', providers: { ytDlp, ffmpeg: [ffmpegFrom('FFmpeg')] } },
    download: () => Promise.reject(new Error('nothing is downloaded here')),
    onActivity: (activity) => void activities.push(activity),
    smokeTest: async ({ version }) => {
      if (broken.has(version)) throw new Error('it does not work');
    },
    record: async (record) => void records.push(record),
    ...others,
  });
  opened.push(tools);
  return tools;
};
const storedVersions = async () => (await readdir(join(dir, 'yt-dlp'))).sort();

describe('close during a smoke test', () => {
  it('aborts it', async () => {
    const begun = Promise.withResolvers<void>();
    const smokeTest: ToolsOptions['smokeTest'] = (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        begun.resolve();
      });
    const tools = open([ytDlpFrom('A', '2026.08.19'), ytDlpFrom('B', '2026.08.19')], { smokeTest });
    const ensured = tools.ensure();
    await begun.promise;
    await Promise.all([tools.close(), expect(ensured).rejects.toThrow('abort')]);
    expect(events).toEqual(['FFmpeg', 'A']);
  });
});

describe('ensure', () => {
  it('installs both tools, reports its activity, and records the versions', async () => {
    const tools = open([ytDlpFrom('A', '2026.08.19')]);
    expect([tools.ytDlp(), tools.ffmpeg()]).toEqual([undefined, undefined]);
    await tools.ensure();
    expect(tools.ytDlp()).toMatchObject({ version: '2026.08.19', source: 'pypi' });
    expect(tools.ffmpeg()).toMatchObject({ version: '7.1' });
    expect(activities).toEqual([
      { name: 'Downloading FFmpeg' },
      { name: 'Downloading yt-dlp' },
      { name: 'Downloading yt-dlp', bytes: 3_000_000, totalBytes: 4_000_000 },
    ]);
    expect(records).toEqual([
      {
        ...{ ytDlp: '2026.08.19', ffmpeg: '7.1', installedAt: expect.any(Number) },
        verifiedBy: { ytDlp: 'registry', ffmpeg: 'registry' },
      },
    ]);
  });

  it('requests no provider and reports nothing when both are installed, but records them', async () => {
    await open([ytDlpFrom('A', '2026.08.19')]).ensure();
    [events, activities, records] = [[], [], []];
    const tools = open([ytDlpFrom('A', '2026.11.20')]);
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2026.08.19');
    expect([events, activities]).toEqual([[], []]);
    expect(records).toHaveLength(1);
  });

  it('tries the next provider when one fails or its tool fails the smoke test', async () => {
    broken.add('1.0');
    const tools = open([ytDlpFrom('A', new Error('unreachable')), ytDlpFrom('B', '1.0'), ytDlpFrom('C', '2.0')]);
    await tools.ensure();
    expect(events).toEqual(['FFmpeg', 'A', 'B', 'C']);
    expect(tools.ytDlp()?.version).toBe('2.0');
    expect(await storedVersions()).toEqual(['2.0', 'current']);
  });

  it('throws one line with the reason of each provider when all fail', async () => {
    broken.add('1.0');
    const tools = open([ytDlpFrom('A', new Error('unreachable\nsecond line')), ytDlpFrom('B', '1.0')]);
    const failure = tools.ensure();
    await expect(failure).rejects.toThrow(ToolUnavailable);
    await expect(failure).rejects.toThrow(/^yt-dlp cannot be installed: A \(unreachable\); B \(it does not work\)$/);
    expect(records).toEqual([]);
  });

  it('installs FFmpeg although no provider has yt-dlp', async () => {
    const tools = open([ytDlpFrom('A', new Error('unreachable'))]);
    await expect(tools.ensure()).rejects.toThrow(ToolUnavailable);
    expect([tools.ytDlp(), tools.ffmpeg()]).toEqual([undefined, expect.objectContaining({ version: '7.1' })]);
  });

  it('retries after a failure', async () => {
    const sources = [ytDlpFrom('A', new Error('unreachable'))];
    const tools = open(sources);
    await expect(tools.ensure()).rejects.toThrow();
    sources[0] = ytDlpFrom('A', '2.0');
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2.0');
  });

  it('installs once when two processes start concurrently', async () => {
    const [one, other] = [open([ytDlpFrom('A', '2.0')]), open([ytDlpFrom('A', '2.0')])];
    await Promise.all([one.ensure(), other.ensure(), one.ensure()]);
    expect(events).toEqual(['FFmpeg', 'A']);
    expect(other.ytDlp()).toEqual(one.ytDlp());
    expect(await readdir(dir)).not.toContain('lock');
  });

  it('never uses files that a killed process left incomplete', async () => {
    await mkdir(join(dir, 'yt-dlp', '.staged-1'), { recursive: true });
    await mkdir(join(dir, 'yt-dlp', '3.0'));
    const tools = open([ytDlpFrom('A', '2.0')]);
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2.0');
    expect(await storedVersions()).toEqual(['2.0', 'current']);
  });

  it('removes files of a killed process although both tools are installed', async () => {
    await open([ytDlpFrom('A', '2.0')]).ensure();
    await mkdir(join(dir, 'yt-dlp', '.staged-1'));
    await open([]).ensure();
    expect(await storedVersions()).toEqual(['2.0', 'current']);
  });

  it('keeps the staged files of a running process', async () => {
    await open([ytDlpFrom('A', '2.0')]).ensure();
    await mkdir(join(dir, 'yt-dlp', '.staged-1'));
    await withLock(join(dir, 'lock'), () => open([]).ensure(), { signal: new AbortController().signal });
    expect(await storedVersions()).toEqual(['.staged-1', '2.0', 'current']);
  });

  it('restores the previous version without a request when files of the current one are missing', async () => {
    const tools = open([ytDlpFrom('A', '1.0')]);
    await tools.ensure();
    await open([ytDlpFrom('B', '2.0')]).update();
    await rm(join(dir, 'yt-dlp', '2.0', 'program'));
    const next = open([ytDlpFrom('C', '3.0')]);
    await next.ensure();
    expect(next.ytDlp()?.version).toBe('1.0');
    expect(events).not.toContain('C');
  });

  it('throws one line when its folder cannot be used', async () => {
    await writeFile(dir, 'a file in its place');
    await expect(open([ytDlpFrom('A', '1.0')]).ensure()).rejects.toThrow(/ENOTDIR|EEXIST/);
  });

  it('rejects when the tools are closed', async () => {
    const waiting: ToolProvider<YtDlp> = {
      ...ytDlpFrom('A', '1.0'),
      fetch: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          events.push('asked');
        }),
    };
    const tools = open([waiting, ytDlpFrom('B', '1.0')]);
    const failure = expect(tools.ensure()).rejects.toThrow(/abort/i);
    await expect.poll(() => events).toEqual(['FFmpeg', 'asked']);
    await tools.close();
    await failure;
    expect(events).toEqual(['FFmpeg', 'asked']);
    await expect(tools.ensure()).rejects.toThrow(/abort/i);
  });
});

describe('the folder of an image', () => {
  /** A release in a read-only folder beside the folder of the tools. */
  const imageWith = async (version: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'reelay-image-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'yt-dlp_linux'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
    return folder;
  };

  it('is used where it is, without a request, until a newer version is installed', async () => {
    const image = await imageWith('2026.08.19');
    const sources = [ytDlpFrom('A', '2026.08.19')];
    const tools = open(sources, { ytDlpDir: image });
    await tools.ensure();
    expect(tools.ytDlp()).toEqual({
      version: '2026.08.19',
      command: [join(image, 'yt-dlp_linux')],
      source: 'release',
    });
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(events).not.toContain('A');

    const newer = open([ytDlpFrom('A', '2026.11.20')], { ytDlpDir: image });
    await newer.ensure();
    expect(await newer.update()).toEqual({ ytDlp: true, ffmpeg: false });
    expect(newer.ytDlp()?.command[0]).toMatch(dir);
    const restarted = open([ytDlpFrom('A', '2026.11.20')], { ytDlpDir: image });
    await restarted.ensure();
    expect(restarted.ytDlp()?.version).toBe('2026.11.20');
  });

  it('replaces the version of an earlier image', async () => {
    const first = open([], { ytDlpDir: await imageWith('2026.08.19') });
    await first.ensure();
    await rm(first.ytDlp()?.command[0] ?? '');
    const second = open([], { ytDlpDir: await imageWith('2026.11.20') });
    await second.ensure();
    expect(second.ytDlp()?.version).toBe('2026.11.20');
  });

  it('without yt-dlp leaves it to the other providers', async () => {
    const tools = open([ytDlpFrom('A', '2026.08.19')], { ytDlpDir: join(dir, 'missing') });
    await tools.ensure();
    expect(tools.ytDlp()?.source).toBe('pypi');
  });
});

describe('a configured path', () => {
  it('is the only provider, and fails in one line', async () => {
    const tools = open([ytDlpFrom('A', '1.0')], { ytDlpPath: join(root, 'nothing') });
    await expect(tools.ensure()).rejects.toThrow(/^yt-dlp cannot be installed: the path \S+nothing \(.*ENOENT/);
    expect(events).toEqual(['FFmpeg']);
  });

  it('replaces the installed version until it is unset', async () => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    const path = join(root, 'own-yt-dlp');
    await writeFile(path, '#!/bin/sh\necho "9.0 --js-runtimes --plugin-dirs"', { mode: 0o755 });
    const own = open([ytDlpFrom('A', '1.0')], { ytDlpPath: path });
    await own.ensure();
    expect(own.ytDlp()).toMatchObject({ command: [path], source: 'path' });
    expect(records.at(-1)?.verifiedBy.ytDlp).toBe('path');
    expect(await own.update()).toEqual({ ytDlp: false, ffmpeg: false });

    const without = open([ytDlpFrom('A', '1.0')]);
    await without.ensure();
    expect(without.ytDlp()).toMatchObject({ version: '1.0', source: 'pypi' });
  });
});

describe('update', () => {
  it('switches to a newer version and keeps the previous two', async () => {
    const sources = [ytDlpFrom('A', '1.0')];
    const tools = open(sources);
    await tools.ensure();
    for (const version of ['2.0', '3.0', '4.0']) {
      sources[0] = ytDlpFrom('A', version);
      expect(await tools.update()).toEqual({ ytDlp: true, ffmpeg: false });
      expect(tools.ytDlp()?.version).toBe(version);
    }
    expect(activities.at(-2)).toEqual({ name: 'Updating yt-dlp to 4.0' });
    expect(records.at(-1)?.ytDlp).toBe('4.0');
    expect(await storedVersions()).toEqual(['2.0', '3.0', '4.0', 'current']);
  });

  it.each(['1.0', '0.9'])('does nothing and reports nothing when %s is the newest', async (version) => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    [events, activities, records] = [[], [], []];
    const tools = open([ytDlpFrom('A', version)]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect([events, activities]).toEqual([[], []]);
  });

  it('keeps the current version when the newer one fails its smoke test', async () => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    broken.add('2.0');
    const tools = open([ytDlpFrom('A', '2.0')]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
    expect(await storedVersions()).toEqual(['1.0', 'current']);
  });

  it('rejects an older version than the one the provider announced', async () => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    const liar = { ...ytDlpFrom('A', '0.5'), findNewest: async () => '2.0' };
    const tools = open([liar]);
    expect(await tools.update()).toMatchObject({ ytDlp: true }); // installed above, found on disk
    expect(await tools.update()).toMatchObject({ ytDlp: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
  });

  it('downgrades to the version of an authoritative provider, and does nothing when it is current', async () => {
    await open([ytDlpFrom('A', '2.0')]).ensure();
    const tools = open([{ ...ytDlpFrom('A', '1.0'), authoritative: true }]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: true, ffmpeg: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(await storedVersions()).toEqual(['1.0', '2.0', 'current']);
  });

  it('uses the version of the first provider that responds', async () => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    const tools = open([ytDlpFrom('A', new Error('unreachable')), ytDlpFrom('B', '2.0'), ytDlpFrom('C', '3.0')]);
    await tools.update();
    expect(tools.ytDlp()?.version).toBe('2.0');
  });

  it('logs the reason of a failed update, and nothing when no version is newer', async () => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    broken.add('2.0');
    const failures: string[] = [];
    const onFailure = (reason: string) => void failures.push(reason);
    await open([ytDlpFrom('A', '1.0')], { onFailure }).update();
    await open([ytDlpFrom('A', new Error('away')), ytDlpFrom('B', '1.0')], { onFailure }).update();
    expect(failures).toEqual([]);
    await open([ytDlpFrom('A', '2.0')], { onFailure }).update();
    await open([ytDlpFrom('A', new Error('away')), ytDlpFrom('B', new Error('away too'))], { onFailure }).update();
    expect(failures).toEqual([
      'Update of yt-dlp to 2.0 failed, keeping 1.0: it does not work',
      'Update check of yt-dlp failed: A (away); B (away too)',
    ]);
  });

  it('loads and records a version that another process installs, without a call', async () => {
    const tools = open([ytDlpFrom('A', '1.0')], { reloadIntervalMs: 1 });
    await tools.ensure();
    await open([ytDlpFrom('A', '2.0')]).update();
    await expect.poll(() => tools.ytDlp()?.version).toBe('2.0');
    await expect.poll(() => records.filter(({ ytDlp }) => ytDlp === '2.0')).toHaveLength(2);
  });

  it('finds a version that another process has installed', async () => {
    const tools = open([ytDlpFrom('A', '1.0')]);
    await tools.ensure();
    await open([ytDlpFrom('A', '2.0')]).update();
    expect(await tools.update()).toMatchObject({ ytDlp: true });
    expect(tools.ytDlp()?.version).toBe('2.0');
  });
});
