import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach } from 'vitest';
import { createTools, type ToolsOptions } from '../../packages/yt-dlp-worker/src/install/create-tools.ts';
import type { Activity, Ffmpeg, ToolProvider, ToolsInPlace, YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** `createTools` with fake providers, the real version store and the real lock, in an empty folder for each test. */
export class ToolsFakes {
  root = '';
  dir = '';
  /** Labels of the providers that were fetched from, in order. */
  events: string[] = [];
  activities: Activity[] = [];
  records: ToolsInPlace[] = [];
  /** Versions that fail their smoke test. */
  broken = new Set<string>();
  #opened: ReturnType<typeof createTools>[] = [];

  /** Forgets what has happened. */
  reset(): void {
    this.events = [];
    this.activities = [];
    this.records = [];
    this.broken = new Set();
  }

  ytDlpFrom(label: string, version: string | Error): ToolProvider<YtDlp> {
    return {
      name: 'pypi',
      label,
      findNewest: async () => {
        if (version instanceof Error) throw version;
        return version;
      },
      fetch: async (folder, { onBytes }) => {
        this.events.push(label);
        if (version instanceof Error) throw version;
        onBytes(3_000_000, 4_000_000);
        await writeFile(join(folder, 'program'), version);
        return (place) => ({ version, command: [join(place, 'program')], source: 'pypi' });
      },
    };
  }

  ffmpegFrom(label: string, version = '7.1'): ToolProvider<Ffmpeg> {
    return {
      name: 'pypi',
      label,
      fetch: async (folder) => {
        this.events.push(label);
        await writeFile(join(folder, 'ffmpeg'), version);
        return (place) => ({ version, path: join(place, 'ffmpeg'), source: 'pypi', buildId: 'ab' });
      },
    };
  }

  open(ytDlp: readonly ToolProvider<YtDlp>[], others: Partial<ToolsOptions> = {}): ReturnType<typeof createTools> {
    const tools = createTools({
      dir: this.dir,
      channel: 'stable',
      providers: { ytDlp, ffmpeg: [this.ffmpegFrom('FFmpeg')] },
      download: () => Promise.reject(new Error('nothing is downloaded here')),
      onActivity: (activity) => void this.activities.push(activity),
      smokeTest: async ({ version }) => {
        if (this.broken.has(version)) throw new Error('it does not work');
      },
      record: async (record) => void this.records.push(record),
      ...others,
    });
    this.#opened.push(tools);
    return tools;
  }

  async storedVersions(): Promise<string[]> {
    return (await readdir(join(this.dir, 'yt-dlp'))).sort();
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((tools) => tools.close()));
  }
}

/** The fakes of one test file. */
export function useToolsFakes(): ToolsFakes {
  const fakes = new ToolsFakes();
  let tests = 0;
  beforeAll(async () => {
    fakes.root = await temporaryFolder();
  });
  beforeEach(() => {
    fakes.dir = join(fakes.root, `${tests++}`);
    fakes.reset();
  });
  afterEach(() => fakes.close());
  return fakes;
}
