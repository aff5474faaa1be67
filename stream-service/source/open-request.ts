import type { PredictedRange } from '../../core/http/index.ts';
import type { Resource, Track } from '../../core/state/index.ts';
import type { AvailabilityProbes } from './availability-probe.ts';
import type { EventLoopLoad, ReadAheadBudget } from './buffer/index.ts';
import type { UpstreamRequestDependencies } from './request/index.ts';

/** Everything that opening one track needs. */
export interface OpenRequest extends UpstreamRequestDependencies {
  readonly resource: Resource;
  readonly track: Track;
  /** Whose share of parsing is used. */
  readonly client: string;
  /** What will probably be read; only for kinds that are read by offset. */
  readonly range: PredictedRange;
  /** Resolves a resource again, once for all concurrent callers. */
  readonly refresh: (resource: Resource, signal?: AbortSignal) => Promise<Resource>;
  readonly readAheadBudget: ReadAheadBudget;
  readonly eventLoopLoad: EventLoopLoad;
  /** Absent: the source is only inspected, not read. */
  readonly probes: AvailabilityProbes | undefined;
  readonly signal: AbortSignal;
}
