import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
import { temporaryFolder } from './temporary.ts';

/** Sources on this disk, on the real shelf and behind the real lock. */
const root = await temporaryFolder();
let tests = 0;
let dir: string;
/** What happened, in order. */
let events: string[];
let activities: Activity[];
let records: ToolsInPlace[];
/** Versions that do not work. */
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
const shelf = async () => (await readdir(join(dir, 'yt-dlp'))).sort();

describe('close', () => {
  it('ends a smoke test that is under way', async () => {
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
  it('installs both, tells what it does, and records it', async () => {
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

  it('asks no source and reports nothing when everything is in place, and records it all the same', async () => {
    await open([ytDlpFrom('A', '2026.08.19')]).ensure();
    [events, activities, records] = [[], [], []];
    const tools = open([ytDlpFrom('A', '2026.11.20')]);
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2026.08.19');
    expect([events, activities]).toEqual([[], []]);
    expect(records).toHaveLength(1);
  });

  it('goes on to the next source when one fails or hands out what does not work', async () => {
    broken.add('1.0');
    const tools = open([ytDlpFrom('A', new Error('unreachable')), ytDlpFrom('B', '1.0'), ytDlpFrom('C', '2.0')]);
    await tools.ensure();
    expect(events).toEqual(['FFmpeg', 'A', 'B', 'C']);
    expect(tools.ytDlp()?.version).toBe('2.0');
    expect(await shelf()).toEqual(['2.0', 'current']);
  });

  it('names every source and its reason in one line when none has a tool', async () => {
    broken.add('1.0');
    const tools = open([ytDlpFrom('A', new Error('unreachable\nsecond line')), ytDlpFrom('B', '1.0')]);
    const failure = tools.ensure();
    await expect(failure).rejects.toThrow(ToolUnavailable);
    await expect(failure).rejects.toThrow(/^yt-dlp cannot be installed: A \(unreachable\); B \(it does not work\)$/);
    expect(records).toEqual([]);
  });

  it('has FFmpeg in place while no source has yt-dlp: streams go on without it', async () => {
    const tools = open([ytDlpFrom('A', new Error('unreachable'))]);
    await expect(tools.ensure()).rejects.toThrow(ToolUnavailable);
    expect([tools.ytDlp(), tools.ffmpeg()]).toEqual([undefined, expect.objectContaining({ version: '7.1' })]);
  });

  it('tries again after a failure', async () => {
    const sources = [ytDlpFrom('A', new Error('unreachable'))];
    const tools = open(sources);
    await expect(tools.ensure()).rejects.toThrow();
    sources[0] = ytDlpFrom('A', '2.0');
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2.0');
  });

  it('installs once when two processes start together', async () => {
    const [one, other] = [open([ytDlpFrom('A', '2.0')]), open([ytDlpFrom('A', '2.0')])];
    await Promise.all([one.ensure(), other.ensure(), one.ensure()]);
    expect(events).toEqual(['FFmpeg', 'A']);
    expect(other.ytDlp()).toEqual(one.ytDlp());
    expect(await readdir(dir)).not.toContain('lock');
  });

  it('never uses what a killed process left half done', async () => {
    await mkdir(join(dir, 'yt-dlp', '.staged-1'), { recursive: true });
    await mkdir(join(dir, 'yt-dlp', '3.0'));
    const tools = open([ytDlpFrom('A', '2.0')]);
    await tools.ensure();
    expect(tools.ytDlp()?.version).toBe('2.0');
    expect(await shelf()).toEqual(['2.0', 'current']);
  });

  it('removes what a killed process left behind, with everything in place', async () => {
    await open([ytDlpFrom('A', '2.0')]).ensure();
    await mkdir(join(dir, 'yt-dlp', '.staged-1'));
    await open([]).ensure();
    expect(await shelf()).toEqual(['2.0', 'current']);
  });

  it('does not touch what another process is at work on', async () => {
    await open([ytDlpFrom('A', '2.0')]).ensure();
    await mkdir(join(dir, 'yt-dlp', '.staged-1'));
    await withLock(join(dir, 'lock'), () => open([]).ensure(), { signal: new AbortController().signal });
    expect(await shelf()).toEqual(['.staged-1', '2.0', 'current']);
  });

  it('goes back to the version before when the files of the current one are gone, and asks no source', async () => {
    const tools = open([ytDlpFrom('A', '1.0')]);
    await tools.ensure();
    await open([ytDlpFrom('B', '2.0')]).update();
    await rm(join(dir, 'yt-dlp', '2.0', 'program'));
    const next = open([ytDlpFrom('C', '3.0')]);
    await next.ensure();
    expect(next.ytDlp()?.version).toBe('1.0');
    expect(events).not.toContain('C');
  });

  it('says in one line that its folder cannot be used', async () => {
    await writeFile(dir, 'a file in its place');
    await expect(open([ytDlpFrom('A', '1.0')]).ensure()).rejects.toThrow(/ENOTDIR|EEXIST/);
  });

  it('ends with close', async () => {
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

describe('a path that the operator sets', () => {
  it('is the only source, and its failure one line', async () => {
    const tools = open([ytDlpFrom('A', '1.0')], { ytDlpPath: join(root, 'nothing') });
    await expect(tools.ensure()).rejects.toThrow(/^yt-dlp cannot be installed: the path \S+nothing \(.*ENOENT/);
    expect(events).toEqual(['FFmpeg']);
  });

  it('takes the place of what was installed, until it is no longer set', async () => {
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
  it('switches to a newer version and keeps the two before it', async () => {
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
    expect(await shelf()).toEqual(['2.0', '3.0', '4.0', 'current']);
  });

  it.each(['1.0', '0.9'])('does nothing and reports nothing when %s is the newest', async (version) => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    [events, activities, records] = [[], [], []];
    const tools = open([ytDlpFrom('A', version)]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect([events, activities]).toEqual([[], []]);
  });

  it('keeps the version before one that does not work', async () => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    broken.add('2.0');
    const tools = open([ytDlpFrom('A', '2.0')]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
    expect(await shelf()).toEqual(['1.0', 'current']);
  });

  it('does not take an older version from a source that promised a newer one', async () => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    const liar = { ...ytDlpFrom('A', '0.5'), findNewest: async () => '2.0' };
    const tools = open([liar]);
    expect(await tools.update()).toMatchObject({ ytDlp: true }); // found in place
    expect(await tools.update()).toMatchObject({ ytDlp: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
  });

  it('goes back to an older version where the source decides, and not where its newest is in place', async () => {
    await open([ytDlpFrom('A', '2.0')]).ensure();
    const tools = open([{ ...ytDlpFrom('A', '1.0'), authoritative: true }]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: true, ffmpeg: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(await shelf()).toEqual(['1.0', '2.0', 'current']);
  });

  it('believes the first source that can be asked', async () => {
    await open([ytDlpFrom('A', '1.0')]).ensure();
    const tools = open([ytDlpFrom('A', new Error('unreachable')), ytDlpFrom('B', '2.0'), ytDlpFrom('C', '3.0')]);
    await tools.update();
    expect(tools.ytDlp()?.version).toBe('2.0');
  });

  it('says why an update could not be made, and nothing when nothing is newer', async () => {
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

  it('takes up what another process puts in place, without being asked, and records it', async () => {
    const tools = open([ytDlpFrom('A', '1.0')], { reloadIntervalMs: 1 });
    await tools.ensure();
    await open([ytDlpFrom('A', '2.0')]).update();
    await expect.poll(() => tools.ytDlp()?.version).toBe('2.0');
    await expect.poll(() => records.filter(({ ytDlp }) => ytDlp === '2.0')).toHaveLength(2);
  });

  it('finds what another process has put in place', async () => {
    const tools = open([ytDlpFrom('A', '1.0')]);
    await tools.ensure();
    await open([ytDlpFrom('A', '2.0')]).update();
    expect(await tools.update()).toMatchObject({ ytDlp: true });
    expect(tools.ytDlp()?.version).toBe('2.0');
  });
});
