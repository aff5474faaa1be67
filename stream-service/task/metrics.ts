import { createStreamCounter, type StreamObserver } from '../sessions/index.ts';

interface MetricsOptions {
  readonly stage: string;
  /** The installed version of yt-dlp, if there is one. */
  readonly toolVersion: () => string | undefined;
  /** Takes one line without the line break. */
  readonly write: (line: string) => void;
}

/** Counters, written every minute as one JSON line in CloudWatch's embedded metric format. */
export interface Metrics extends StreamObserver {
  /** Counts a resource that was resolved again because its URLs had expired. */
  onRefresh(): void;
  /** Writes and resets the counters. */
  flush(): void;
  /** Writes the counters a last time. */
  close(): void;
}

const NAMESPACE = 'Reelay';
const FLUSH_INTERVAL_MS = 60_000;
const HOUR_MS = 3_600_000;
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
  const streams = createStreamCounter();
  const zero = { StreamsStarted: 0, BytesSent: 0, ReResolves: 0, FfmpegFailures: 0 };
  let counts = { ...zero };
  let writtenBytes = 0;

  const flush = () => {
    // Bytes of running streams too: a stream may run for hours.
    const bytes = streams.bytes();
    counts.BytesSent = bytes - writtenBytes;
    const ageHours = releaseAgeHours(toolVersion(), Date.now());
    write(
      embeddedMetrics(stage, {
        Streams: streams.running(),
        ...counts,
        ...(ageHours !== undefined && { ToolAgeHours: ageHours }),
      }),
    );
    counts = { ...zero };
    writtenBytes = bytes;
  };
  const timer = setInterval(flush, FLUSH_INTERVAL_MS).unref();

  return {
    onStreamStart(bytesSent) {
      counts.StreamsStarted += 1;
      return streams.onStreamStart(bytesSent);
    },
    onFfmpegFailure() {
      counts.FfmpegFailures += 1;
    },
    onRefresh() {
      counts.ReResolves += 1;
    },
    flush,
    close() {
      clearInterval(timer);
      flush();
    },
  };
}

/** One line in the embedded metric format; metrics without a value are left out. */
function embeddedMetrics(stage: string, values: Values): string {
  const Metrics = Object.keys(values).map((Name) => ({ Name, Unit: UNITS[Name as keyof Values] }));
  const CloudWatchMetrics = [{ Namespace: NAMESPACE, Dimensions: [['Stage']], Metrics }];
  return JSON.stringify({ _aws: { Timestamp: Date.now(), CloudWatchMetrics }, Stage: stage, ...values });
}

/** Hours since a release of yt-dlp, whose versions are dates; undefined for any other version. */
function releaseAgeHours(version: string | undefined, now: number): number | undefined {
  const [, year, month, day] = /^(\d{4})\.(\d{1,2})\.(\d{1,2})/.exec(version ?? '') ?? [];
  if (!day) return undefined;
  return Math.max(0, Math.round((now - Date.UTC(Number(year), Number(month) - 1, Number(day))) / HOUR_MS));
}
