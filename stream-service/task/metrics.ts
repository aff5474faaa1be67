import type { StreamObserver } from '../sessions/index.ts';

export interface MetricsOptions {
  readonly stage: string;
  /** The version of yt-dlp in place, if there is one. */
  readonly toolVersion: () => string | undefined;
  /** Takes one line without its end. */
  readonly write: (line: string) => void;
}

/** Counts, and says the counts as CloudWatch's embedded metric format: one JSON line a minute. */
export interface Metrics extends StreamObserver {
  /** A source's link had expired and was resolved again. */
  reResolved(): void;
  /** Says what came together since the last time. */
  flush(): void;
  close(): void;
}

const NAMESPACE = 'Reelay';
const MINUTE = 60_000;
const HOUR = 3_600_000;
const UNITS = {
  Streams: 'Count',
  StreamsStarted: 'Count',
  BytesSent: 'Bytes',
  ReResolves: 'Count',
  FfmpegFailures: 'Count',
  ToolAgeHours: 'None',
} as const;
type Values = Partial<Record<keyof typeof UNITS, number>>;

export function createMetrics({ stage, toolVersion, write }: MetricsOptions): Metrics {
  const running = new Set<() => number>();
  const nothing = { StreamsStarted: 0, BytesSent: 0, ReResolves: 0, FfmpegFailures: 0 };
  let counts = { ...nothing };

  const flush = () => {
    // A stream of hours is counted as it goes, not when it ends.
    for (const takeBytes of running) counts.BytesSent += takeBytes();
    const age = ageOf(toolVersion(), Date.now());
    write(emf(stage, { Streams: running.size, ...counts, ...(age !== undefined && { ToolAgeHours: age }) }));
    counts = { ...nothing };
  };
  const timer = setInterval(flush, MINUTE).unref();

  return {
    onStreamStart(bytesSent) {
      let taken = 0;
      const takeBytes = () => {
        const fresh = bytesSent() - taken;
        taken += fresh;
        return fresh;
      };
      running.add(takeBytes);
      counts.StreamsStarted += 1;
      return () => {
        running.delete(takeBytes);
        counts.BytesSent += takeBytes();
      };
    },
    onFfmpegFailure() {
      counts.FfmpegFailures += 1;
    },
    reResolved() {
      counts.ReResolves += 1;
    },
    flush,
    close() {
      clearInterval(timer);
      flush();
    },
  };
}

/** One line as CloudWatch's embedded metric format wants it; a metric without a value is left out. */
function emf(stage: string, values: Values): string {
  const Metrics = Object.keys(values).map((Name) => ({ Name, Unit: UNITS[Name as keyof Values] }));
  const CloudWatchMetrics = [{ Namespace: NAMESPACE, Dimensions: [['Stage']], Metrics }];
  return JSON.stringify({ _aws: { Timestamp: Date.now(), CloudWatchMetrics }, Stage: stage, ...values });
}

/** Hours since a release: yt-dlp's versions are dates. */
function ageOf(version: string | undefined, now: number): number | undefined {
  const [, year, month, day] = /^(\d{4})\.(\d{1,2})\.(\d{1,2})/.exec(version ?? '') ?? [];
  if (!day) return undefined;
  return Math.max(0, Math.round((now - Date.UTC(Number(year), Number(month) - 1, Number(day))) / HOUR));
}
