import { join, resolve } from 'node:path';
import { type Log, silentLog } from '../../../core/log/index.ts';
import { ffmpegAtPath, ffmpegFromNpm, ffmpegFromPypi, ffmpegOfSystem } from '../ffmpeg/index.ts';
import type { Download } from '../release/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { Activity, Ffmpeg, ToolSource, Tools, ToolsInPlace, YtDlp } from '../tools.ts';
import { ytDlpAtPath, ytDlpFromPypi, ytDlpOfSystem, ytDlpRelease } from '../yt-dlp/index.ts';
import { createInstaller, type Installer } from './installer.ts';
import { withLock } from './lock.ts';
import { createVersionStore } from './version-store.ts';

export interface ToolsOptions {
  /** Where versions stand side by side; several processes may share it. */
  readonly dir: string;
  readonly channel: 'stable' | 'nightly';
  /** The operator's own: nothing else is tried, and nothing updates it. */
  readonly ytDlpPath?: string | undefined;
  readonly ffmpegPath?: string | undefined;
  /** The egress's guarded client: what is fetched by this process goes through it. */
  readonly download: Download;
  /** Called with what is being done, and again as bytes come. Not called when everything is in place. */
  readonly report: (activity: Activity) => void;
  /** @throws when a candidate does not work as a worker; aborted when the tools are closed */
  readonly smokeTest: (candidate: YtDlp, signal: AbortSignal) => Promise<void>;
  /** Tells the rest of the instance what is in place. */
  readonly record: (inPlace: ToolsInPlace) => Promise<void>;
  /** Called with one line when an update could not be made: what was in place stays. */
  readonly onFailure?: (reason: string) => void;
  /** Milliseconds between looks at what other processes put in place in the same folder. @default never */
  readonly followEvery?: number;
  readonly log?: Log;
  /** @default the official release, PyPI, the system; and for FFmpeg the system, npm, PyPI */
  readonly sources?: {
    readonly ytDlp?: readonly ToolProvider<YtDlp>[];
    readonly ffmpeg?: readonly ToolProvider<Ffmpeg>[];
  };
}

const VERIFIED_BY: Readonly<Record<ToolSource, string>> = {
  path: 'path',
  release: 'signature',
  pypi: 'registry',
  system: 'system',
  npm: 'registry',
};

