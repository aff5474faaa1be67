import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../stream-service/task/metrics.ts';

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21, 12) }));
afterEach(() => vi.useRealTimers());

const start = (version?: string) => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { lines, metrics: createMetrics({ stage: 'prod', toolVersion: () => version, write }) };
};

describe('createMetrics', () => {
  it('writes one line per minute in the embedded metric format', () => {
    const { lines } = start('2026.11.20');
    vi.advanceTimersByTime(59_999);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(1);
    const units = { Streams: 'Count', StreamsStarted: 'Count', BytesSent: 'Bytes', ReResolves: 'Count' };
    const Metrics = Object.entries({ ...units, FfmpegFailures: 'Count', ToolAgeHours: 'None' });
    expect(lines).toEqual([
      {
        _aws: {
          Timestamp: Date.UTC(2026, 10, 21, 12, 1),
          CloudWatchMetrics: [
            {
              Namespace: 'Reelay',
              Dimensions: [['Stage']],
              Metrics: Metrics.map(([Name, Unit]) => ({ Name, Unit })),
            },
          ],
        },
        Stage: 'prod',
        Streams: 0,
        StreamsStarted: 0,
        BytesSent: 0,
        ReResolves: 0,
        FfmpegFailures: 0,
        ToolAgeHours: 36,
      },
    ]);
  });

  it('counts each byte and event once, including bytes of running streams', () => {
    const { lines, metrics } = start();
    let bytes = 1_000;
    const end = metrics.onStreamStart(() => bytes);
    metrics.onFfmpegFailure();
    metrics.onRefresh();
    metrics.flush();
    bytes = 5_000;
    metrics.flush();
    bytes = 6_000;
    end();
    metrics.close();
    expect(lines).toMatchObject([
      { Streams: 1, StreamsStarted: 1, BytesSent: 1_000, ReResolves: 1, FfmpegFailures: 1 },
      { Streams: 1, StreamsStarted: 0, BytesSent: 4_000, ReResolves: 0, FfmpegFailures: 0 },
      { Streams: 0, StreamsStarted: 0, BytesSent: 1_000 },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([undefined, '', 'nightly'])('omits ToolAgeHours with the tool version %j', (version) => {
    const { lines, metrics } = start(version);
    metrics.close();
    expect(lines[0]).not.toHaveProperty('ToolAgeHours');
    expect(JSON.stringify(lines[0]?._aws)).not.toContain('ToolAgeHours');
  });
});