/** yt-dlp and FFmpeg from the first source that has one that works. */
export function createTools(options: ToolsOptions): Tools & { close(): Promise<void> } {
  const {
    channel,
    download,
    report,
    smokeTest,
    record,
    onFailure = () => undefined,
    log = silentLog,
    sources,
  } = options;
  // Programs are started in folders of their own: a path relative to this one would mean another there.
  const dir = resolve(options.dir);
  const ytDlpPath = options.ytDlpPath && resolve(options.ytDlpPath);
  const ffmpegPath = options.ffmpegPath && resolve(options.ffmpegPath);
  const closing = new AbortController();
  const { signal } = closing;

  const ytDlp = createInstaller<YtDlp>({
    name: 'yt-dlp',
    shelf: createVersionStore(join(dir, 'yt-dlp'), ({ command }) => command),
    sources: ytDlpPath
      ? [ytDlpAtPath(ytDlpPath)]
      : (sources?.ytDlp ?? [ytDlpRelease({ download, channel }), ytDlpFromPypi({ channel }), ytDlpOfSystem()]),
    allows: ({ source, command }) => (ytDlpPath ? command.includes(ytDlpPath) : source !== 'path'),
    check: (candidate) => smokeTest(candidate, signal),
    ...{ report, onFailure, log },
  });
  const ffmpeg = createInstaller<Ffmpeg>({
    name: 'FFmpeg',
    shelf: createVersionStore(join(dir, 'ffmpeg'), ({ path }) => [path]),
    sources: ffmpegPath
      ? [ffmpegAtPath(ffmpegPath)]
      : (sources?.ffmpeg ?? [ffmpegOfSystem(), ffmpegFromNpm(), ffmpegFromPypi()]),
    allows: ({ path, source }) => (ffmpegPath ? path === ffmpegPath : source !== 'path'),
    check: async () => undefined, // each of its sources has encoded and muxed with it
    ...{ report, onFailure, log },
  });

  const lockFile = join(dir, 'lock');
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const onWait = () => report({ name: 'Waiting for another process that installs the tools' });
    return withLock(lockFile, work, { signal, onWait });
  };
  const tell = async () => {
    const [one, other] = [ytDlp.get(), ffmpeg.get()];
    if (!one || !other) return;
    await record({
      ytDlp: one.tool.version,
      ffmpeg: other.tool.version,
      verifiedBy: { ytDlp: VERIFIED_BY[one.tool.source], ffmpeg: VERIFIED_BY[other.tool.source] },
      installedAt: Math.max(one.installedAt, other.installedAt),
    });
  };

  const isMissing = async (installer: Installer<YtDlp> | Installer<Ffmpeg>) => {
    if (!installer.get()) await installer.reload();
    return !installer.get();
  };
  const installMissing = async () => {
    // Whoever waited for the lock finds what the other process has installed.
    // FFmpeg first: streams go on without yt-dlp.
    for (const installer of [ffmpeg, ytDlp]) if (await isMissing(installer)) await installer.install(signal);
  };
  /** Does not wait: what holds the lock may still be at work on what looks left behind, and tidies up by itself. */
  const tidyUp = async () => {
    const untidy = await Promise.all([ytDlp, ffmpeg].map((installer) => installer.hasLeftovers()));
    if (!untidy.includes(true)) return;
    const sweep = () => Promise.all([ytDlp.sweep(), ffmpeg.sweep()]);
    const onWait = () => {
      throw new Error('Another process is at work');
    };
    await withLock(lockFile, sweep, { signal, onWait }).catch(() => undefined);
  };
  const ensure = async () => {
    const missing = await Promise.all([isMissing(ytDlp), isMissing(ffmpeg)]);
    if (missing.includes(true)) await alone(installMissing);
    else await tidyUp();
    await tell();
  };

  /** Whether another version is in place than before, put there by this process or by another. */
  const renew = async <Tool>(installer: Installer<Tool>): Promise<boolean> => {
    const isOther = await installer.reload();
    if (!installer.get()) {
      await alone(async () => {
        await installer.reload();
        if (!installer.get()) await installer.install(signal);
      });
      return true;
    }
    const found = await installer.look(signal);
    return found ? (await alone(() => installer.update(found, signal))) || isOther : isOther;
  };

  let work: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = work.then(() => {
      signal.throwIfAborted();
      return task();
    });
    work = turn.catch(() => undefined); // told to whoever asked
    return turn;
  };

  let isFollowing = false;
  const follow = async () => {
    if (isFollowing) return;
    isFollowing = true;
    try {
      await inTurn(async () => {
        const changes = await Promise.all([ytDlp.follow(), ffmpeg.follow()]);
        if (changes.includes(true)) await tell();
      });
    } catch (error) {
      if (!signal.aborted) log.warn('What another process put in place is not known to all', { error: String(error) });
    } finally {
      isFollowing = false;
    }
  };
  const following = options.followEvery === undefined ? undefined : setInterval(follow, options.followEvery).unref();

  return {
    ytDlp: () => ytDlp.get()?.tool,
    ffmpeg: () => ffmpeg.get()?.tool,
    ensure: () => inTurn(ensure),
    update: () =>
      inTurn(async () => {
        const changed = { ffmpeg: await renew(ffmpeg), ytDlp: await renew(ytDlp) };
        if (changed.ytDlp || changed.ffmpeg) await tell();
        return changed;
      }),
    async close() {
      closing.abort();
      clearInterval(following);
      await work;
    },
  };
}
